//! The samples of a run as Parquet. Workers encode each batch as one page of each column, which are gathered to row groups
//! in the order of the log.
//!
//! The end of a row group depends only on its rows, so the same log gives the same bytes with any number of workers.

mod encode;
mod file;
mod pieces;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::errors::ParquetError;

use crate::error::Error;
use crate::sample::resolution::Resolution;

pub use self::encode::{SampleColumns, SampleEncoder};
pub use self::file::SampleExport;

pub(super) use self::pieces::{SamplePieces, file_name, piece_of};
pub(super) use self::read::{open, stream};

/// The maximum number of rows per batch when reading.
const READ_ROWS: usize = 16 << 10;

/// The approximate maximum size in bytes of the texts in a batch when reading. Long texts mean fewer rows per batch.
const READ_TEXTS: usize = 8 << 20;

/// Key of the file's metadata for the maximum size in bytes of the texts of one row. It is written only if batches of
/// the usual number of rows would be too large.
const LONGEST: &str = "perfpipe.longest_texts";

/// The column of the unit of times, in a table of runs with several units.
const RESOLUTION: &str = "resolution_us";

fn text() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// How times of requests are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    /// In whole ms.
    Ms,
    /// In whole numbers of a finer unit.
    Fine,
    /// In whole numbers of any unit, which a column tells: in a table of runs with several units.
    Shared,
    /// In ms with decimals, for other programs.
    Decimal,
}

impl Times {
    /// Returns how a store has times in this unit.
    fn stored(resolution: Resolution) -> Self {
        if resolution.is_fine() { Self::Fine } else { Self::Ms }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Ms => DataType::Int32,
            Self::Fine | Self::Shared => DataType::Int64,
            Self::Decimal => DataType::Float64,
        }
    }
}

/// The schema of the samples.
fn schema(times: Times) -> SchemaRef {
    let time = times.data_type();
    let field = |name: &str, data_type: DataType, nullable: bool| Field::new(name, data_type, nullable);
    let mut fields = vec![
        field("t_ms", DataType::Int32, false),
        field("label", text(), true),
        field("elapsed", time.clone(), false),
        field("response_code", text(), true),
        field("success", DataType::Boolean, false),
        field("bytes", DataType::Int64, true),
        field("sent_bytes", DataType::Int64, true),
        field("all_threads", DataType::Int32, true),
        field("latency", time.clone(), true),
        field("idle_time", DataType::Int32, true),
        field("connect", time, true),
        field("cpu", DataType::Float64, true),
        field("injector", text(), true),
        field("transaction", DataType::Boolean, false),
    ];
    fields.extend((times == Times::Shared).then(|| field(RESOLUTION, DataType::Int32, false)));
    Arc::new(Schema::new(fields))
}

fn failed(error: ParquetError) -> Error {
    Error::store("encoding samples", error)
}
