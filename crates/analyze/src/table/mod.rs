//! Tables of named, typed columns, which hold results, and their text formats.
//!
//! A [`Table`] is in memory. [`TableWriter`] writes one that comes in pieces, [`RowWriter`] one that comes row by row.
//! An absent value is not zero and not an empty text, in any format that can distinguish them.

mod column;
mod formats;
#[cfg(feature = "frames")]
mod frame;
#[cfg(feature = "parquet")]
mod parquet;
mod pieces;
mod text;
mod value;
mod writer;

use std::io::Write;

use perfpipe_model::run::Resolution;

pub use self::column::{Column, Tone};
pub use self::pieces::TableWriter;
pub use self::text::Terminal;
pub use self::value::{Datum, Interval, Kind, Nested, Value};
pub use self::writer::{Format, RowWriter};

use self::value::Values;
use crate::error::Result;

/// A table in memory, stored by column. An absent value is distinct from zero.
///
/// ```
/// use perfpipe_analyze::table::{Format, Table};
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
    /// What the columns mean, for programs.
    schema: Option<&'static str>,
}

impl Table {
    /// Starts a table with a row for each of `rows`; columns are added one by one.
    pub fn of<R>(rows: &[R]) -> TableBuilder<'_, R> {
        let table = Self { rows: rows.len(), ..Self::default() };
        TableBuilder { rows, table, resolution: Resolution::default() }
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the name and version of what the columns mean, as JSON has it; `None` if the table has none.
    pub fn schema(&self) -> Option<&'static str> {
        self.schema
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the value in a row and a column, both counted from 0; absent beyond the table's end.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.values.get(column).map_or(Value::Absent, |values| values.get(row))
    }

    /// Returns the rows in the order of a column, both counted from 0: descending or ascending, absent values last. Rows with
    /// equal values keep their order.
    pub fn order(&self, column: usize, descending: bool) -> Vec<usize> {
        let is_absent = |row: usize| self.value(row, column) == Value::Absent;
        let mut rows: Vec<usize> = (0..self.rows).collect();
        rows.sort_by(|one, other| {
            let (a, b) = (self.value(*one, column), self.value(*other, column));
            let order = if descending { b.order(&a) } else { a.order(&b) };
            is_absent(*one).cmp(&is_absent(*other)).then(order)
        });
        rows
    }

    /// Writes the whole table in a text format. In JSON, a table with a schema is an object that names it.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn write(&self, format: Format, out: impl Write) -> Result<()> {
        let mut writer = RowWriter::with_schema(format, self.written_columns(format), self.schema, out)?;
        self.write_rows(&mut writer)?;
        writer.finish()?;
        Ok(())
    }

    /// Returns the table as text for a terminal: fitted to its width, and in its colours.
    pub fn shown(&self, terminal: Terminal) -> String {
        let shown = || self.columns.iter().zip(&self.values).filter(|(column, _)| column.is_shown());
        let columns: Vec<&Column> = shown().map(|(column, _)| column).collect();
        let row = |at| shown().map(|(column, values)| column.shown(&values.get(at))).collect();
        let rows: Vec<Vec<String>> = (0..self.rows).map(row).collect();
        text::shown(&columns, &rows, terminal)
    }

    /// Returns the columns that a format contains.
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

