//! The interface of text formats for tables, and tables as CSV, JSON and Markdown.

use std::io::Write;

use super::column::Column;
use super::value::{Interval, Value};

/// A text format of tables. Its methods append to a buffer.
pub(super) trait TableFormat: Send {
    /// Writes the part before the first row.
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>);
    /// Writes one row, with a value for each column.
    fn row(&mut self, columns: &[Column], row: &[Value<'_>], out: &mut Vec<u8>);
    /// Writes the part after the last row.
    fn end(&mut self, columns: &[Column], out: &mut Vec<u8>);
}

/// Comma-separated values as in RFC 4180, but with LF line ends.
pub(super) struct Csv;

impl TableFormat for Csv {
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        for (at, column) in columns.iter().enumerate() {
            separate(at, out);
            csv_text(column.name(), out);
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
                    csv_text(value, out);
                    Ok(())
                }
                Value::Nested(nested) => {
                    nested.text().into_iter().for_each(|value| csv_text(value, out));
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
fn csv_text(text: &str, out: &mut Vec<u8>) {
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

/// An array of objects, one per line; of a table with a schema, in an object that names it.
pub(super) struct Json {
    schema: Option<&'static str>,
    /// The text before each value: `"name":`.
    keys: Vec<Vec<u8>>,
    any: bool,
}

impl Json {
    pub(super) fn new(columns: &[Column], schema: Option<&'static str>) -> Self {
        let key = |column: &Column| {
            let mut key = Vec::new();
            json_text(column.name(), &mut key);
            key.push(b':');
            key
        };
        Self { schema, keys: columns.iter().map(key).collect(), any: false }
    }
}

impl TableFormat for Json {
    fn begin(&mut self, _: &[Column], out: &mut Vec<u8>) {
        if let Some(schema) = self.schema {
            out.extend_from_slice(b"{\"schema\":");
            json_text(schema, out);
            out.extend_from_slice(b",\"rows\":");
        }
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
        out.extend_from_slice(if self.any { b"\n]" } else { b"]" });
        out.extend_from_slice(if self.schema.is_some() { b"}\n" } else { b"\n" });
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
            json_text(value, out);
            Ok(())
        }
        Value::Nested(nested) => write!(out, "{}", nested.json()),
    };
}

/// Writes a text, quoted. Neither writing to a Vec nor converting a text to JSON can fail.
fn json_text(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, text);
}

/// A table in GitHub's Markdown.
pub(super) struct Markdown;

impl TableFormat for Markdown {
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        line(columns.iter().map(|column| escaped(&column.heading())), out);
        line(columns.iter().map(|column| if column.is_number() { "---:" } else { "---" }), out);
    }

    fn row(&mut self, columns: &[Column], row: &[Value<'_>], out: &mut Vec<u8>) {
        line(columns.iter().zip(row).map(|(column, value)| escaped(&column.shown(value))), out);
    }

    fn end(&mut self, _: &[Column], _: &mut Vec<u8>) {}
}

fn line(cells: impl Iterator<Item = impl AsRef<str>>, out: &mut Vec<u8>) {
    out.push(b'|');
    for cell in cells {
        out.extend([b" ", cell.as_ref().as_bytes(), b" |"].concat());
    }
    out.push(b'\n');
}

/// Escapes a text, so that nothing in it is Markdown or HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '&') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
