//! The log of a table: how it is read, and how the table is changed.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::bucket::Bucket;
use super::action::{Add, LAYOUT, Line, NEWEST, READER, WRITER, change, creation};
use super::checkpoint;
use super::columns::Table;
use super::snapshot::Snapshot;
use crate::error::{Error, ErrorKind, Result};

/// What names the last checkpoint.
#[derive(Serialize, Deserialize)]
struct Last {
    version: u64,
    /// The number of its rows.
    size: usize,
    /// The number of its files, if there are several. perfpipe reads and writes single ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<u64>,
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
    pub(in crate::store::parquet::lake) fn advance(&self, snapshot: &mut Snapshot) -> Result<()> {
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
        for (name, entry) in names.iter().zip(self.bucket.get_all(&names)?) {
            let entry = entry.ok_or_else(|| self.foreign("an entry of its log is gone"))?;
            snapshot.apply(self.lines(name, &entry)?);
            snapshot.next += 1;
        }
        Ok(())
    }

    /// Returns the versions that the log has from one on, ascending.
    fn versions(&self, first: u64) -> Result<Vec<u64>> {
        let before = first.checked_sub(1).map(|version| self.entry(version));
        let mut versions = Vec::new();
        for (name, _) in self.bucket.list_after(&self.folder(), before.as_deref())? {
            let version = name.rsplit('/').next().and_then(|name| name.strip_suffix(".json"));
            let version = version.filter(|version| version.len() == 20).and_then(|v| v.parse::<u64>().ok());
            // Some servers list all of a folder, whatever name they are told to begin after.
            versions.extend(version.filter(|version| *version >= first));
        }
        versions.sort_unstable();
        Ok(versions)
    }

    fn lines(&self, name: &str, entry: &[u8]) -> Result<Vec<Line>> {
        let is_full = |line: &&[u8]| !line.trim_ascii().is_empty();
        let parse = |line| -> Result<Line> {
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                Error::store(format!("reading {}", self.bucket.shown(name).display()), error)
            })?;
            self.check(&line)?;
            Ok(line)
        };
        entry.split(|byte| *byte == b'\n').filter(is_full).map(parse).collect()
    }

    /// Returns the table as its last checkpoint has it; `None` if there is none that can be read. Then the log is read
    /// from its beginning.
    fn restored(&self) -> Result<Option<Snapshot>> {
        let Some(last) = self.bucket.get(&self.last())? else { return Ok(None) };
        let Ok(Last { version, parts: None, .. }) = serde_json::from_slice(&last) else { return Ok(None) };
        let Some(content) = self.bucket.get(&self.checkpoint(version))? else { return Ok(None) };
        let Some(lines) = checkpoint::read(content) else { return Ok(None) };
        lines.iter().try_for_each(|line| self.check(line))?;
        let mut snapshot = Snapshot::default();
        snapshot.apply(lines);
        snapshot.next = version + 1;
        snapshot.mark();
        Ok(snapshot.is_whole().then_some(snapshot))
    }

    /// Writes a checkpoint of what the table holds.
    pub(in crate::store::parquet::lake) fn write_checkpoint(&self, snapshot: &mut Snapshot) -> Result<()> {
        let Some(version) = snapshot.next.checked_sub(1) else { return Ok(()) };
        let (content, size) = checkpoint::write(snapshot)?;
        let last = serde_json::to_vec(&Last { version, size, parts: None });
        let last = last.map_err(|error| Error::store("writing a checkpoint", error))?;
        for (name, content) in [(self.checkpoint(version), content), (self.last(), last.into())] {
            let put = self.bucket.put(&name, content);
            put.map_err(|error| Error::io(&*self.bucket.shown(&name), error))?;
        }
        snapshot.mark();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::key::RunKey;
    use crate::store::parquet::lake::delta::snapshot::EVERY;

    fn bucket(folder: &tempfile::TempDir) -> Bucket {
        Bucket::open(&format!("file://{}", folder.path().display()), &[]).unwrap()
    }

    /// A file of a run, whose generation is the number of its commit.
    fn file(run: u64, generation: u64) -> Add {
        let (key, name) = (RunKey::new("go", format!("t{run}")), format!("run-{generation}"));
        Add::new(&key, &name, &format!("generation={name}/x"), generation)
    }

    /// Commits: each replaces the file of one of ten runs. Writes checkpoints as they are due.
    fn commit(log: &Log<'_>, generations: std::ops::Range<u64>) {
        let mut snapshot = Snapshot::default();
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

    fn now(log: &Log<'_>) -> Result<(u64, Vec<String>)> {
        let mut snapshot = Snapshot::default();
        log.advance(&mut snapshot)?;
        Ok((snapshot.next, snapshot.files().map(|file| file.path.clone()).collect()))
    }

    #[test]
    fn log_is_read_from_its_last_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = bucket(&folder);
        let log = Log { bucket: &bucket, table: Table::Cpu };
        log.create().unwrap();
        commit(&log, 0..2 * EVERY + 5);
        let found = now(&log).unwrap();
        assert_eq!((found.0, found.1.len()), (2 * EVERY + 6, 10));
        // Whoever tidies the log up removes what the checkpoint has.
        let entries: Vec<String> = (0..2 * EVERY).map(|version| log.entry(version)).collect();
        let before = bucket.get_all(&entries).unwrap();
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
}
