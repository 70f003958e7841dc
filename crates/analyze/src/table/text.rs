//! Tables as aligned text.

use unicode_width::UnicodeWidthStr;

use super::column::Column;
use super::rows::Rows;
use super::value::Value;

/// Columns side by side, with numbers aligned to the right. Rows are kept until the widths are known.
#[derive(Default)]
pub(super) struct Text {
    rows: Vec<Vec<String>>,
}

impl Rows for Text {
    fn begin(&mut self, columns: &[Column], _: &mut Vec<u8>) {
        self.rows.push(columns.iter().map(Column::heading).collect());
    }

    fn row(&mut self, columns: &[Column], row: &[Value<'_>], _: &mut Vec<u8>) {
        self.rows.push(columns.iter().zip(row).map(|(column, value)| column.shown(value)).collect());
    }

    fn end(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        let mut widths = vec![0; columns.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        self.rows.insert(1.min(self.rows.len()), rule);
        for row in &self.rows {
            line(columns, &widths, row, out);
        }
    }
}

/// Writes one line, without trailing blanks.
fn line(columns: &[Column], widths: &[usize], row: &[String], out: &mut Vec<u8>) {
    let mut line = String::new();
    for ((column, width), cell) in columns.iter().zip(widths).zip(row) {
        let blanks = " ".repeat(width.saturating_sub(cell.width()));
        let (before, after) = if column.is_number() { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
        line.extend([before, cell, after, "  "]);
    }
    out.extend_from_slice(line.trim_end().as_bytes());
    out.push(b'\n');
}
