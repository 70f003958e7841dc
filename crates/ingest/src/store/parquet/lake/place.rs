//! The files of one generation of a run in the bucket.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::bucket::Bucket;
use super::delta::{Table, path_of};
use super::object::{Object, Upload};
use crate::error::Result;
use crate::store::parquet::checksum::{CheckedFile, SummedFile, Sums};

/// A generation of a run. Clones share it.
#[derive(Debug, Clone)]
pub(in crate::store::parquet) struct Generation {
    bucket: Bucket,
    name: Arc<str>,
    /// The objects that were begun here.
    begun: Arc<Mutex<BTreeSet<String>>>,
}

impl Generation {
    pub(super) fn new(bucket: Bucket, name: &str) -> Self {
        Self { bucket, name: name.into(), begun: Arc::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn object(&self, file: &str) -> String {
        format!("{}/{}", Table::of_file(file).name(), path_of(&self.name, file))
    }

    /// Returns what error messages call a file.
    pub(in crate::store::parquet) fn shown(&self, file: &str) -> PathBuf {
        self.bucket.shown(&self.object(file))
    }

    /// Begins a file.
    pub(in crate::store::parquet) fn create(&self, file: &str) -> SummedFile {
        self.create_at(self.object(file))
    }

    /// Begins an object.
    pub(super) fn create_at(&self, name: String) -> SummedFile {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        let shown = self.bucket.shown(&name);
        SummedFile::new(Box::new(Upload::new(self.bucket.clone(), name)), shown)
    }

    /// Opens a file, whose size must be that of `sums`.
    pub(in crate::store::parquet) fn open(&self, file: &str, sums: Sums) -> Result<CheckedFile> {
        let name = self.object(file);
        let shown = self.bucket.shown(&name);
        CheckedFile::new(Box::new(Object { bucket: self.bucket.clone(), name }), shown, sums)
    }

    /// Removes a file.
    pub(in crate::store::parquet) fn remove(&self, file: &str) -> Result<()> {
        self.bucket.delete(&[self.object(file)])
    }

    /// Removes all files that were begun here.
    pub(super) fn clear(&self) -> Result<()> {
        let begun = std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner));
        self.bucket.delete(&Vec::from_iter(begun))
    }
}
