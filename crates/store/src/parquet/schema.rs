//! The columns of the tables of runs, declared once: the files, the tables of a bucket, and what other programs are shown of
//! both come from here. Those of PostgreSQL are in its own SQL, since its rows are others.
//!
//! A column is only ever added at the end. It needs a layout (`folder/manifest.rs`) if earlier versions can't read files with
//! it; files of earlier versions lack it, and so do the rows that they have in a table of a bucket.

#[cfg(feature = "lake")]
use std::sync::Arc;

#[cfg(feature = "lake")]
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
#[cfg(feature = "lake")]
use perfpipe_model::error::{Error, Result};

use self::ColumnKind::{Bytes, Double, Flag, Int, Ints, Long, Longs, Text, Texts};

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
    pub(crate) nullable: bool,
    /// What it has, with its unit, for other programs.
    #[cfg_attr(not(feature = "lake"), allow(dead_code))]
    pub(crate) comment: &'static str,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Whole numbers of 32 bits.
    Int,
    /// Whole numbers of 64 bits.
    Long,
    Double,
    Flag,
    Text,
    Bytes,
    /// Lists of these.
    Ints,
    Longs,
    Texts,
}

impl ColumnKind {
    fn data_type(self) -> DataType {
        let list = |item| DataType::new_list(item, true);
        match self {
            Self::Int => DataType::Int32,
            Self::Long => DataType::Int64,
            Self::Double => DataType::Float64,
            Self::Flag => DataType::Boolean,
            Self::Text => DataType::Utf8,
            Self::Bytes => DataType::Binary,
            Self::Ints => list(DataType::Int32),
            Self::Longs => list(DataType::Int64),
            Self::Texts => list(DataType::Utf8),
        }
    }
}

/// A column without nulls.
const fn column(name: &'static str, kind: ColumnKind, comment: &'static str) -> TableColumn {
    TableColumn { name, kind, nullable: false, comment }
}

/// A column with nulls.
const fn nullable(name: &'static str, kind: ColumnKind, comment: &'static str) -> TableColumn {
    TableColumn { name, kind, nullable: true, comment }
}

/// The column of the unit of times.
pub(crate) const RESOLUTION: TableColumn = column("resolution_us", Int, "the run's unit, µs");

/// Every accepted record, in the order of the log.
pub(crate) const SAMPLES: &[TableColumn] = &[
    column("t_ms", Int, "start, ms since t0"),
    nullable("label", Text, "the sampler's name"),
    column("elapsed", Long, "the whole time, in the run's unit"),
    nullable("response_code", Text, "the response code, or the name of an exception"),
    column("success", Flag, "JMeter's verdict"),
    nullable("bytes", Long, "bytes received"),
    nullable("sent_bytes", Long, "bytes sent"),
    nullable("all_threads", Int, "active threads of the injector"),
    nullable("latency", Long, "time to the first byte, in the run's unit"),
    nullable("idle_time", Int, "time that JMeter waited within the sample, ms"),
    nullable("connect", Long, "time to connect, in the run's unit"),
    nullable("cpu", Double, "the CPU reading joined at the ingest, percent of one core"),
    nullable("injector", Text, "the machine that sent the request; empty if the log does not name it"),
    column("transaction", Flag, "whether it is a transaction controller's own record"),
    RESOLUTION,
];

/// The exact counts by second, label and outcome.
pub(crate) const SECONDS: &[TableColumn] = &[
    column("second", Int, "seconds since t0"),
    column("label", Text, "the sampler's name, or `(other)`"),
    column("success", Flag, "JMeter's verdict"),
    column("transaction", Flag, "whether these are transactions"),
    column("samples", Long, "how many there are"),
    column("elapsed", Ints, "each elapsed time that occurred, in the run's unit"),
    column("counts", Longs, "how often it occurred"),
    column("latency_n", Long, "how many samples have a latency"),
    column("latency_sum", Long, "sum of latencies, in the run's unit"),
    column("latency_min", Int, "the smallest, in the run's unit"),
    column("latency_max", Int, "the largest, in the run's unit"),
    column("connect_sum", Long, "sum of times to connect, in the run's unit"),
    column("bytes_sum", Long, "bytes received"),
    column("sent_bytes_sum", Long, "bytes sent"),
    column("before_boundary", Long, "samples in the first of the two epoch seconds that this second spans"),
    column("injectors", Texts, "the injectors"),
    column("injector_samples", Longs, "samples of each"),
    column("injector_threads", Longs, "sum of `all_threads` of each"),
    column("packed", Bytes, "`elapsed` and `counts` in few bytes, for perfpipe itself"),
    RESOLUTION,
];

/// CPU readings.
pub(crate) const CPU: &[TableColumn] =
    &[column("clock", Long, "epoch second"), column("value", Double, "percent of one core")];

/// Readings of the server's other series.
pub(crate) const SERIES: &[TableColumn] = &[
    column("name", Text, "the name of the series, as given with `--series`"),
    column("unit", Text, "its unit, as given with `--unit`"),
    column("clock", Long, "epoch second"),
    column("value", Double, "the reading"),
];

