//! The log of a table: how it is read, and how the table is changed.

use std::fmt::Display;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::bucket::{Bucket, ReadLimits, outcome_unknown};
use super::action::{
    AddFile, LAYOUT, LogLine, MetaData, NEWEST, READER, TableSnapshot, WRITER, change, creation,
};
use super::checkpoint;
use super::columns::LakeTable;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// The versions of Delta Lake are below this one.
const LAST: u64 = i64::MAX as u64;

/// How entries are read. perfpipe writes some KB, and others hardly more than some MB.
const ENTRIES: ReadLimits = ReadLimits { at_once: 128, small: 256 << 10, most: 16 << 20 };

/// The largest checkpoint that is read, in bytes, and the largest file that names it.
const CHECKPOINT: u64 = 128 << 20;
const POINTER: u64 = 64 << 10;

/// What names the last checkpoint.
#[derive(Serialize, Deserialize)]
struct LastCheckpoint {
    version: u64,
    /// The number of its rows.
    size: usize,
    /// The number of its files, if there are several. perfpipe reads and writes single ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<u64>,
    /// CRC-32 (IEEE) of the checkpoint, where perfpipe wrote it.
    #[serde(rename = "perfpipe.crc32", default, skip_serializing_if = "Option::is_none")]
    crc32: Option<u32>,
}

/// The log of a table.
pub(crate) struct TableLog<'a> {
    pub(crate) bucket: &'a Bucket,
    pub(crate) table: LakeTable,
}

