//! Tables of several runs as one, and a writer for tables that come in pieces, so that they need not be in memory as a
//! whole.

use std::io::Write;

use perfpipe_model::RunKey;

#[cfg(feature = "parquet")]
use parquet::arrow::ArrowWriter;

#[cfg(feature = "parquet")]
use super::parquet::{begin, record_batch};
use super::value::Values;
use super::writer::{Format, RowWriter};
use super::{Column, Kind, Table};
#[cfg(feature = "parquet")]
use crate::error::Error;
use crate::error::Result;

impl Table {
    /// Returns the table with the key of a run in each row, in the columns `framework`, `test` and `repeat` before all
    /// others. A table that has them stays as it is.
    ///
    /// ```
    /// use perfpipe_analyze::table::{Format, Table};
    /// use perfpipe_ingest::RunKey;
    ///
    /// let of = |repeat: u32| Table::of(&[repeat]).column("n", |n| Some(u64::from(*n))).done();
    /// let tables = (1..3).map(|repeat| of(repeat).of_run(&RunKey::new("go", "2048").with_repeat(repeat)));
    ///
    /// let mut csv = Vec::new();
    /// Table::joined(tables).write(Format::Csv, &mut csv)?;
    /// assert_eq!(String::from_utf8_lossy(&csv), "framework,test,repeat,n\ngo,2048,1,1\ngo,2048,2,2\n");
    /// # Ok::<(), perfpipe_analyze::Error>(())
    /// ```
    #[must_use]
    pub fn of_run(self, key: &RunKey) -> Self {
        let names = ["framework", "test", "repeat"];
        if names.iter().all(|name| self.columns.iter().any(|column| column.name() == *name)) {
            return self;
        }
        let [framework, test, repeat] = names;
        let table = self
            .after(Column::new(repeat, Kind::U64), |rows| Values::U64(vec![Some(key.repeat.into()); rows]));
        table.after_text(test, &key.test).after_text(framework, &key.framework)
    }

    /// Returns the table with one text in each row, in a column before all others.
    #[must_use]
    pub fn after_text(self, name: &str, text: &str) -> Self {
        self.after(Column::new(name, Kind::Text), |rows| Values::Text(vec![Some(text.to_owned()); rows]))
    }

    fn after(mut self, column: Column, values: impl FnOnce(usize) -> Values) -> Self {
        self.values.insert(0, values(self.rows));
        self.columns.insert(0, column);
        self
    }

    /// Puts the rows of tables one after another. The columns are those of all tables, and a value is absent where its
    /// table lacks the column. A column of numbers that are not of one kind in all tables has floating-point numbers. The
    /// schema is that of the tables.
    pub fn joined(tables: impl IntoIterator<Item = Self>) -> Self {
        let tables: Vec<Self> = tables.into_iter().collect();
        let mut joined = Self::default();
        for column in tables.iter().flat_map(|table| &table.columns) {
            match joined.columns.iter_mut().find(|own| own.name() == column.name()) {
                Some(own) => own.widen(column),
                None => joined.columns.push(column.clone()),
            }
        }
        joined.values = joined.columns.iter().map(|column| Values::absent(column.kind(), 0)).collect();
        joined.schema = tables.iter().find_map(Self::schema);
        for table in tables {
            joined.rows += table.rows;
            for (all, own) in joined.values.iter_mut().zip(table.like(&joined.columns).values) {
                all.append(own);
            }
        }
        joined
    }

    /// Returns the table with these columns: a value is absent where the table lacks the column.
    #[must_use]
    pub fn like(mut self, columns: &[Column]) -> Self {
        let mut values = Vec::with_capacity(columns.len());
        for column in columns {
            let at = self.columns.iter().position(|own| own.name() == column.name());
            let own = at.map(|at| {
                self.columns.swap_remove(at);
                self.values.swap_remove(at).widened(column.kind())
            });
            values.push(own.unwrap_or_else(|| Values::absent(column.kind(), self.rows)));
        }
        Self { columns: columns.to_vec(), values, ..self }
    }
}

/// Writes several tables with the same columns as one. It is for data, whose columns need no schema: JSON is a bare array.
pub struct TableWriter<W: Write + Send>(Form<W>);

