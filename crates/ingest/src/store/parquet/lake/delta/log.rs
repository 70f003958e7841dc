//! The log of a table: what is in it now, and how that is changed.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::super::bucket::Bucket;
use super::action::{Add, LAYOUT, Line, NEWEST, READER, WRITER, change, creation};
use super::columns::Table;
use super::path::generation_of;
use crate::error::{Error, ErrorKind, Result};
use crate::run::key::RunKey;

/// What a table holds, as far as its log was read.
#[derive(Debug, Default)]
pub(in crate::store::parquet::lake) struct Snapshot {
    /// The version that comes next; 0 if there is no table.
    next: u64,
    files: BTreeMap<String, Add>,
    /// When the generations that the table had before left it, epoch ms.
    gone: BTreeMap<String, i64>,
}

impl Snapshot {
    /// Returns true if there is a table.
    pub(in crate::store::parquet::lake) fn is_there(&self) -> bool {
        self.next > 0
    }

    /// Returns the version that comes next.
    pub(in crate::store::parquet::lake) fn next(&self) -> u64 {
        self.next
    }

    /// Returns all files.
    pub(in crate::store::parquet::lake) fn files(&self) -> impl Iterator<Item = &Add> {
        self.files.values()
    }

    /// Returns when the generations that the table had before left it, epoch ms.
    pub(in crate::store::parquet::lake) fn gone(&self) -> &BTreeMap<String, i64> {
        &self.gone
    }

    /// Returns the files of a run.
    pub(in crate::store::parquet::lake) fn of(&self, key: &RunKey) -> Vec<Add> {
        self.files().filter(|file| file.key().as_ref() == Some(key)).cloned().collect()
    }
}

/// The log of a table.
pub(in crate::store::parquet::lake) struct Log<'a> {
    pub(in crate::store::parquet::lake) bucket: &'a Bucket,
    pub(in crate::store::parquet::lake) table: Table,
}

impl Log<'_> {
    fn folder(&self) -> String {
        format!("{}/_delta_log", self.table.name())
    }

    fn entry(&self, version: u64) -> String {
        format!("{}/{version:020}.json", self.folder())
    }

    /// Reads what came to the log since `snapshot`.
    ///
    /// # Errors
    /// If another program made the table, or changed it so that perfpipe can't read it.
    pub(in crate::store::parquet::lake) fn advance(&self, snapshot: &mut Snapshot) -> Result<()> {
        let mut versions = Vec::new();
        for (name, _) in self.bucket.list(&self.folder())? {
            let version = name.rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
            versions
                .extend(version.filter(|version| version.len() == 20).and_then(|v| v.parse::<u64>().ok()));
        }
        versions.retain(|version| *version >= snapshot.next);
        versions.sort_unstable();
        if versions.iter().zip(snapshot.next..).any(|(version, expected)| *version != expected) {
            return Err(
                self.foreign("the beginning of its log is gone, as after another program tidied it up")
            );
        }
        let names: Vec<String> = versions.iter().map(|version| self.entry(*version)).collect();
        for (name, entry) in names.iter().zip(self.bucket.get_all(&names)?) {
            let entry = entry.ok_or_else(|| self.foreign("an entry of its log is gone"))?;
            self.apply(snapshot, name, &entry)?;
        }
        Ok(())
    }

    fn apply(&self, snapshot: &mut Snapshot, name: &str, entry: &[u8]) -> Result<()> {
        for line in entry.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                Error::store(format!("reading {}", self.bucket.shown(name).display()), error)
            })?;
            self.check(&line)?;
            if let Some(remove) = line.remove {
                let since = remove.deletion_timestamp.unwrap_or_default();
                snapshot.gone.insert(generation_of(&remove.path).to_owned(), since);
                snapshot.files.remove(&remove.path);
            }
            if let Some(add) = line.add {
                snapshot.files.insert(add.path.clone(), add);
            }
        }
        snapshot.next += 1;
        Ok(())
    }

    /// Fails if the table is not perfpipe's, or of a newer version.
    fn check(&self, line: &Line) -> Result<()> {
        if let Some(protocol) = &line.protocol
            && (protocol.min_reader_version > READER || protocol.min_writer_version > WRITER)
        {
            return Err(self.foreign(&format!(
                "it has version {}.{} of Delta Lake's protocol, and this perfpipe knows {READER}.{WRITER}",
                protocol.min_reader_version, protocol.min_writer_version
            )));
        }
        let Some(meta_data) = &line.meta_data else { return Ok(()) };
        match meta_data.configuration.get(LAYOUT).map(String::as_str) {
            Some(NEWEST) => Ok(()),
            Some(other) => {
                let problem = format!("its layout is {other}, and this perfpipe knows layout {NEWEST}");
                Err(self.foreign(&problem))
            }
            None => Err(self.foreign("perfpipe did not make it")),
        }
    }

    /// Makes the table, if there is none.
    pub(in crate::store::parquet::lake) fn create(&self) -> Result<()> {
        self.bucket.put_new(&self.entry(0), text(&creation(self.table))?).map(drop)
    }

    /// Takes files out of the table and puts others in, in one step. Returns false, and changes nothing, if others have
    /// changed the table since `next` was read.
    pub(in crate::store::parquet::lake) fn commit(
        &self,
        snapshot: &Snapshot,
        removed: Vec<Add>,
        added: Vec<Add>,
    ) -> Result<bool> {
        let (entry, text) = (self.entry(snapshot.next), text(&change(removed, added))?);
        if self.bucket.put_new(&entry, text.clone())? {
            return Ok(true);
        }
        // If the answer to the first attempt was lost, the second one found what the first had written.
        Ok(self.bucket.get(&entry)?.is_some_and(|found| found == text))
    }

    fn foreign(&self, problem: &str) -> Error {
        let place = self.bucket.shown(self.table.name());
        Error::refused(
            ErrorKind::TableForeign,
            format!("{} can't be used: {problem}", place.display()),
            "Name another folder of the bucket, or use the version of perfpipe that made this one.",
        )
    }
}

fn text(lines: &[Line]) -> Result<Bytes> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line).map_err(|error| Error::store("writing a commit", error))?;
        text.push(b'\n');
    }
    Ok(text.into())
}
