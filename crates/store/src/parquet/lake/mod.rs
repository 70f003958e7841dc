//! The store in a bucket: tables of Delta Lake, in which each run has a generation of files.
//!
//! ```text
//! URL/runs/_delta_log/VERSION.json      which generation of a run is current; a run appears by the commit to this table
//! URL/runs/_delta_log/VERSION.checkpoint.parquet   what the table has after this commit, after every hundred or so
//! URL/TABLE/_delta_log/VERSION.json     the same for samples, seconds, cpu, series, errors, labels, rejects, tags
//! URL/TABLE/generation=NAME/*.parquet   the files of a generation of a run
//! URL/points/                           points of sweeps, see `points.rs`
//! URL/parts/                            parts of runs until they are merged, see `parts.rs`
//! URL/manifests/GENERATION.json         the run's own row, and the checksums of its files
//! URL/manifests/packs/*.jsonl.zst       the same of many runs, so that a list of runs needs few requests
//! URL/manifests/written-once, clock     what shows whether the bucket knows conditional writes, and its time
//! ```
//!
//! perfpipe itself finds a run by the table `runs` and its manifest, so it never sees two generations, or half of one.
//! The other tables' logs are for other programs. A writer puts its generation into them before it commits to `runs`, and
//! then, whether that succeeded or not, sees to it that they have what `runs` has. In each table one commit removes the
//! earlier generation and adds the new one. The files of an earlier generation stay for those who read them.

mod bucket;
mod delta;
mod draft;
mod generation;
mod parts;
mod points;
mod repair;
mod tables;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) use self::bucket::is_bucket;
pub(super) use self::draft::LakeDraft;
pub(super) use self::generation::RunGeneration;
pub(super) use self::parts::LakeParts;
pub(super) use self::tables::{read_rejects, write_rejects, write_tags};

use self::bucket::{Bucket, ReadLimits, change_made, change_not_made, change_perhaps_made};
use self::delta::{AddFile, LakeTable, TableLog, TableSnapshot, path_of};
use self::generation::RunSlot;
use super::folder::manifest::{Manifest, is_generation};
use super::samples::piece_of;
use super::tables::{OPTIONAL, REJECT_TABLE, RUN, SMALL};
use crate::RunRef;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;

/// The folder of the manifests.
const MANIFESTS: &str = "manifests";

/// How manifests are read: most have some KB, and the largest are of runs with a TB of samples.
const MANIFEST: ReadLimits = ReadLimits { at_once: 128, small: 256 << 10, most: 16 << 20 };

/// The number of runs of a test up to which their manifests are read one by one, although there are packs of all.
const FEW: usize = 100;

/// How often a commit is tried while other writers commit to the same table.
const ATTEMPTS: usize = 1000;

/// A store in a bucket. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Lake {
    bucket: Bucket,
    /// What is known of the tables.
    known: Arc<Mutex<BTreeMap<LakeTable, TableSnapshot>>>,
}

impl Lake {
    /// Opens the store at a URL, and asks nothing yet.
    pub(super) fn open(url: &str, settings: &[(String, String)]) -> Result<Self> {
        Ok(Self { bucket: Bucket::open(url, settings)?, known: Arc::default() })
    }

    pub(super) fn path(&self) -> &Path {
        Path::new(self.bucket.url())
    }

    /// Fails if the folder holds another program's tables, or something else.
    pub(super) fn check_layout(&self) -> Result<()> {
        if self.with(LakeTable::Runs, |runs| Ok(runs.is_there()))? {
            return Ok(());
        }
        // Another writer may be making the tables.
        let own = |name: &String| name == MANIFESTS || LakeTable::all().any(|table| name == table.name());
        if self.bucket.entries()?.iter().all(own) {
            return Ok(());
        }
        Err(Error::refused(
            ErrorKind::NotAStore,
            format!("{} is not a perfpipe store, and not empty", self.bucket.url()),
            "Name another folder of the bucket.",
        ))
    }

    /// Returns true if there is a store, even if what its runs are can't be read.
    pub(super) fn is_there(&self) -> Result<bool> {
        match self.with(LakeTable::Runs, |runs| Ok(runs.is_there())) {
            Err(Error::Store { .. }) => Ok(true),
            is_there => is_there,
        }
    }

    /// Makes the tables that are missing, that of the runs at last: it shows that all are there.
    fn create(&self) -> Result<()> {
        self.check_layout()?;
        if self.is_there()? {
            return Ok(());
        }
        LakeTable::all().try_for_each(|table| self.log(table).create().map_err(change_not_made))
    }

