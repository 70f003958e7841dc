//! What has one current generation in a store: a run, or a part of one that is not merged.

use std::fmt;

use super::delta::{AddFile, LakeTable, TableSnapshot, path_of, row_of};
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;
use crate::store::parquet::tables::RUN;

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
