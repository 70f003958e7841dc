//! What must hold of the store's files whatever is in them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a property that does not hold is told by panicking"
)]

use std::io::Write;

use super::sums::{CheckedFile, SummedFile};
use super::{name, samples, tables};
use crate::store::RunKey;

/// The name of a run's folder.
pub(crate) fn folder(key: &RunKey) -> String {
    name::folder_name(key)
}

/// A file of any bytes in the place of each table, its checksums right: rows or an error.
pub fn tables(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    let mut written = SummedFile::create(&path).unwrap();
    written.write_all(data).unwrap();
    let sums = written.finish().unwrap();
    let file = || CheckedFile::open(path.clone(), sums.clone()).unwrap();
    let _ = tables::read_seconds(file());
    let _ = tables::read_cpu(file());
    let _ = tables::read_errors(file());
    let _ = tables::read_labels(file());
    // After an error there is nothing that could be read.
    tables::read_rejects(&file()).take_while(Result::is_ok).for_each(drop);
    let mut rows = 0;
    let mut count = |batch: crate::SampleBatch| {
        rows += batch.len();
        assert_eq!(batch.label.codes().len(), batch.len());
        assert_eq!(batch.success.len(), batch.len());
        Ok(())
    };
    let _ = samples::open(file()).and_then(|rows| samples::stream(rows, &mut count));
}