    fn log(&self, table: LakeTable) -> TableLog<'_> {
        TableLog { bucket: &self.bucket, table }
    }

    /// Looks at a table as it is now.
    fn with<T>(&self, table: LakeTable, look: impl FnOnce(&TableSnapshot) -> Result<T>) -> Result<T> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = known.entry(table).or_default();
        self.log(table).advance(snapshot)?;
        look(snapshot)
    }

    /// Returns the current generation of a run or part.
    fn current(&self, slot: &RunSlot) -> Result<Option<String>> {
        let generation = |found: &AddFile| found.generation().to_owned();
        self.with(slot.table(), |snapshot| Ok(slot.of(snapshot).first().map(generation)))
    }

    fn manifest_name(generation: &str) -> String {
        format!("{MANIFESTS}/{generation}.json")
    }

    /// Reads the manifest of a generation of a run.
    fn manifest_of(&self, generation: &str, key: &RunKey, text: Option<&[u8]>) -> Result<Manifest> {
        let name = Self::manifest_name(generation);
        let path = self.bucket.shown(&name);
        let missing = || Error::store(format!("reading {}", path.display()), "the manifest of a run is gone");
        let manifest = Manifest::of(&path, text.ok_or_else(missing)?)?;
        let problem = match manifest.files.keys().find(|name| !is_file_of_run(name)) {
            Some(name) => format!("it names the file {name}, and perfpipe gives no such name"),
            None if *key == manifest.info.key && manifest.generation == generation => return Ok(manifest),
            None => "it is of another run".to_owned(),
        };
        Err(Error::store(format!("reading {}", path.display()), problem))
    }

    /// Returns the keys of the stored runs.
    pub(super) fn keys(&self) -> Result<Vec<RunKey>> {
        self.with(LakeTable::Runs, |runs| Ok(runs.files().filter_map(AddFile::key).collect()))
    }

    /// Returns what `keep` returns of the manifests of all runs, or of those of a test: of each, or the error of reading
    /// it.
    pub(super) fn manifests<T>(
        &self,
        test: Option<&str>,
        keep: impl Fn(Manifest) -> T,
    ) -> Result<Vec<Result<T>>> {
        let (mut wanted, doubled): (HashMap<String, RunKey>, _) = self.with(LakeTable::Runs, |runs| {
            let doubled = runs.doubled();
            let files = runs.files().filter(|file| test.is_none_or(|test| file.test() == test));
            let rows = files.map(|file| (file.generation().to_owned(), file.key_or_none()));
            Ok((rows.filter(|(_, key)| !doubled.contains(key)).collect(), doubled))
        })?;
        let mut kept = Vec::with_capacity(wanted.len());
        let doubled = doubled.iter().filter(|key| test.is_none_or(|test| key.test == test));
        kept.extend(doubled.map(|key| Err(self.doubled(LakeTable::Runs, key))));
        if test.is_none() || wanted.len() > FEW {
            self.packed(&mut |manifest| {
                let is_own = manifest.files.keys().all(|name| is_file_of_run(name));
                if is_own && wanted.get(&manifest.generation) == Some(&manifest.info.key) {
                    wanted.remove(&manifest.generation);
                    kept.push(Ok(keep(manifest)));
                }
            })?;
        }
        let mut rest: Vec<(String, RunKey)> = wanted.into_iter().collect();
        rest.sort_unstable();
        let names: Vec<String> = rest.iter().map(|(name, _)| Self::manifest_name(name)).collect();
        let mut rest = rest.iter();
        self.bucket.get_each(&names, MANIFEST, &mut |_, text| {
            let next = rest.next();
            kept.extend(
                next.map(|(generation, key)| self.manifest_of(generation, key, text.as_deref()).map(&keep)),
            );
            Ok(())
        })?;
        Ok(kept)
    }

    /// Returns the error for a run or part of which its table has several rows.
    fn doubled(&self, table: LakeTable, key: &RunKey) -> Error {
        let what = format!("reading {}", self.bucket.shown(table.name()).display());
        Error::store(what, format!("it has more than one row of {key}, and perfpipe writes one"))
    }

    /// Returns where the files of a run are, and its manifest; `None` if it is not stored.
    pub(super) fn find(&self, key: &RunKey) -> Result<Option<(RunGeneration, Manifest)>> {
        self.find_in(&RunSlot::run(key))
    }

    /// Returns where the files of a run or part are, and its manifest; `None` if it is not stored.
    fn find_in(&self, slot: &RunSlot) -> Result<Option<(RunGeneration, Manifest)>> {
        let rows = self.with(slot.table(), |snapshot| Ok(slot.of(snapshot)))?;
        if rows.len() > 1 {
            return Err(self.doubled(slot.table(), &slot.key));
        }
        rows.first().map(|file| self.open_at(file)).transpose()
    }

    /// Returns where the files of the run or part with this row are, and its manifest.
    fn open_at(&self, file: &AddFile) -> Result<(RunGeneration, Manifest)> {
        let text = self.bucket.get(&Self::manifest_name(file.generation()), MANIFEST.most)?;
        let manifest = self.manifest_of(file.generation(), &file.key_or_none(), text.as_deref())?;
        let is_part = file.part().is_some();
        Ok((RunGeneration::new(self.bucket.clone(), file.generation(), is_part), manifest))
    }

    /// Returns the stored repeats of a key's framework and test, ascending.
    pub(super) fn repeats(&self, key: &RunKey) -> Result<Vec<u32>> {
        self.with(LakeTable::Runs, |runs| {
            let keys = runs.files().filter_map(AddFile::key);
            let same = keys.filter(|found| found.framework == key.framework && found.test == key.test);
            let mut repeats: Vec<u32> = same.map(|found| found.repeat).collect();
            repeats.sort_unstable();
            Ok(repeats)
        })
    }

    /// Removes a run; returns false if it is not stored.
    pub(super) fn drop_run(&self, wanted: RunRef<'_>) -> Result<bool> {
        let key = wanted.key();
        let slot = RunSlot::run(key);
        let Some(generation) = self.current(&slot)? else { return Ok(false) };
        match self.find(key) {
            Ok(Some((_, stored))) => wanted.check(&stored.info)?,
            // An unreadable run can be dropped too.
            Err(Error::Store { .. }) => {}
            other => return other.map(|_| false),
        }
        let shown = match self.show(&slot, Some(&generation), Vec::new()) {
            Err(error) if error.kind() == ErrorKind::CommitUnknown => match self.current(&slot) {
                Ok(now) if now.as_ref() == Some(&generation) => return Err(change_not_made(error)),
                Ok(_) => Some(Vec::new()),
                Err(_) => return Err(change_perhaps_made(&format!("the run {key} may be dropped"), &error)),
            },
            shown => shown?,
        };
        if shown.is_none() {
            return Err(busy(&slot));
        }
        self.settle(&slot).map_err(|error| change_made(&format!("the run {key} is dropped"), &error))?;
        Ok(true)
    }

    /// Makes these files those of a run or part in its table, unless its generation is no longer `seen`. Returns those that
    /// it had before; `None` if another writer has changed it.
    ///
    /// # Errors
    /// Of the kind `CommitUnknown` if it is not known whether the table was changed.
    fn show(&self, slot: &RunSlot, seen: Option<&str>, added: Vec<AddFile>) -> Result<Option<Vec<AddFile>>> {
        let before = RefCell::new(Vec::new());
        let is_done = self.change(slot.table(), |snapshot| {
            let removed = slot.of(snapshot);
            let same = removed.first().map(AddFile::generation) == seen;
            before.borrow_mut().clone_from(&removed);
            same.then(|| (removed, added.clone()))
        })?;
        Ok(is_done.then(|| before.take()))
    }

    /// Removes files from a table and adds others, in one step, which begins again where others changed it meanwhile.
    /// Makes the table if there is none. Returns false if `plan` wants no change.
    fn change(
        &self,
        table: LakeTable,
        plan: impl Fn(&TableSnapshot) -> Option<(Vec<AddFile>, Vec<AddFile>)>,
    ) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let done = self.with(table, |snapshot| {
                if !snapshot.is_there() {
                    return self.log(table).create().map(|()| None);
                }
                let Some((removed, added)) = plan(snapshot) else { return Ok(Some(false)) };
                Ok(self.log(table).commit(snapshot, removed, added)?.then_some(true))
            })?;
            if let Some(changed) = done {
                return Ok(changed);
            }
        }
        Err(crowded(table))
    }

    /// Sees to it that all tables have the generation of a run that the table of runs has.
    fn settle(&self, slot: &RunSlot) -> Result<()> {
        let current = || Ok(self.find_in(slot)?.map(|(_, manifest)| manifest));
        slot.facts().try_for_each(|table| self.put(table, &slot.key, &current)).map_err(change_not_made)?;
        self.keep_logs_short();
        Ok(())
    }

    /// Writes checkpoints of the tables whose logs have become long. If that fails, the next writer does it.
    fn keep_logs_short(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (table, snapshot) in known.iter_mut().filter(|(_, snapshot)| snapshot.is_long()) {
            let packed = match table {
                LakeTable::Runs => self.pack(snapshot.next(), snapshot.fresh()),
                _ => Ok(()),
            };
            let _ = packed.and_then(|()| self.log(*table).write_checkpoint(snapshot));
        }
    }

    /// Sees to it that a table has of a run what its manifest names, and nothing else.
    fn put(
        &self,
        table: LakeTable,
        key: &RunKey,
        manifest: &dyn Fn() -> Result<Option<Manifest>>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS {
            // The table is read before the manifest: a commit to the table in between makes this attempt fail.
            let read = self.with(table, |snapshot| Ok(snapshot.next()))?;
            let wanted = manifest()?.map_or_else(Vec::new, |manifest| files_in(table, &manifest));
            if read == 0 {
                if wanted.is_empty() {
                    return Ok(());
                }
                // A store of an earlier version lacks tables that came since.
                self.log(table).create()?;
                continue;
            }
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let snapshot = known.entry(table).or_default();
            if snapshot.next() != read {
                continue;
            }
            let there = snapshot.of(key);
            let lacks = |files: &[AddFile], path: &str| files.iter().all(|file| file.path != path);
            let removed: Vec<AddFile> =
                there.iter().filter(|file| lacks(&wanted, &file.path)).cloned().collect();
            let added: Vec<AddFile> = wanted.into_iter().filter(|file| lacks(&there, &file.path)).collect();
            if (removed.is_empty() && added.is_empty()) || self.log(table).commit(snapshot, removed, added)? {
                return Ok(());
            }
        }
        Err(crowded(table))
    }
}

