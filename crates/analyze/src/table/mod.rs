//! A small table of named, typed columns, the form in which results leave the crate.

mod column;
mod csv;
#[cfg(feature = "frames")]
mod frame;
mod json;
mod markdown;
mod parquet;
mod pieces;
mod rows;
mod text;
mod value;
mod writer;

use std::io::Write;

pub use self::column::Column;
pub use self::pieces::TableWriter;
pub use self::value::{Datum, Kind, Value};
pub use self::writer::{Format, RowWriter};

use self::value::Values;
use crate::error::Result;

/// A table held in memory, by columns; an absent value is none, never zero.
///
/// ```
/// use perfpipe_analyze::{Format, Table};
///
/// let rows = [("spring", Some(1583.26)), ("perfectnio", None)];
/// let table = Table::of(&rows)
///     .column("framework", |row| Some(row.0.to_owned()))
///     .column("throughput", |row| row.1)
///     .unit("1/s", 1)
///     .done();
///
/// let mut csv = Vec::new();
/// table.write(Format::Csv, &mut csv)?;
/// assert_eq!(String::from_utf8_lossy(&csv), "framework,throughput\nspring,1583.26\nperfectnio,\n");
///
/// let mut text = Vec::new();
/// table.write(Format::Text, &mut text)?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// framework   throughput (1/s)
/// ----------  ----------------
/// spring               1,583.3
/// perfectnio                 -
/// ");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    values: Vec<Values>,
    rows: usize,
}

impl Table {
    /// Begins a table with a row for each of `rows`; its columns are added one by one.
    pub fn of<R>(rows: &[R]) -> TableBuilder<'_, R> {
        TableBuilder { rows, table: Self { rows: rows.len(), ..Self::default() } }
    }

    /// What the columns are.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The value of a row, from 0, in a column, from 0; absent too beyond the table's end.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.values.get(column).map_or(Value::Absent, |values| values.get(row))
    }

    /// Writes the whole table.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn write(&self, format: Format, out: impl Write) -> Result<()> {
        let mut writer = RowWriter::new(format, self.written_columns(format), out)?;
        self.write_rows(&mut writer)?;
        writer.finish()?;
        Ok(())
    }

    /// The columns that a format has.
    fn written_columns(&self, format: Format) -> Vec<Column> {
        let written = |column: &&Column| !format.is_for_people() || column.is_shown();
        self.columns.iter().filter(written).cloned().collect()
    }

    /// Writes all rows.
    fn write_rows<W: Write>(&self, writer: &mut RowWriter<W>) -> Result<()> {
        let for_people = writer.is_for_people();
        let written = || {
            let columns = self.columns.iter().zip(&self.values);
            columns.filter(|(column, _)| !for_people || column.is_shown())
        };
        let mut row = Vec::with_capacity(self.columns.len());
        for at in 0..self.rows {
            row.clear();
            row.extend(written().map(|(_, values)| values.get(at)));
            writer.row(&row)?;
        }
        Ok(())
    }
}

/// A table whose columns are being added, each as a function of a row.
pub struct TableBuilder<'a, R> {
    rows: &'a [R],
    table: Table,
}

impl<R> TableBuilder<'_, R> {
    /// Adds a column: its name in machine formats, and its value in each row.
    #[must_use]
    pub fn column<T: Datum>(
        mut self,
        name: impl Into<String>,
        mut value: impl FnMut(&R) -> Option<T>,
    ) -> Self {
        self.table.columns.push(Column::new(name, T::KIND));
        self.table.values.push(T::collect(self.rows.iter().map(&mut value)));
        self
    }

    /// Says of the column added last in which unit it is, and with how many decimals people read it.
    #[must_use]
    pub fn unit(self, unit: &str, decimals: u8) -> Self {
        self.change_last(|column| column.unit(unit).decimals(decimals))
    }

    /// Says how the column added last is called in the formats for people.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.change_last(|column| column.title(title))
    }

    /// Says of the column added last that its numbers name something, so that nothing separates thousands.
    #[must_use]
    pub fn identifier(self) -> Self {
        self.change_last(Column::identifier)
    }

    /// Says whether the column added last is in the formats for people too: where it tells nothing, it is only in the
    /// way.
    #[must_use]
    pub fn people_see(self, seen: bool) -> Self {
        self.change_last(|column| if seen { column } else { column.hidden() })
    }

    /// The table.
    pub fn done(self) -> Table {
        self.table
    }

    fn change_last(mut self, change: impl FnOnce(Column) -> Column) -> Self {
        if let Some(column) = self.table.columns.pop() {
            self.table.columns.push(change(column));
        }
        self
    }
}