impl TableLog<'_> {
    fn folder(&self) -> String {
        format!("{}/_delta_log", self.table.name())
    }

    fn entry(&self, version: u64) -> String {
        format!("{}/{version:020}.json", self.folder())
    }

    fn checkpoint(&self, version: u64) -> String {
        format!("{}/{version:020}.checkpoint.parquet", self.folder())
    }

    /// The file that names the last checkpoint.
    fn last(&self) -> String {
        format!("{}/_last_checkpoint", self.folder())
    }

    /// Reads what came to the log since `snapshot`, from the last checkpoint on if nothing is known yet.
    ///
    /// # Errors
    /// If another program made the table, or changed it so that perfpipe can't read it.
    pub(crate) fn advance(&self, snapshot: &mut TableSnapshot) -> Result<()> {
        if !snapshot.is_there() {
            *snapshot = self.restored()?.unwrap_or_default();
        }
        let versions = self.versions(snapshot.next)?;
        if versions.iter().zip(snapshot.next..).any(|(version, expected)| *version != expected) {
            return Err(
                self.foreign("the beginning of its log is gone, as after another program tidied it up")
            );
        }
        let names: Vec<String> = versions.iter().map(|version| self.entry(*version)).collect();
        let mut follow = |name: &str, entry: Option<Bytes>| {
            let entry = entry.ok_or_else(|| self.foreign("an entry of its log is gone"))?;
            if let Some(path) = snapshot.apply(self.lines(name, &entry)?) {
                return Err(self.damaged(name, format!("it removes {path}, which the table does not have")));
            }
            snapshot.next = snapshot.next.saturating_add(1);
            Ok(())
        };
        let read = self.bucket.get_each(&names, ENTRIES, &mut follow);
        let read = read.and_then(|()| match snapshot.is_there() && !snapshot.is_whole() {
            true => Err(self.foreign("perfpipe did not make it")),
            false => Ok(()),
        });
        // What was read of an entry is no table.
        read.inspect_err(|_| *snapshot = TableSnapshot::default())
    }

    /// Returns the versions that the log has from one on, ascending.
    fn versions(&self, first: u64) -> Result<Vec<u64>> {
        let before = first.checked_sub(1).map(|version| self.entry(version));
        let mut versions = Vec::new();
        for found in self.bucket.list_after(&self.folder(), before.as_deref())? {
            let version = found.name.rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
            let version = version.filter(|version| version.len() == 20).and_then(|v| v.parse::<u64>().ok());
            // Some servers list all of a folder, whatever name they are asked to begin after.
            versions.extend(version.filter(|version| *version >= first));
        }
        versions.sort_unstable();
        Ok(versions)
    }

    /// Returns the lines of an entry.
    ///
    /// # Errors
    /// If one is none of the protocol, or there is none: every commit has at least one.
    fn lines(&self, name: &str, entry: &[u8]) -> Result<Vec<LogLine>> {
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(entry.split_inclusive(|byte| *byte == b'\n')) {
            if text.trim_ascii().is_empty() {
                continue;
            }
            let damaged = |problem: &dyn Display| self.damaged(name, format!("line {number}: {problem}"));
            let line: LogLine = serde_json::from_slice(text).map_err(|error| damaged(&error))?;
            self.check(&line)?;
            if let Some(fault) = line.fault(self.table) {
                return Err(damaged(&fault));
            }
            let crc32 = line.commit_info.as_ref().and_then(|info| info.crc32);
            if lines.is_empty() && crc32.is_some_and(|crc32| crc32 != of_rest(entry, text.len())) {
                return Err(self.damaged(name, "its checksum does not match"));
            }
            lines.push(line);
        }
        if lines.is_empty() { Err(self.damaged(name, "it is empty")) } else { Ok(lines) }
    }

    /// Returns the table as its last checkpoint has it; `None` if there is none that can be read. Then the log is read
    /// from its beginning.
    fn restored(&self) -> Result<Option<TableSnapshot>> {
        let Some(last) = self.optional(&self.last(), POINTER)? else { return Ok(None) };
        let Ok(LastCheckpoint { version, parts: None, crc32, .. }) = serde_json::from_slice(&last) else {
            return Ok(None);
        };
        let next = version.checked_add(1).filter(|next| *next < LAST);
        let Some(next) = next else { return Ok(None) };
        let Some(content) = self.optional(&self.checkpoint(version), CHECKPOINT)? else { return Ok(None) };
        if crc32.is_some_and(|crc32| crc32 != crc32fast::hash(&content)) {
            return Ok(None);
        }
        let Some(lines) = checkpoint::read(content) else { return Ok(None) };
        lines.iter().try_for_each(|line| self.check(line))?;
        if lines.iter().any(|line| line.add.as_ref().is_some_and(|add| add.fault(self.table).is_some())) {
            return Ok(None);
        }
        let mut snapshot = TableSnapshot::default();
        let _ = snapshot.apply(lines);
        snapshot.next = next;
        snapshot.mark();
        Ok(snapshot.is_whole().then_some(snapshot))
    }

    /// Reads an object without which the table can be read too; `None` if it is missing or too large.
    fn optional(&self, name: &str, most: u64) -> Result<Option<Bytes>> {
        match self.bucket.get(name, most) {
            Err(Error::Store { .. }) => Ok(None),
            found => found,
        }
    }

    /// Writes a checkpoint of the files that the table has.
    pub(crate) fn write_checkpoint(&self, snapshot: &mut TableSnapshot) -> Result<()> {
        let Some(version) = snapshot.next.checked_sub(1) else { return Ok(()) };
        let (content, size) = checkpoint::write(snapshot)?;
        let last = LastCheckpoint { version, size, parts: None, crc32: Some(crc32fast::hash(&content)) };
        let last = serde_json::to_vec(&last).map_err(|error| Error::store("writing a checkpoint", error))?;
        for (name, content) in [(self.checkpoint(version), content), (self.last(), last.into())] {
            let put = self.bucket.put(&name, content);
            put.map_err(|error| Error::io(&*self.bucket.shown(&name), error))?;
        }
        snapshot.mark();
        Ok(())
    }

    /// Fails if the table is not perfpipe's, or of a newer version.
    fn check(&self, line: &LogLine) -> Result<()> {
        if let Some(protocol) = &line.protocol
            && (protocol.min_reader_version > READER || protocol.min_writer_version > WRITER)
        {
            return Err(self.foreign(&format!(
                "it has version {}.{} of Delta Lake's protocol, and this perfpipe knows {READER}.{WRITER}",
                protocol.min_reader_version, protocol.min_writer_version
            )));
        }
        let Some(meta_data) = &line.meta_data else { return Ok(()) };
        match meta_data.configuration.get(LAYOUT).and_then(Option::as_deref) {
            Some(NEWEST) => Ok(()),
            Some(other) => {
                let problem = format!("its layout is {other}, and this perfpipe knows layout {NEWEST}");
                Err(self.foreign(&problem))
            }
            None => Err(self.foreign("perfpipe did not make it")),
        }
    }

    /// Makes the table, if there is none.
    pub(crate) fn create(&self) -> Result<()> {
        self.bucket.put_new(&self.entry(0), text(creation(self.table))?).map(drop)
    }

    /// Removes files from the table and adds others, in one step. Returns false, and changes nothing, if others have
    /// changed the table since `next` was read. Files of this version may have columns that the table of an earlier one
    /// lacks: it gets them in the same step.
    ///
    /// # Errors
    /// Of the kind `CommitUnknown` if it is not known whether the table was changed.
    pub(crate) fn commit(
        &self,
        snapshot: &TableSnapshot,
        removed: Vec<AddFile>,
        added: Vec<AddFile>,
    ) -> Result<bool> {
        let found = snapshot.meta_data.as_ref().filter(|_| !added.is_empty());
        let wider = found.and_then(|found| {
            let schema_string = self.table.widened(&found.schema_string)?;
            Some(LogLine {
                meta_data: Some(MetaData { schema_string, ..found.clone() }),
                ..LogLine::default()
            })
        });
        let lines: Vec<LogLine> = change(removed, added).into_iter().chain(wider).collect();
        let (entry, text) = (self.entry(snapshot.next), text(lines)?);
        if self.bucket.put_new(&entry, text.clone())? {
            return Ok(true);
        }
        // If the answer to the first attempt was lost, the second one found what the first had written.
        match self.bucket.get(&entry, text.len() as u64) {
            Err(Error::Store { .. }) => Ok(false),
            Err(error) => Err(outcome_unknown(&error)),
            found => Ok(found?.is_some_and(|found| found == text)),
        }
    }

    fn damaged(&self, name: &str, problem: impl Into<String>) -> Error {
        Error::store(format!("reading {}", self.bucket.shown(name).display()), problem.into())
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

/// Returns the text of an entry, whose first line has the checksum of the others.
fn text(lines: Vec<LogLine>) -> Result<Bytes> {
    let failed = |error| Error::store("writing a commit", error);
    let mut lines = lines.into_iter();
    let mut first = lines.next().unwrap_or_default();
    let mut rest = vec![b'\n'];
    for line in lines {
        serde_json::to_writer(&mut rest, &line).map_err(failed)?;
        rest.push(b'\n');
    }
    if let Some(info) = &mut first.commit_info {
        info.crc32 = Some(of_rest(&rest, 1));
    }
    let mut text = serde_json::to_vec(&first).map_err(failed)?;
    text.append(&mut rest);
    Ok(text.into())
}

/// Returns the checksum of an entry from a byte on.
fn of_rest(entry: &[u8], from: usize) -> u32 {
    crc32fast::hash(entry.get(from..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::lake::delta::action::EVERY;
    use perfpipe_model::run::key::RunKey;

    fn bucket(folder: &tempfile::TempDir) -> Bucket {
        Bucket::open(&format!("file://{}", folder.path().display()), &[]).unwrap()
    }

    /// A file of a run, whose generation is the number of its commit.
    fn file(run: u64, generation: u64) -> AddFile {
        let (key, name) = (RunKey::new("go", format!("t{run}")), format!("run-{generation}"));
        AddFile::new(&key, &name, &format!("generation={name}/x"), generation)
    }

    /// Commits: each replaces the file of one of ten runs. Writes checkpoints as they are due.
    fn commit(log: &TableLog<'_>, generations: std::ops::Range<u64>) {
        let mut snapshot = TableSnapshot::default();
        for generation in generations {
            log.advance(&mut snapshot).unwrap();
            if snapshot.is_long() {
                log.write_checkpoint(&mut snapshot).unwrap();
            }
            let removed = snapshot.of(&RunKey::new("go", format!("t{}", generation % 10)));
            let added = vec![file(generation % 10, generation)];
            assert!(log.commit(&snapshot, removed, added).unwrap());
        }
    }

    fn now(log: &TableLog<'_>) -> Result<(u64, Vec<String>)> {
        let mut snapshot = TableSnapshot::default();
        log.advance(&mut snapshot)?;
        Ok((snapshot.next, snapshot.files().map(|file| file.path.clone()).collect()))
    }

    #[test]
    fn log_is_read_from_its_last_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = bucket(&folder);
        let log = TableLog { bucket: &bucket, table: LakeTable::Cpu };
        log.create().unwrap();
        commit(&log, 0..2 * EVERY + 5);
        let found = now(&log).unwrap();
        assert_eq!((found.0, found.1.len()), (2 * EVERY + 6, 10));
        // A program that cleans up the log removes what the checkpoint has.
        let entries: Vec<String> = (0..2 * EVERY).map(|version| log.entry(version)).collect();
        let before: Vec<_> = entries.iter().map(|name| bucket.get(name, u64::MAX).unwrap()).collect();
        bucket.delete(&entries).unwrap();
        assert_eq!(now(&log).unwrap(), found);
        commit(&log, 300..301);
        assert_eq!(now(&log).unwrap().0, found.0 + 1);
        // A checkpoint that can't be read is needed no more than none.
        for name in [log.checkpoint(2 * EVERY - 1), log.last()] {
            bucket.put(&name, Bytes::from_static(b"PAR1")).unwrap();
            assert_eq!(now(&log).unwrap_err().kind(), ErrorKind::TableForeign);
        }
        for (name, entry) in entries.iter().zip(before) {
            bucket.put(name, entry.unwrap()).unwrap();
        }
        assert_eq!(now(&log).unwrap().0, found.0 + 1);
    }

    #[test]
    fn any_changed_bit_of_an_entry_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = bucket(&folder);
        let log = TableLog { bucket: &bucket, table: LakeTable::Cpu };
        log.create().unwrap();
        commit(&log, 0..12);
        let (name, expected) = (log.entry(12), now(&log).unwrap());
        let entry = bucket.get(&name, u64::MAX).unwrap().unwrap();
        let put = |content: Vec<u8>| bucket.put(&name, content.into()).unwrap();
        for at in 0..entry.len() {
            for bit in [1, 8, 64] {
                let mut changed = entry.to_vec();
                changed[at] ^= bit;
                put(changed);
                // Of who made the commit, other programs write what they like.
                assert!(now(&log).is_err() || now(&log).unwrap() == expected, "{at} {bit}");
            }
            put(entry[..at].to_vec());
            assert!(now(&log).is_err(), "{at}");
        }
    }

    #[test]
    fn changed_checkpoint_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = bucket(&folder);
        let log = TableLog { bucket: &bucket, table: LakeTable::Cpu };
        log.create().unwrap();
        commit(&log, 0..EVERY + 1);
        let (name, expected) = (log.checkpoint(EVERY - 1), now(&log).unwrap());
        let content = bucket.get(&name, u64::MAX).unwrap().unwrap();
        for at in (0..content.len()).step_by(97) {
            let mut changed = content.to_vec();
            changed[at] ^= 4;
            bucket.put(&name, changed.into()).unwrap();
            assert_eq!(now(&log).unwrap(), expected, "{at}");
        }
    }
}
