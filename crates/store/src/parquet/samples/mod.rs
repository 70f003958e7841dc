//! The samples of a run as Parquet. Workers encode each batch as one page of each column, which are gathered to row groups
//! in the order of the log.
//!
//! The end of a row group depends only on its rows, so the same log gives the same bytes with any number of workers.

mod read;
mod write;

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::errors::ParquetError;

pub(super) use self::read::{open, stream};
pub use self::write::{SampleColumns, SampleEncoder, SampleExport};
pub(super) use self::write::{SamplePieces, file_name, piece_of};

use super::schema::{SAMPLES, file_schema};
use perfpipe_model::error::Error;

/// The maximum number of rows per batch when reading.
const READ_ROWS: usize = 16 << 10;

/// The approximate maximum size in bytes of the texts in a batch when reading. Long texts mean fewer rows per batch.
const READ_TEXTS: usize = 8 << 20;

/// Key of the file's metadata for the maximum size in bytes of the texts of one row. It is written only if batches of
/// the usual number of rows would be too large.
const LONGEST: &str = "perfpipe.longest_texts";

fn text() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// How times of requests are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeEncoding {
    /// In whole numbers of the run's unit, which a column has, so that files of several runs can be read together.
    Stored,
    /// In whole ms, for other programs.
    Ms,
    /// In ms with decimals, for other programs.
    Decimal,
}

impl TimeEncoding {
    fn data_type(self) -> DataType {
        match self {
            Self::Stored => DataType::Int64,
            Self::Ms => DataType::Int32,
            Self::Decimal => DataType::Float64,
        }
    }
}

/// The columns whose values are in the run's unit.
const TIMES: [&str; 3] = ["elapsed", "latency", "connect"];

/// The schema of the samples. Texts have a dictionary for each row group.
fn schema(times: TimeEncoding) -> SchemaRef {
    let columns = match times {
        TimeEncoding::Stored => SAMPLES,
        // Without the unit, which is the last one.
        TimeEncoding::Ms | TimeEncoding::Decimal => SAMPLES.split_last().map_or(SAMPLES, |(_, rest)| rest),
    };
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8 => Field::new(field.name(), text(), field.is_nullable()),
        _ if TIMES.contains(&&**field.name()) => {
            Field::new(field.name(), times.data_type(), field.is_nullable())
        }
        _ => Field::clone(field),
    };
    Arc::new(Schema::new(file_schema(columns).fields().iter().map(field).collect::<Vec<_>>()))
}

