//! The small tables of a run: CPU readings and other series, failures, labels, rejected records; and the names of its files.

#[cfg(feature = "lake")]
pub(super) mod arrow;
mod failures;
mod labels;
mod paged;
mod readings;

use std::io::{BufReader, BufWriter, Read};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checksum::{CheckedFile, FileSums, SummedFile};
use crate::error::{Error, Result};
use crate::run::rejects::{Reject, RejectSpool, read_lines};

pub(super) use self::failures::{read_errors, write_errors};
pub(super) use self::labels::{read_labels, write_labels};
pub(super) use self::readings::{read_cpu, read_series, write_cpu, write_series};

pub(super) const SAMPLES: &str = "samples.parquet";
pub(super) const SECONDS: &str = "seconds.parquet";
pub(super) const CPU: &str = "cpu.parquet";
pub(super) const SERIES: &str = "series.parquet";
pub(super) const ERRORS: &str = "errors.parquet";
pub(super) const LABELS: &str = "labels.parquet";
pub(super) const REJECTS: &str = "rejects.jsonl";
/// The file of rejected records where it is part of a table of all runs.
pub(super) const REJECT_TABLE: &str = "rejects.parquet";
/// The file of a run's row where it is part of a table of all runs.
#[cfg(feature = "lake")]
pub(super) const RUN: &str = "run.parquet";
/// The file of a run's tags where they are a table of all runs.
pub(super) const TAGS: &str = "tags.parquet";
pub(super) const PART: &str = "part.json";
pub(super) const NAMES: &str = "names.json";

/// The files of all small tables and of the rejected records.
pub(super) const SMALL: [&str; 5] = [SECONDS, CPU, ERRORS, LABELS, REJECTS];

/// The files that runs have only where there is something in them.
pub(super) const OPTIONAL: [&str; 4] = [SERIES, TAGS, PART, NAMES];

/// Writes the rejected records, one JSON object per line.
pub(super) fn write_rejects(out: SummedFile, rejects: &mut RejectSpool) -> Result<FileSums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    rejects.write_lines(&mut writer)?.map_err(|error| Error::io(&path, error))?;
    finish_buffered(writer, &path)
}

/// Reads the rejected records.
pub(super) fn read_rejects(file: &CheckedFile) -> impl Iterator<Item = Result<Reject>> + use<> {
    let what = format!("reading {}", file.path().display());
    read_lines(BufReader::new(file.reader(0)), what)
}

/// Writes a JSON document.
pub(super) fn write_document(out: SummedFile, document: &impl Serialize) -> Result<FileSums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    serde_json::to_writer(&mut writer, document).map_err(|error| Error::io(&path, error.into()))?;
    finish_buffered(writer, &path)
}

fn finish_buffered(writer: BufWriter<SummedFile>, path: &Path) -> Result<FileSums> {
    let mut out = writer.into_inner().map_err(|error| Error::io(path, error.into_error()))?;
    out.finish()
}

/// The maximum size of a JSON document in bytes: five lists of names, each byte of which may take six.
const DOCUMENT: u64 = 256 << 20;

/// Reads a JSON document.
pub(super) fn read_document<T: DeserializeOwned>(file: &CheckedFile) -> Result<T> {
    let read = serde_json::from_reader(BufReader::new(file.reader(0).take(DOCUMENT)));
    read.map_err(|error| Error::store(format!("reading {}", file.path().display()), error))
}