/// Returns the generation whose manifest an object is, by its name: that of a copy beside it is another.
fn generation_of_manifest(name: &str) -> Option<&str> {
    let name = name.strip_prefix(MANIFESTS)?.strip_prefix('/')?.strip_suffix(".json")?;
    is_generation(name).then_some(name)
}

/// Returns true if perfpipe gives this name to a file of a run or of a part.
fn is_file_of_run(name: &str) -> bool {
    let small = SMALL.into_iter().chain(OPTIONAL).chain([REJECT_TABLE, RUN]);
    small.into_iter().any(|known| known == name) || piece_of(name).is_some()
}

/// Returns the files that a table has of a run.
fn files_in(table: LakeTable, manifest: &Manifest) -> Vec<AddFile> {
    let files = manifest.files.iter().filter(|(name, _)| LakeTable::of_file(name) == table);
    let key = &manifest.info.key;
    let generation = &manifest.generation;
    files
        .map(|(name, sums)| AddFile::new(key, generation, &path_of(generation, name), sums.bytes()))
        .collect()
}

/// Returns the error for a run or part that another writer changed meanwhile.
fn busy(slot: &RunSlot) -> Error {
    Error::refused(
        ErrorKind::RunBusy,
        format!("{slot} was written or dropped by another perfpipe meanwhile"),
        "Look at the stored run, and run the command again if this one is to replace it. Nothing was changed.",
    )
}

