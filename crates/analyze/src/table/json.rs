//! Tables as JSON.

use std::io::Write;

use super::column::Column;
use super::rows::TableFormat;
use super::value::{Interval, Value};

/// An array of objects, one per line.
pub(super) struct Json {
    /// The text before each value: `"name":`.
    keys: Vec<Vec<u8>>,
    any: bool,
}

impl Json {
    pub(super) fn new(columns: &[Column]) -> Self {
        let key = |column: &Column| {
            let mut key = Vec::new();
            text(column.name(), &mut key);
            key.push(b':');
            key
        };
        Self { keys: columns.iter().map(key).collect(), any: false }
    }
}

impl TableFormat for Json {
    fn begin(&mut self, _: &[Column], out: &mut Vec<u8>) {
        out.push(b'[');
    }

    fn row(&mut self, _: &[Column], row: &[Value<'_>], out: &mut Vec<u8>) {
        out.extend_from_slice(if self.any { b",\n{" } else { b"\n{" });
        self.any = true;
        for (at, (key, value)) in self.keys.iter().zip(row).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key);
            write_value(value, out);
        }
        out.push(b'}');
    }

    fn end(&mut self, _: &[Column], out: &mut Vec<u8>) {
        out.extend_from_slice(if self.any { b"\n]\n" } else { b"]\n" });
    }
}

fn write_value(value: &Value<'_>, out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = match value {
        Value::U64(number) | Value::Interval(Interval { low: number, .. }) => write!(out, "{number}"),
        Value::I64(number) => write!(out, "{number}"),
        Value::F64(number) if number.is_finite() => write!(out, "{number}"),
        // JSON has no infinity and no "not a number".
        Value::Absent | Value::F64(_) => write!(out, "null"),
        Value::Bool(yes) => write!(out, "{yes}"),
        Value::Text(value) => {
            text(value, out);
            Ok(())
        }
        Value::Nested(nested) => write!(out, "{}", nested.json()),
    };
}

/// Writes a text, quoted. Neither writing to a Vec nor converting a text to JSON can fail.
fn text(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, text);
}