/// A table under construction, whose columns are functions of a row.
pub struct TableBuilder<'a, R> {
    rows: &'a [R],
    table: Table,
    /// The unit in which the times of the table were counted.
    resolution: Resolution,
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

    /// Names what the columns mean, for programs that read the table as JSON. The number after the slash changes if a column
    /// changes its meaning or goes, not if one is added.
    ///
    /// ```
    /// use perfpipe_analyze::table::{Format, Table};
    ///
    /// let table = Table::of(&[1_u64, 2]).schema("counts/1").column("n", |n| Some(*n)).done();
    /// let mut json = Vec::new();
    /// table.write(Format::Json, &mut json)?;
    /// assert_eq!(String::from_utf8_lossy(&json), "{\"schema\":\"counts/1\",\"rows\":[\n{\"n\":1},\n{\"n\":2}\n]}\n");
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    #[must_use]
    pub fn schema(mut self, schema: &'static str) -> Self {
        self.table.schema = Some(schema);
        self
    }

    /// Sets the unit in which the times were counted: columns in ms that follow have decimals for it.
    #[must_use]
    pub fn counted_in(mut self, resolution: Resolution) -> Self {
        self.resolution = resolution;
        self
    }

    /// Adds a column of times in ms that were counted as they are: integers if they were counted in ms.
    ///
    /// ```
    /// use perfpipe_analyze::table::{Format, Table};
    /// use perfpipe_ingest::run::Resolution;
    ///
    /// let text = |unit, ms: f64| {
    ///     let mut text = Vec::new();
    ///     let table = Table::of(&[ms]).counted_in(unit).time("least", |ms| Some(*ms)).done();
    ///     table.write(Format::Csv, &mut text)?;
    ///     Ok::<_, perfpipe_analyze::Error>(text)
    /// };
    /// assert_eq!(text(Resolution::MILLISECOND, 3.0)?, b"least\n3\n");
    /// assert_eq!(text(Resolution::MICROSECOND, 0.25)?, b"least\n0.25\n");
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    #[must_use]
    pub fn time(self, name: &str, value: impl FnMut(&R) -> Option<f64>) -> Self {
        self.bare_time(name, value).unit("ms", 0)
    }

    /// As [`Self::time`], but without the unit in the title.
    #[must_use]
    pub(crate) fn bare_time(self, name: &str, mut value: impl FnMut(&R) -> Option<f64>) -> Self {
        if self.resolution.is_fine() {
            return self.column(name, value);
        }
        self.column(name, move |row| value(row).map(|ms| ms as i64))
    }

    /// Sets the unit of the last column, and the number of decimals in text formats.
    #[must_use]
    pub fn unit(self, unit: &str, decimals: u8) -> Self {
        let decimals = if unit == "ms" && self.resolution.is_fine() { decimals.max(3) } else { decimals };
        self.change_last(|column| column.unit(unit).decimals(decimals))
    }

    /// Sets the title of the last column in text formats.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.change_last(|column| column.title(title))
    }

    /// Marks the numbers of the last column as identifiers, whose thousands are not separated.
    #[must_use]
    pub fn identifier(self) -> Self {
        self.change_last(Column::identifier)
    }

    /// Marks the numbers of the last column as times in ms since 1970, which people see as dates.
    #[must_use]
    pub fn instant(self) -> Self {
        self.change_last(Column::instant)
    }

    /// Marks the numbers of the last column as durations in seconds, which people see in hours, minutes and seconds.
    #[must_use]
    pub fn duration(self) -> Self {
        self.change_last(Column::duration)
    }

    /// Marks the numbers of the last column as sizes in bytes, which people see in kB, MB and GB.
    #[must_use]
    pub fn size(self) -> Self {
        self.change_last(Column::size)
    }

    /// Marks the numbers of the last column as shares, 0 to 1, which people see in percent.
    #[must_use]
    pub fn share(self) -> Self {
        self.change_last(Column::share)
    }

    /// Marks the numbers of the last column as p-values, of which people see no zeros.
    #[must_use]
    pub fn probability(self) -> Self {
        self.change_last(Column::probability)
    }

    /// Lets the last column be left out first where a terminal is too narrow for all.
    #[must_use]
    pub fn minor(self) -> Self {
        self.change_last(Column::minor)
    }

    /// Lets the last column be left out last where a terminal is too narrow for all.
    #[must_use]
    pub fn major(self) -> Self {
        self.change_last(Column::major)
    }

    /// Sets what people read instead of some words of the last column.
    #[must_use]
    pub fn words(self, words: &'static [(&'static str, &'static str)]) -> Self {
        self.change_last(|column| column.words(words))
    }

    /// Sets the tones of words of the last column, for their colours on a terminal.
    #[must_use]
    pub fn tones(self, tones: &'static [(&'static str, Tone)]) -> Self {
        self.change_last(|column| column.tones(tones))
    }

    /// Shows or hides the last column in text formats, as where it would say nothing.
    #[must_use]
    pub fn people_see(self, seen: bool) -> Self {
        self.change_last(|column| if seen { column } else { column.hidden() })
    }

    /// Returns the table.
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
