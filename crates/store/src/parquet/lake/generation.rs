//! The files of one generation of a run in the bucket, and what has one current generation: a run, or a part of one that is
//! not merged ([`RunSlot`]).

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::bucket::{Bucket, StoredObject, Upload, copy};
use super::delta::{AddFile, LakeTable, TableSnapshot, path_of, row_of};
use crate::parquet::checksum::{CheckedFile, FileSums, SummedFile};
use crate::parquet::tables::RUN;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

/// A generation of a run. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct RunGeneration {
    bucket: Bucket,
    name: Arc<str>,
    /// True if it is of a part, whose files are separate from those of runs.
    is_part: bool,
    /// The objects that were begun here.
    begun: Arc<Mutex<BTreeSet<String>>>,
}

impl RunGeneration {
    pub(super) fn new(bucket: Bucket, name: &str, is_part: bool) -> Self {
        Self { bucket, name: name.into(), is_part, begun: Arc::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn object(&self, file: &str) -> String {
        object_of(&self.name, self.is_part, file)
    }

    /// Returns what error messages call a file.
    pub(crate) fn shown(&self, file: &str) -> PathBuf {
        self.bucket.shown(&self.object(file))
    }

    /// Begins a file.
    pub(crate) fn create(&self, file: &str) -> SummedFile {
        self.create_at(self.object(file))
    }

    /// Copies a file of another generation, which has this size.
    pub(crate) fn copy(&self, name: &str, from: &Self, file: &str, size: u64) -> Result<()> {
        let (from, to) = (from.object(file), self.object(name));
        self.note(&to);
        let copied = copy(&self.bucket, &from, &to, size);
        copied.map_err(|error| Error::io(&*self.bucket.shown(&to), error))
    }

    /// Notes an object that is removed if the run is given up.
    fn note(&self, object: &str) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(object.to_owned());
    }

    /// Begins an object.
    pub(super) fn create_at(&self, name: String) -> SummedFile {
        self.note(&name);
        let shown = self.bucket.shown(&name);
        SummedFile::new(Box::new(Upload::new(self.bucket.clone(), name)), shown)
    }

    /// Opens a file, whose size must be that of `sums`.
    pub(crate) fn open(&self, file: &str, sums: FileSums) -> Result<CheckedFile> {
        let name = self.object(file);
        let shown = self.bucket.shown(&name);
        CheckedFile::new(Box::new(StoredObject { bucket: self.bucket.clone(), name }), shown, sums)
    }

    /// Removes all files that were begun here.
    pub(super) fn clear(&self) -> Result<()> {
        let begun = std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner));
        self.bucket.delete(&Vec::from_iter(begun))
    }
}

/// Returns the name of the object that has a file of a generation.
pub(super) fn object_of(generation: &str, is_part: bool, file: &str) -> String {
    let table = if is_part { LakeTable::Parts } else { LakeTable::of_file(file) };
    format!("{}/{}", table.name(), path_of(generation, file))
}

/// A run, or a part of one.
#[derive(Debug)]
pub(super) struct RunSlot {
    pub(super) key: RunKey,
    pub(super) part: Option<PartNumber>,
}

/// Displayed as in `the run a_t`, or `part 3/16 of a_t`.
impl fmt::Display for RunSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "part {part} of {}", self.key),
            None => write!(f, "the run {}", self.key),
        }
    }
}

impl RunSlot {
    /// The slot of a run.
    pub(super) fn run(key: &RunKey) -> Self {
        Self { key: key.clone(), part: None }
    }

    /// The table that names its current generation.
    pub(super) fn table(&self) -> LakeTable {
        if self.part.is_some() { LakeTable::Parts } else { LakeTable::Runs }
    }

    /// The tables that have its facts: none has those of a part.
    pub(super) fn facts(&self) -> impl Iterator<Item = LakeTable> {
        LakeTable::FACTS.into_iter().filter(|_| self.part.is_none())
    }

    /// Returns its files in its table.
    pub(super) fn of(&self, snapshot: &TableSnapshot) -> Vec<AddFile> {
        let number = self.part.map(PartNumber::number);
        let mut files = snapshot.of(&self.key);
        files.retain(|file| file.part().map(PartNumber::number) == number);
        files
    }

    /// Returns the path of the row of a generation in its table.
    pub(super) fn row(&self, generation: &str) -> String {
        match self.part {
            Some(_) => path_of(generation, RUN),
            None => row_of(&self.key, generation, RUN),
        }
    }

    /// Returns the file of its row.
    pub(super) fn add(&self, generation: &str, path: &str, size: u64) -> AddFile {
        let add = AddFile::new(&self.key, generation, path, size);
        self.part.map_or(add.clone(), |number| add.of_part(number))
    }
}
