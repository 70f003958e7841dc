//! What a table holds.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{AddFile, LogLine, MetaData, Protocol, RemoveFile};
use super::path::generation_of;
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;

/// What a table holds, as far as its log was read.
#[derive(Debug, Default)]
pub(in crate::store::parquet::lake) struct TableSnapshot {
    /// The version that comes next; 0 if there is no table.
    pub(super) next: u64,
    /// The version of the last checkpoint that is known.
    pub(super) checkpoint: Option<u64>,
    pub(super) protocol: Option<Protocol>,
    pub(super) meta_data: Option<MetaData>,
    pub(super) files: BTreeMap<String, AddFile>,
    /// The files that the table had before.
    pub(super) removed: BTreeMap<String, RemoveFile>,
    /// The generations whose files came since the last checkpoint that is known.
    fresh: Vec<String>,
}

/// The number of commits after which a checkpoint is written.
pub(super) const EVERY: u64 = 100;

impl TableSnapshot {
    /// Returns true if there is a table.
    pub(in crate::store::parquet::lake) fn is_there(&self) -> bool {
        self.next > 0
    }

    /// Returns true if it is known what the table is.
    pub(super) fn is_whole(&self) -> bool {
        self.protocol.is_some() && self.meta_data.is_some()
    }

    /// Returns the version that comes next.
    pub(in crate::store::parquet::lake) fn next(&self) -> u64 {
        self.next
    }

    /// Returns all files.
    pub(in crate::store::parquet::lake) fn files(&self) -> impl Iterator<Item = &AddFile> {
        self.files.values()
    }

    /// Returns when the generations that the table had before left it, epoch ms, as their writers say. Nobody says it of
    /// some.
    pub(in crate::store::parquet::lake) fn gone(&self) -> BTreeMap<&str, Option<i64>> {
        let since = |removed: &RemoveFile| removed.deletion_timestamp;
        self.removed.values().map(|removed| (generation_of(&removed.path), since(removed))).collect()
    }

    /// Returns when a file left the table, epoch ms, as its writer says.
    pub(in crate::store::parquet::lake) fn gone_since(&self, path: &str) -> Option<i64> {
        self.removed.get(path)?.deletion_timestamp
    }

    /// Returns the runs, or parts of them, that have more than one row, where each has one.
    pub(in crate::store::parquet::lake) fn doubled(&self) -> BTreeSet<RunKey> {
        let mut seen = BTreeSet::new();
        let rows = self.files().filter_map(|file| Some((file.key()?, file.part().map(PartNumber::number))));
        rows.filter(|row| !seen.insert(row.clone())).map(|(key, _)| key).collect()
    }

    /// Returns true if a checkpoint is known.
    pub(in crate::store::parquet::lake) fn has_checkpoint(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Returns true if so many commits follow the last checkpoint that another one is due.
    pub(in crate::store::parquet::lake) fn is_long(&self) -> bool {
        let before = self.checkpoint.map_or(0, |version| version.saturating_add(1));
        self.is_whole() && self.next.saturating_sub(before) >= EVERY
    }

    /// Returns the generations whose files came since the last checkpoint.
    pub(in crate::store::parquet::lake) fn fresh(&self) -> &[String] {
        &self.fresh
    }

    /// Notes that there is a checkpoint of what the table holds now.
    pub(super) fn mark(&mut self) {
        self.checkpoint = self.next.checked_sub(1);
        self.fresh = Vec::new();
    }

    /// Returns the files of a run.
    pub(in crate::store::parquet::lake) fn of(&self, key: &RunKey) -> Vec<AddFile> {
        self.files().filter(|file| file.is_of(key)).cloned().collect()
    }

    /// Does what the lines of a commit or of a checkpoint say. Returns the path of a file that they take out of the table,
    /// and that it does not have. Checkpoints name what left the table before, and so none that it has.
    pub(super) fn apply(&mut self, lines: Vec<LogLine>) -> Option<String> {
        let mut missing = None;
        for LogLine { protocol, meta_data, add, remove, .. } in lines {
            self.protocol = protocol.or(self.protocol.take());
            self.meta_data = meta_data.or(self.meta_data.take());
            if let Some(remove) = remove {
                if self.files.remove(&remove.path).is_none() {
                    missing = Some(remove.path.clone());
                }
                self.removed.insert(remove.path.clone(), remove);
            }
            if let Some(add) = add {
                self.removed.remove(&add.path);
                self.fresh.push(add.generation().to_owned());
                self.files.insert(add.path.clone(), add);
            }
        }
        missing
    }
}
