//! A row-by-row writer for all text formats, so that millions of rows need no memory.

use std::io::Write;

use super::column::Column;
use super::formats::{Csv, Json, Markdown, TableFormat, escaped};
use super::text::Text;
use super::value::Value;
use crate::error::{Error, Result};
use crate::format::one_line;

/// A text format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Aligned columns for people, with units and separated thousands.
    Text,
    /// A Markdown table, with units and separated thousands.
    Markdown,
    /// Comma-separated values with a header, quoted as in RFC 4180, with LF line ends. An absent value is empty, an
    /// empty text is `""`; numbers have all their digits.
    Csv,
    /// An array of objects, one per line. An absent value is `null`; numbers have all their digits. A whole table with a
    /// [schema](super::TableBuilder::schema) is an object with the schema and this array.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Text, Self::Markdown, Self::Csv, Self::Json];

    /// Returns the name of the format: `text`, `md`, `csv` or `json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "md",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    /// Returns true if the format is for people rather than programs.
    ///
    /// ```
    /// use perfpipe_analyze::table::Format;
    /// assert!(Format::Markdown.is_for_people() && !Format::Csv.is_for_people());
    /// ```
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Text | Self::Markdown)
    }

    /// Escapes a sentence for output beside a table of this format: on one line, and without characters that would be
    /// markup, whatever names it contains.
    ///
    /// ```
    /// use perfpipe_analyze::table::Format;
    /// assert_eq!(Format::Markdown.prose("not ranked: <b> a|b"), r"not ranked: \<b\> a\|b");
    /// assert_eq!(Format::Text.prose("<b>\u{1b}[31m"), r"<b>\u{1b}[31m");
    /// ```
    pub fn prose(self, sentence: &str) -> String {
        let line = one_line(sentence);
        match self {
            Self::Markdown => escaped(&line),
            Self::Text | Self::Csv | Self::Json => line,
        }
    }
}

/// Writes a table row by row.
///
/// Memory: one row, except for [`Format::Text`], which needs all rows before it can align them. Each row is one
/// `write`; for many rows, pass a [`std::io::BufWriter`].
///
/// ```
/// use perfpipe_analyze::table::{Column, Format, Kind, RowWriter};
///
/// let columns = vec![Column::new("label", Kind::Text), Column::new("elapsed", Kind::I64)];
/// let mut out = Vec::new();
/// let mut writer = RowWriter::new(Format::Json, columns, &mut out)?;
/// writer.row(&["Get".into(), 12.into()])?;
/// writer.row(&["Get, \"again\"".into(), None::<i32>.into()])?;
/// writer.finish()?;
/// assert_eq!(String::from_utf8_lossy(&out), r#"[
/// {"label":"Get","elapsed":12},
/// {"label":"Get, \"again\"","elapsed":null}
/// ]
/// "#);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub struct RowWriter<W: Write> {
    format: Format,
    columns: Vec<Column>,
    rows: Box<dyn TableFormat>,
    written: u64,
    buffer: Vec<u8>,
    out: W,
}

impl<W: Write> RowWriter<W> {
    /// Starts a table: writes the part before its first row.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn new(format: Format, columns: Vec<Column>, out: W) -> Result<Self> {
        Self::with_schema(format, columns, None, out)
    }

    /// Starts a table that names its schema in JSON.
    pub(super) fn with_schema(
        format: Format,
        columns: Vec<Column>,
        schema: Option<&'static str>,
        out: W,
    ) -> Result<Self> {
        let rows: Box<dyn TableFormat> = match format {
            Format::Text => Box::new(Text::default()),
            Format::Markdown => Box::new(Markdown),
            Format::Csv => Box::new(Csv),
            Format::Json => Box::new(Json::new(&columns, schema)),
        };
        let mut writer = Self { format, columns, rows, written: 0, buffer: Vec::new(), out };
        writer.rows.begin(&writer.columns, &mut writer.buffer);
        writer.flush_buffer()?;
        Ok(writer)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If its values do not match the columns in number and kind, or if `out` can't be written.
    pub fn row(&mut self, row: &[Value<'_>]) -> Result<()> {
        self.check(row)?;
        self.rows.row(&self.columns, row, &mut self.buffer);
        self.written += 1;
        self.flush_buffer()
    }

    /// Writes the part after the last row, flushes `out` and returns it.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn finish(mut self) -> Result<W> {
        self.rows.end(&self.columns, &mut self.buffer);
        self.flush_buffer()?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Returns true if the format is for people.
    pub(super) fn is_for_people(&self) -> bool {
        self.format.is_for_people()
    }

    fn flush_buffer(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn check(&self, row: &[Value<'_>]) -> Result<()> {
        let wrong = |problem| Err(Error::Row { row: self.written, problem });
        if row.len() != self.columns.len() {
            return wrong(format!("{} values for {} columns", row.len(), self.columns.len()));
        }
        let misfit = self.columns.iter().zip(row).find(|(column, value)| {
            let kind = value.kind();
            kind.is_some_and(|kind| kind != column.kind())
        });
        match misfit {
            Some((column, value)) => {
                wrong(format!("{value:?} in the column {} of {:?}", column.name(), column.kind()))
            }
            None => Ok(()),
        }
    }
}