fn crowded(table: LakeTable) -> Error {
    let what = format!("committing to the table {}", table.name());
    Error::store(what, format!("others changed it {ATTEMPTS} times meanwhile"))
}

/// The number of manifests in a pack at most, and the largest of them in bytes.
const IN_A_PACK: usize = 1000;
const LARGEST: usize = 64 << 10;

/// How packs are read.
const PACKS: ReadLimits = ReadLimits { at_once: 4, small: 8 << 20, most: 64 << 20 };

/// The size of the largest window of a pack in bytes, as a power of two: what perfpipe writes has 2 MiB.
const WINDOW: u32 = 23;

// Packs of manifests: those of many runs as one object, so that a list of runs needs few requests. What is in no pack, or
// in a damaged one, is read one by one.
impl Lake {
    fn packs() -> String {
        format!("{MANIFESTS}/packs")
    }

    /// Writes packs of the manifests of generations. Their name begins with `version`.
    fn pack(&self, version: u64, generations: &[String]) -> Result<()> {
        for (number, some) in generations.chunks(IN_A_PACK).enumerate() {
            let names: Vec<String> = some.iter().map(|name| Self::manifest_name(name)).collect();
            let mut lines = Vec::new();
            self.bucket.get_each(&names, MANIFEST, &mut |_, text| {
                // Runs may be gone already, and manifests of earlier versions have several lines.
                lines.extend(text.filter(|text| !text.contains(&b'\n') && text.len() <= LARGEST));
                Ok(())
            })?;
            let name = format!("{}/{version:020}-{number:06}.jsonl.zst", Self::packs());
            let path = self.bucket.shown(&name);
            let packed = zstd::stream::encode_all(lines.join(&b'\n').as_slice(), 0);
            let put = packed.and_then(|packed| self.bucket.put(&name, packed.into()));
            put.map_err(|error| Error::io(&*path, error))?;
        }
        Ok(())
    }