enum Form<W: Write + Send> {
    /// A text format.
    Rows(Box<RowWriter<W>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table with the columns of another, in a text format.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn new(format: Format, like: &Table, out: W) -> Result<Self> {
        Ok(Self(Form::Rows(Box::new(RowWriter::new(format, like.written_columns(format), out)?))))
    }

    /// Starts a Parquet file with the columns of another table.
    ///
    /// # Errors
    /// If `out` can't be written.
    #[cfg(feature = "parquet")]
    pub fn parquet(like: &Table, out: W) -> Result<Self> {
        Ok(Self(Form::Parquet(Box::new(begin(like, out)?))))
    }

    /// Writes the rows of a piece.
    ///
    /// # Errors
    /// If its columns differ, or if `out` can't be written.
    pub fn write(&mut self, piece: &Table) -> Result<()> {
        match &mut self.0 {
            Form::Rows(rows) => piece.write_rows(rows),
            #[cfg(feature = "parquet")]
            Form::Parquet(file) => {
                file.write(&record_batch(piece)?).map_err(|error| Error::convert("Parquet", error))
            }
        }
    }

    /// Ends the table and returns `out`.
    ///
    /// # Errors
    /// If `out` can't be written.
    pub fn finish(self) -> Result<W> {
        match self.0 {
            Form::Rows(rows) => rows.finish(),
            #[cfg(feature = "parquet")]
            Form::Parquet(file) => file.into_inner().map_err(|error| Error::convert("Parquet", error)),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests {
    use arrow_array::RecordBatch;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[(u64, Option<f64>)]) -> Table {
        Table::of(rows).column("n", |row| Some(row.0)).column("x", |row| row.1).people_see(false).done()
    }

    fn written(pieces: &[&[(u64, Option<f64>)]], format: Option<Format>) -> Vec<u8> {
        let mut writer = match format {
            Some(format) => TableWriter::new(format, &table(&[]), Vec::new()).unwrap(),
            None => TableWriter::parquet(&table(&[]), Vec::new()).unwrap(),
        };
        pieces.iter().for_each(|piece| writer.write(&table(piece)).unwrap());
        writer.finish().unwrap()
    }

    /// Reads the rows of a Parquet file.
    fn read(file: Vec<u8>) -> Vec<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
        reader.build().unwrap().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn pieces_are_written_as_the_whole_is(
            rows in prop::collection::vec((0..9u64, prop::option::of(-1.0..1.0f64)), 0..40), size in 1..50usize,
        ) {
            for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
                let mut whole = Vec::new();
                table(&rows).write(format, &mut whole)?;
                prop_assert_eq!(written(&rows.chunks(size).collect::<Vec<_>>(), Some(format)), whole);
            }
        }
    }

    #[test]
    fn parquet_file_in_pieces_is_that_of_the_whole() {
        let rows: Vec<_> = (0..300_000).map(|n| (n, (n % 7 > 0).then_some(n as f64 / 7.0))).collect();
        let mut whole = Vec::new();
        table(&rows).write_parquet(&mut whole).unwrap();
        let whole = read(whole);
        for size in [1_000, 131_072, 300_000] {
            let pieces: Vec<_> = rows.chunks(size).collect();
            let file = written(&pieces, None);
            assert!(file == written(&pieces, None), "the same pieces are the same bytes");
            assert!(read(file) == whole, "{size}");
        }
    }
}

#[cfg(test)]
mod joined_tests {
    use super::*;
    use crate::table::{Interval, Nested, Value};

    #[test]
    fn columns_of_all_tables_are_joined_and_absent_values_stay_absent() {
        let whole = Table::of(&[1_u64, 2]).column("n", |n| Some(*n)).column("x", |n| Some(*n as i64)).done();
        let other =
            Table::of(&[0.5]).column("x", |x| Some(*x)).unit("ms", 3).column("y", |_| Some(true)).done();
        let joined = Table::joined([whole.clone(), other]);
        let mut csv = Vec::new();
        joined.write(Format::Csv, &mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "n,x,y\n1,1,\n2,2,\n,0.5,true\n");
        assert_eq!((joined.value(0, 1), joined.value(2, 1)), (Value::F64(1.0), Value::F64(0.5)));
        assert_eq!(Table::joined([whole.clone()]), whole);
        assert!(Table::joined([]).is_empty());
    }

    #[test]
    fn values_with_parts_are_joined_with_absent_ones() {
        let parts = Table::of(&[1_u64]).column("parts", |n| Nested::of(&[*n])).done();
        let without = Table::of(&[2_u64]).column("n", |n| Some(*n)).done();
        let ranks = Table::of(&[3_u64]).column("n", |low| Some(Interval { low: *low, high: 4 })).done();
        for (tables, expected) in [
            ([ranks.clone(), without.clone()], "[{\"n\":3},{\"n\":2}]"),
            ([without.clone(), ranks.clone()], "[{\"n\":2},{\"n\":3}]"),
            ([ranks.clone(), ranks.clone()], "[{\"n\":3},{\"n\":3}]"),
            ([parts.clone(), without.clone()], "[{\"parts\":[1],\"n\":null},{\"parts\":null,\"n\":2}]"),
            ([without.clone(), parts.clone()], "[{\"n\":2,\"parts\":null},{\"n\":null,\"parts\":[1]}]"),
            ([parts.clone(), parts.clone()], "[{\"parts\":[1]},{\"parts\":[1]}]"),
        ] {
            let mut json = Vec::new();
            Table::joined(tables).write(Format::Json, &mut json).unwrap();
            assert_eq!(String::from_utf8(json).unwrap().replace('\n', ""), expected);
        }
    }
}
