//! Splits lines into fields.

use std::ops::Range;

/// The fields of a line, which keep their room from line to line.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The texts of the fields, each followed by its delimiter.
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Fields {
    /// Splits a line at each delimiter.
    pub(super) fn split(&mut self, line: &[u8], delimiter: u8) {
        self.text.clear();
        self.text.extend_from_slice(line);
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(delimiter, line));
        self.ends.push(line.len());
    }

    /// Splits a line of CSV at the commas outside quotes, and takes the quotes off.
    pub(super) fn split_csv(&mut self, line: &[u8]) {
        if memchr::memchr(b'"', line).is_none() {
            return self.split(line, b',');
        }
        self.text.clear();
        self.ends.clear();
        let mut rest = Some(line);
        while let Some(field) = rest {
            if !self.ends.is_empty() {
                self.text.push(b',');
            }
            rest = match field.strip_prefix(b"\"") {
                Some(quoted) => unquoted(quoted, &mut self.text),
                None => {
                    let end = memchr::memchr(b',', field);
                    self.text.extend_from_slice(field.get(..end.unwrap_or(field.len())).unwrap_or_default());
                    end.and_then(|end| field.get(end + 1..))
                }
            };
            self.ends.push(self.text.len());
        }
    }

    /// The number of fields, which is at least one.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a field; an empty text if there is none.
    pub(super) fn get(&self, at: usize) -> &[u8] {
        self.joined(at..at.saturating_add(1))
    }

    /// Returns the last field.
    pub(super) fn last(&self) -> &[u8] {
        self.get(self.len().saturating_sub(1))
    }

    /// Returns several fields with the delimiters between them; an empty text if one of them is missing, or if there are
    /// none.
    pub(super) fn joined(&self, fields: Range<usize>) -> &[u8] {
        let begin = match fields.start.checked_sub(1) {
            None => Some(0),
            Some(before) => self.ends.get(before).map(|end| end + 1),
        };
        let end = fields.end.checked_sub(1).and_then(|last| self.ends.get(last));
        begin.zip(end).and_then(|(begin, end)| self.text.get(begin..*end)).unwrap_or_default()
    }
}

/// Appends a field behind its first quote to a text. Returns what is behind its comma.
fn unquoted<'a>(mut field: &'a [u8], text: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let quote = memchr::memchr(b'"', field).unwrap_or(field.len());
        text.extend_from_slice(field.get(..quote).unwrap_or_default());
        field = field.get(quote + 1..).unwrap_or_default();
        match field.split_first() {
            Some((b'"', rest)) => {
                text.push(b'"');
                field = rest;
            }
            Some((b',', rest)) => return Some(rest),
            None => return None,
            // What follows a closing quote belongs to the field, as Go's reader of CSV has it where it is lenient.
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(fields: &Fields) -> Vec<String> {
        (0..fields.len()).map(|at| String::from_utf8(fields.get(at).to_vec()).unwrap()).collect()
    }

    #[test]
    fn fields_are_split_at_commas_outside_quotes() {
        let of = |line: &str| {
            let mut fields = Fields::default();
            fields.split_csv(line.as_bytes());
            all(&fields)
        };
        assert_eq!(of("a,,\"b \"\"c\"\", d\",e"), ["a", "", "b \"c\", d", "e"]);
        assert_eq!(
            (of(""), of("a,"), of("\"open, and")),
            (vec![String::new()], vec!["a".into(), String::new()], vec!["open, and".into()])
        );
        assert_eq!((of("\""), of("a\"b,\"c\"")), (vec![String::new()], vec!["a\"b".into(), "c".into()]));
    }

    #[test]
    fn fields_that_are_missing_are_empty() {
        let mut fields = Fields::default();
        fields.split(b"a\tbc\t\td", b'\t');
        assert_eq!((fields.len(), fields.last()), (4, &b"d"[..]));
        assert_eq!((fields.joined(0..2), fields.joined(1..4)), (&b"a\tbc"[..], &b"bc\t\td"[..]));
        for nothing in [fields.joined(1..1), fields.joined(0..0), fields.joined(2..9), fields.get(7)] {
            assert_eq!(nothing, b"");
        }
        assert_eq!(fields.get(usize::MAX), b"");
    }

    proptest! {
        #[test]
        fn fields_are_those_of_a_simple_split(lines in prop::collection::vec("[ab,]{0,12}", 1..5)) {
            let mut fields = Fields::default();
            for line in lines {
                fields.split_csv(line.as_bytes());
                let expected: Vec<String> = line.split(',').map(str::to_owned).collect();
                prop_assert_eq!(all(&fields), expected);
            }
        }
    }
}
