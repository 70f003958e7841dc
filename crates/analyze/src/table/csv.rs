//! Tables as CSV.

use std::io::Write;

use super::column::Column;
use super::rows::TableFormat;
use super::value::{Interval, Value};

/// Comma-separated values as in RFC 4180, but with LF line ends.
pub(super) struct Csv;

impl TableFormat for Csv {
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        for (at, column) in columns.iter().enumerate() {
            separate(at, out);
            text(column.name(), out);
        }
        out.push(b'\n');
    }

    fn row(&mut self, _: &[Column], row: &[Value<'_>], out: &mut Vec<u8>) {
        for (at, value) in row.iter().enumerate() {
            separate(at, out);
            // Writing to a Vec can't fail.
            let _ = match value {
                Value::Absent => Ok(()),
                Value::U64(number) | Value::Interval(Interval { low: number, .. }) => write!(out, "{number}"),
                Value::I64(number) => write!(out, "{number}"),
                Value::F64(number) => write!(out, "{number}"),
                Value::Bool(yes) => write!(out, "{yes}"),
                Value::Text(value) => {
                    text(value, out);
                    Ok(())
                }
                Value::Nested(nested) => {
                    nested.text().into_iter().for_each(|value| text(value, out));
                    Ok(())
                }
            };
        }
        // Readers skip empty lines, and would lose the row.
        if matches!(row, [Value::Absent]) {
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
    }

    fn end(&mut self, _: &[Column], _: &mut Vec<u8>) {}
}

fn separate(at: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
}

/// Writes a text, quoted if necessary. An empty text is quoted to distinguish it from an absent value.
fn text(text: &str, out: &mut Vec<u8>) {
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}
