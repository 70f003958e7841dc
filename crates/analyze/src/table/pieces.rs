//! A writer for tables that come in pieces, so that they need not be in memory as a whole.

use std::io::Write;

#[cfg(feature = "parquet")]
use parquet::arrow::ArrowWriter;

use super::Table;
#[cfg(feature = "parquet")]
use super::parquet::{begin, record_batch};
use super::writer::{Format, RowWriter};
#[cfg(feature = "parquet")]
use crate::error::Error;
use crate::error::Result;

/// Writes several tables with the same columns as one.
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
