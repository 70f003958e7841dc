//! Tables as Markdown.

use super::column::Column;
use super::rows::TableFormat;
use super::value::Value;

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