/// Failures.
pub(crate) const ERRORS: &[TableColumn] = &[
    column("second", Int, "seconds since t0"),
    column("label", Text, "the sampler's name"),
    column("response_code", Text, "the response code"),
    column("message", Text, "JMeter's failure message, or else its response message"),
    column("transaction", Flag, "whether these are transactions"),
    column("count", Long, "how many failed so"),
];

/// Counts over the whole run.
pub(crate) const LABELS: &[TableColumn] = &[
    column("label", Text, "the sampler's name"),
    column("successes", Long, "requests that succeeded"),
    column("failures", Long, "requests that failed"),
    column("transactions", Long, "transactions"),
];

/// Records that were not accepted.
#[cfg(feature = "lake")]
pub(crate) const REJECTS: &[TableColumn] = &[
    column("file", Text, "file of the record"),
    nullable("member", Text, "member of the zip"),
    column("line", Long, "line of the record"),
    column("byte", Long, "offset of the record, bytes"),
    nullable("code", Text, "code of the reason"),
    column("reason", Text, "why it was not accepted"),
    column("record", Text, "the record, or its beginning"),
];

/// Tags of runs.
#[cfg(feature = "lake")]
pub(crate) const TAGS: &[TableColumn] =
    &[column("key", Text, "key of the tag"), column("value", Text, "its value")];

/// A run's own row, or that of a part of one.
#[cfg(feature = "lake")]
pub(crate) const RUNS: &[TableColumn] = &[
    column("t0_ms", Long, "time zero: start of the first request, epoch ms"),
    column("last_ms", Long, "start of the last request, epoch ms"),
    nullable("last_end_ms", Long, "end of the last request, epoch ms"),
    column("seconds", Int, "seconds from the first start to the last"),
    column("successes", Long, "requests that succeeded"),
    column("failures", Long, "requests that failed"),
    column("transactions", Long, "transactions' own records"),
    column("rejects", Long, "records that were not accepted"),
    RESOLUTION,
    column("samples_stored", Flag, "whether the samples are stored"),
    column("cpu_offset", Long, "seconds that were added to the clock of the CPU readings"),
    column("cpu_lookback", Int, "seconds for which a CPU reading counts"),
    column("ingested_at", Text, "when the run was stored"),
    column("info", Text, "all of the row, as JSON"),
];

/// Points of load tools.
#[cfg(feature = "lake")]
pub(crate) const POINTS: &[TableColumn] = &[
    column("tool", Text, "load tool"),
    column("framework", Text, "framework"),
    column("test", Text, "test"),
    nullable("concurrency", Int, "connections or users"),
    nullable("workers", Int, "processes of the framework"),
    column("repeat", Int, "number of the repeat"),
    nullable("requests", Long, "number of requests"),
    nullable("successes", Long, "requests that succeeded"),
    nullable("throughput", Double, "successes a second"),
    nullable("answers_per_second", Double, "answers a second"),
    nullable("aborted", Text, "why the tool stopped early"),
    column("point", Text, "all of it, as JSON"),
];

/// The schema of a table's files.
pub(crate) fn file_schema(columns: &[TableColumn]) -> Schema {
    let field = |column: &TableColumn| Field::new(column.name, column.kind.data_type(), column.nullable);
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

/// A batch of rows of a table, of which `values` has each column.
///
/// # Errors
/// If the values are not those of the table's columns.
#[cfg(feature = "lake")]
pub(crate) fn batch_of(columns: &[TableColumn], values: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::new(file_schema(columns)), values)
        .map_err(|error| Error::store("making a table", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str) -> String {
        std::fs::read_to_string(format!("{}/../../docs/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    fn shown(kind: ColumnKind) -> &'static str {
        match kind {
            Int => "int32",
            Long => "int64",
            Double => "double",
            Flag => "boolean",
            Text => "text",
            Bytes => "byte_array",
            Ints => "list of int32",
            Longs => "list of int64",
            Texts => "list of text",
        }
    }

    #[test]
    fn reference_has_every_column_of_the_files() {
        let page = page("reference/parquet.md");
        let files = [
            ("samples", SAMPLES),
            ("seconds", SECONDS),
            ("errors", ERRORS),
            ("labels", LABELS),
            ("cpu", CPU),
            ("series", SERIES),
        ];
        for (file, columns) in files {
            let (_, section) = page.split_once(&format!("## {file}.parquet\n")).unwrap();
            let section = section.split("\n## ").next().unwrap();
            let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
            let row = |column: &TableColumn| {
                let null = if column.nullable { ", may be null" } else { "" };
                format!("| `{}` | {}{null} | {} |", column.name, shown(column.kind), column.comment)
            };
            assert_eq!(rows, columns.iter().map(row).collect::<Vec<_>>(), "{file}");
        }
    }

    #[cfg(feature = "lake")]
    #[test]
    fn guide_names_every_column_that_only_a_bucket_has() {
        let page = page("guide/lake.md");
        for (table, columns) in [("tags", TAGS), ("rejects", REJECTS), ("runs", RUNS), ("points", POINTS)] {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{table}` |"))).unwrap();
            let names: Vec<&str> = row.split('`').skip(3).step_by(2).collect();
            assert_eq!(names, columns.iter().map(|column| column.name).collect::<Vec<_>>(), "{table}");
        }
    }
}