    /// Passes all manifests in packs to `each`, also those of runs that are gone.
    fn packed(&self, each: &mut dyn FnMut(Manifest)) -> Result<()> {
        let names: Vec<String> =
            self.bucket.list(&Self::packs())?.into_iter().map(|found| found.name).collect();
        self.bucket.get_each(&names, PACKS, &mut |_, pack| {
            // What follows damage is read one by one.
            let _ = pack.map(|pack| unpack(&pack, each));
            Ok(())
        })
    }
}

/// Passes the manifests of a pack to `each`. No more is unpacked than a pack can have.
fn unpack(pack: &[u8], each: &mut dyn FnMut(Manifest)) -> io::Result<()> {
    let mut unpacked = zstd::stream::read::Decoder::with_buffer(pack)?;
    unpacked.window_log_max(WINDOW)?;
    let mut unpacked = BufReader::new(unpacked);
    let mut line = Vec::new();
    for _ in 0..IN_A_PACK {
        line.clear();
        let length = (&mut unpacked).take(LARGEST as u64 + 1).read_until(b'\n', &mut line)?;
        if length == 0 || (length > LARGEST && !line.ends_with(b"\n")) {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        Manifest::of(Path::new("packs"), text).ok().into_iter().for_each(&mut *each);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use perfpipe_model::run::info::RunInfo;

    #[test]
    fn packs_have_all_manifests_but_those_that_take_several_lines() {
        let folder = tempfile::tempdir().unwrap();
        let lake = Lake::open(&format!("file://{}", folder.path().display()), &[]).unwrap();
        let generations: Vec<String> = (0..2 * IN_A_PACK + 1).map(|run| format!("run-{run}")).collect();
        // The last one is gone.
        for (run, generation) in generations.iter().enumerate().take(2 * IN_A_PACK) {
            let info = RunInfo::new(RunKey::new("go", format!("t{run}")), 0, 0);
            let manifest = Manifest { generation: generation.clone(), files: BTreeMap::new(), info };
            let mut text = manifest.sealed(Path::new("x")).unwrap();
            text.extend_from_slice(if run == 7 { b"\n" } else { b"" });
            lake.bucket.put(&Lake::manifest_name(generation), text.into()).unwrap();
        }
        lake.pack(3, &generations).unwrap();
        let mut packs: Vec<String> =
            lake.bucket.list(&Lake::packs()).unwrap().into_iter().map(|found| found.name).collect();
        packs.sort();
        assert_eq!(packs.len(), 3);
        let found = || {
            let mut found = BTreeSet::new();
            lake.packed(&mut |manifest| assert!(found.insert(manifest.generation))).unwrap();
            found
        };
        let expected: BTreeSet<String> =
            generations.iter().take(2 * IN_A_PACK).filter(|name| *name != "run-7").cloned().collect();
        assert_eq!(found(), expected);
        lake.bucket.put(&packs[0], b"x".as_slice().into()).unwrap();
        assert_eq!(found().len(), IN_A_PACK);
        // What no pack can have is not unpacked: neither one endless manifest nor a million empty ones.
        for lines in [vec![b' '; 50 << 20], b"{}\n".repeat(1 << 20)] {
            let bomb = zstd::stream::encode_all(&*lines, 0).unwrap();
            let mut read = 0;
            unpack(&bomb, &mut |_| read += 1).unwrap();
            assert_eq!(read, 0);
            lake.bucket.put(&packs[0], bomb.into()).unwrap();
            assert_eq!(found().len(), IN_A_PACK);
        }
    }
}
