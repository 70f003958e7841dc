//! Formats the parts of a record, by hand since a log of 100 GB has a billion of them.

/// The default columns of JMeter 5.6.3's log.
pub(super) const COLUMNS: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// Formats a field as JMeter does: in quotes if it contains the delimiter, a quote or a line break.
pub(super) fn quoted(field: &str, delimiter: u8) -> Vec<u8> {
    if !field.bytes().any(|byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r')) {
        return field.as_bytes().to_vec();
    }
    format!("\"{}\"", field.replace('"', "\"\"")).into_bytes()
}

/// Formats several fields with a delimiter between them.
pub(super) fn fields(fields: &[&str], delimiter: u8) -> Vec<u8> {
    fields.iter().map(|field| quoted(field, delimiter)).collect::<Vec<_>>().join(&delimiter)
}

/// The pairs of digits from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

/// Appends a non-negative integer.
#[inline]
pub(super) fn integer(out: &mut Vec<u8>, value: i64) {
    let mut rest = value as u64;
    if rest < 10 {
        out.push(b'0' + rest as u8);
        return;
    }
    let mut digits = [0; 20];
    let mut at = digits.len();
    while rest >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest > 0 {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// A record that is being written, field by field.
pub(super) struct Line<'a> {
    out: &'a mut Vec<u8>,
    delimiter: u8,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, delimiter: u8) -> Self {
        Self { out, delimiter }
    }

    /// Appends formatted fields and a delimiter.
    #[inline]
    pub(super) fn text(&mut self, field: &[u8]) -> &mut Self {
        self.out.extend_from_slice(field);
        self.out.push(self.delimiter);
        self
    }

    /// Appends an integer and a delimiter.
    #[inline]
    pub(super) fn number(&mut self, value: i64) -> &mut Self {
        integer(self.out, value);
        self.out.push(self.delimiter);
        self
    }

    /// Appends formatted fields and the line end.
    #[inline]
    pub(super) fn end_text(&mut self, field: &[u8]) {
        self.out.extend_from_slice(field);
        self.out.push(b'\n');
    }

    /// Appends the last field and the line end.
    #[inline]
    pub(super) fn end(&mut self, value: i64) {
        integer(self.out, value);
        self.out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn integers_are_written_as_the_standard_library_writes_them() {
        let powers = (0..18).map(|power| 10i64.pow(power));
        for value in powers.flat_map(|power| [power - 1, power, power + 1, power * 3 + 7]) {
            let mut out = Vec::new();
            super::integer(&mut out, value);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }
}