fn failed(error: ParquetError) -> Error {
    Error::store("encoding samples", error)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use perfpipe_model::sample::batch::{Nullable, SampleBatch};
    use perfpipe_model::sample::resolution::Resolution;

    /// Columns of one kind of values each; rows name them by their numbers.
    #[derive(Debug, Clone)]
    struct Palette {
        wide: [Option<i64>; 4],
        narrow: [Option<i32>; 4],
        doubles: [Option<u64>; 4],
        texts: [Option<String>; 4],
    }

    fn palette() -> impl Strategy<Value = Palette> {
        let wide = prop_oneof![
            Just([None; 4]),
            Just([Some(7); 4]),
            any::<[i64; 4]>().prop_map(|v| v.map(Some)),
            any::<[Option<i64>; 4]>()
        ];
        let narrow = prop_oneof![
            Just([None; 4]),
            [0..9i32, 0..9, 0..900, 0..9].prop_map(|v| v.map(Some)),
            any::<[Option<i32>; 4]>()
        ];
        let texts = prop_oneof![Just([const { None }; 4]), any::<[Option<String>; 4]>()];
        (wide, narrow, any::<[Option<u64>; 4]>(), texts).prop_map(|(wide, narrow, doubles, texts)| Palette {
            wide,
            narrow,
            doubles,
            texts,
        })
    }

    /// Runs of equal rows, and single ones in between.
    fn rows() -> impl Strategy<Value = Vec<[usize; 4]>> {
        let run = (any::<[u8; 4]>(), prop_oneof![Just(1), 1..30usize, 100..300usize]);
        vec(run, 0..40).prop_map(|runs| {
            let each = |(row, count): ([u8; 4], usize)| {
                std::iter::repeat_n(row.map(|number| number as usize % 4), count)
            };
            runs.into_iter().flat_map(each).collect()
        })
    }

    fn batch(palette: &Palette, rows: &[[usize; 4]]) -> SampleBatch {
        let mut batch = SampleBatch::default();
        for (at, [a, b, c, d]) in rows.iter().copied().enumerate() {
            batch.t_ms.push((at * a + b) as i64);
            for (column, number) in
                [(&mut batch.label, a), (&mut batch.response_code, b), (&mut batch.injector, c)]
            {
                match &palette.texts[number] {
                    Some(text) => column.push(text.as_bytes()),
                    None => column.push_null(),
                }
            }
            batch.elapsed.push(palette.narrow[d].unwrap_or(i32::MIN));
            batch.success.push(a < 2);
            batch.transaction.push(d == 3);
            batch.bytes.push(palette.wide[a]);
            batch.sent_bytes.push(palette.wide[b].map(|number| number.wrapping_mul(at as i64)));
            batch.all_threads.push(palette.narrow[b].map(|number| number.wrapping_add(at as i32)));
            batch.latency.push(palette.narrow[c]);
            batch.idle_time.push(palette.narrow[d]);
            batch.connect.push(palette.narrow[a]);
            batch.cpu.push(palette.doubles[d].map(f64::from_bits));
        }
        batch
    }

    fn written(batches: &[SampleBatch]) -> Bytes {
        let mut bytes = Vec::new();
        let mut file = SampleExport::new(&mut bytes).unwrap();
        batches.iter().for_each(|batch| file.write(batch).unwrap());
        file.finish().unwrap();
        bytes.into()
    }

    /// Doubles by their bits, since some equal none.
    fn bits(column: &Nullable<f64>) -> Vec<Option<u64>> {
        (0..column.values().len()).map(|row| column.get(row).map(f64::to_bits)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn batches_come_back(all in vec((palette(), rows()), 0..4)) {
            let batches: Vec<_> = all.iter().map(|(palette, rows)| batch(palette, rows)).collect();
            let options = ArrowReaderOptions::new().with_schema(schema(TimeEncoding::Ms));
            let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(written(&batches), options).unwrap();
            let reader = reader.with_batch_size(1 << 20).build().unwrap();
            let mut back: Vec<SampleBatch> =
                reader.map(|rows| read::batch(&rows.unwrap(), Resolution::default()).unwrap()).collect();
            prop_assert!(back.len() <= 1, "one batch holds all");
            let back = back.pop().unwrap_or_default();
            let mut from = 0;
            for mut batch in batches {
                let rows: Vec<usize> = (from..from + batch.len()).collect();
                from += batch.len();
                let mut same = back.select(&rows);
                prop_assert_eq!(bits(&same.cpu), bits(&batch.cpu));
                (same.cpu, batch.cpu) = Default::default();
                prop_assert_eq!(same, batch);
            }
            prop_assert_eq!(from, back.len());
        }
    }

    #[test]
    fn equal_rows_take_the_same_bytes_however_many() {
        let row = Palette {
            wide: [Some(1 << 40); 4],
            narrow: [Some(200); 4],
            doubles: [Some(12.5_f64.to_bits()); 4],
            texts: [const { None }; 4],
        };
        let size = |rows: usize| {
            let mut batch = batch(&row, &vec![[0; 4]; rows]);
            // These count on.
            (batch.all_threads, batch.sent_bytes) = (batch.idle_time.clone(), batch.bytes.clone());
            written(&[batch]).len()
        };
        assert!(size(100_000) < size(1000) + 100, "{} and {}", size(1000), size(100_000));
    }
}
