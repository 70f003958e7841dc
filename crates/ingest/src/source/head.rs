//! The first records of a text: cut into fields with care, not with speed.

/// Bytes by which a text is recognised.
pub(crate) const HEAD: usize = 64 << 10;

/// The byte-order mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text without its byte-order mark and leading blank lines.
pub(crate) fn text(head: &[u8]) -> &[u8] {
    head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start()
}

/// The first line of a text, without its end.
pub(crate) fn first_line(text: &[u8]) -> &[u8] {
    text.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// The records of a text, blank ones left out, in fields: RFC 4180, at ease with what is not.
pub(crate) fn records(text: &[u8], delimiter: u8) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let mut fields = vec![Vec::new()];
            rest = record(rest, delimiter, &mut fields);
            if fields.iter().any(|field| !field.is_empty()) {
                return Some(fields);
            }
        }
        None
    })
}

/// Cuts one record into `fields`; the text behind it.
fn record<'a>(text: &'a [u8], delimiter: u8, fields: &mut Vec<Vec<u8>>) -> &'a [u8] {
    let mut quoted = false;
    let mut bytes = text.iter().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match *byte {
            b'"' if quoted && bytes.next_if(|(_, next)| **next == b'"').is_some() => push(fields, b'"'),
            b'"' => quoted = !quoted,
            b'\n' if !quoted => return text.get(at + 1..).unwrap_or_default(),
            b'\r' if !quoted && text.get(at + 1) == Some(&b'\n') => {}
            byte if byte == delimiter && !quoted => fields.push(Vec::new()),
            byte => push(fields, byte),
        }
    }
    &[]
}

fn push(fields: &mut [Vec<u8>], byte: u8) {
    if let Some(field) = fields.last_mut() {
        field.push(byte);
    }
}

/// The names of the header's columns and its delimiter, where the text begins with a header that has
/// all of `wanted`, in any case.
pub(crate) fn header(text: &[u8], wanted: [&str; 2]) -> Option<(u8, Vec<String>)> {
    let line = first_line(text);
    let delimiter = delimiter_beside(line, wanted[0])?;
    let names: Vec<String> = records(line, delimiter)
        .next()?
        .iter()
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned())
        .collect();
    let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    wanted.iter().all(|name| has(name)).then_some((delimiter, names))
}

/// The byte behind (else before) the word `name`, quotes and blanks passed over.
fn delimiter_beside(line: &[u8], name: &str) -> Option<u8> {
    let start = line.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name.as_bytes()))?;
    let plain = |byte: &&u8| !matches!(**byte, b'"' | b' ');
    let behind = line.get(start + name.len()..)?.iter().find(plain);
    let before = line.get(..start)?.iter().rev().find(plain);
    behind.or(before).copied().filter(|byte| !byte.is_ascii_alphanumeric())
}

/// The first field's length and the delimiter behind it, where the text begins with a field of which
/// `is` approves; quotes around it are allowed.
pub(crate) fn delimiter_behind(line: &[u8], is: impl Fn(&[u8]) -> bool) -> Option<u8> {
    let quote = line.first() == Some(&b'"');
    let line = if quote { line.get(1..)? } else { line };
    let longest = line.len().min(40);
    let length = (1..=longest).rev().find(|length| line.get(..*length).is_some_and(&is))?;
    line.get(length + usize::from(quote)).copied().filter(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_hold_delimiters_quotes_and_line_ends() {
        let text = b"a;\"b;\"\"c\"\"\r\nd\";e\r\n\n;;\nlast";
        let records: Vec<Vec<Vec<u8>>> = records(text, b';').collect();
        let expected: [&[&[u8]]; 2] = [&[b"a", b"b;\"c\"\r\nd", b"e"], &[b"last"]];
        assert_eq!(records, expected);
    }

    #[test]
    fn a_header_is_found_by_two_of_its_names_in_any_order_and_delimiter() {
        for (line, delimiter) in [
            ("timeStamp,elapsed", b','),
            ("elapsed\ttimeStamp", b'\t'),
            ("label;\"timeStamp\";\"elapsed\"\r\n1;2;3", b';'),
            ("\"elapsed\"|\"TIMESTAMP\"", b'|'),
        ] {
            let (found, names) = header(line.as_bytes(), ["timeStamp", "elapsed"]).unwrap();
            assert_eq!(found, delimiter);
            assert!(names.iter().any(|name| name == "elapsed"), "{names:?}");
        }
        for line in
            ["columns: timeStamp, the elapsed", "timeStamp", "", "timeStampelapsed", "timeStamp,elapsedx"]
        {
            assert_eq!(header(line.as_bytes(), ["timeStamp", "elapsed"]), None, "{line}");
        }
    }
}
