//! Finds the runs of a store and their files, and names the folder of a run so that it is valid in every file system, also
//! in case-insensitive ones.

use std::fs::{self, DirEntry};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, iter, thread};

use super::manifest::Manifest;
use crate::parallel::{Job, side_by_side};
use crate::parquet::lock::refuse_link;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::key::RunKey;

pub(crate) const MARKER: &str = "perfpipe.json";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const LOCK: &str = ".lock";

/// The file of points.
pub(crate) const POINTS: &str = "points.json";

/// The folder for what `repair` found not to be a complete run.
pub(super) const SET_ASIDE: &str = "set-aside";

/// The maximum number of threads that read manifests.
const READERS: usize = 8;

/// A number of manifests that a thread reads at a time. Starting one takes longer than reading a few.
const FEW: usize = 32;

/// The size in bytes of a text that most manifests fit in.
const TEXT: usize = 8 << 10;

/// What the folder of runs lists: the folder of a run, or a link.
struct RunEntry {
    path: PathBuf,
    is_link: bool,
}

impl RunEntry {
    /// Returns the key that the name contains.
    fn named_key(&self) -> Option<RunKey> {
        key_of(self.path.file_name()?.to_str()?)
    }
}

/// The folder of a store.
#[derive(Debug, Clone)]
pub(crate) struct StoreFolder {
    path: PathBuf,
}

impl StoreFolder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    pub(crate) fn staging(&self) -> PathBuf {
        self.path.join("staging")
    }

    /// Returns the folder of the parts of runs.
    pub(crate) fn parts(&self) -> PathBuf {
        self.path.join("parts")
    }

    /// Returns the folder of a run: the one named by an earlier version if the run is still there.
    pub(super) fn run(&self, key: &RunKey) -> PathBuf {
        let run = self.runs().join(folder_name(key));
        match former_name(key).map(|name| self.runs().join(name)) {
            Some(former) if !has_run(&run, key) && has_run(&former, key) => former,
            _ => run,
        }
    }

    /// Returns the folder of a run's current files. It is beside the manifest, or still in the staging folder if the
    /// writer was stopped just after the run had appeared.
    pub(crate) fn generation(&self, run: &Path, generation: &str) -> PathBuf {
        let (home, staged) = (run.join(generation), self.staging().join(generation));
        if !home.is_dir() && staged.is_dir() { staged } else { home }
    }

    /// Returns true if `run` is the folder that belongs to `key`.
    pub(crate) fn is_home(&self, run: &Path, key: &RunKey) -> bool {
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        let home = folder_name(key);
        *name == home
            || former_name(key).is_some_and(|former| *name == former)
                && !has_run(&self.runs().join(home), key)
    }

    /// Returns the manifest of a run; `None` if it is not stored.
    pub(crate) fn manifest(&self, key: &RunKey) -> Result<Option<Manifest>> {
        self.find(key).map(|found| found.map(|(_, manifest)| manifest))
    }

    /// Returns the folder of a run and its manifest; `None` if it is not stored.
    ///
    /// # Errors
    /// `Refused` if the run's folder holds another run, `Store` if its manifest is damaged.
    pub(crate) fn find(&self, key: &RunKey) -> Result<Option<(PathBuf, Manifest)>> {
        refuse_link(&self.runs())?;
        let run = self.run(key);
        match read_manifest(&run)? {
            Some(manifest) if manifest.info.key != *key => Err(foreign(&run, &manifest)),
            found => Ok(found.map(|manifest| (run, manifest))),
        }
    }

    /// Returns the keys of the stored runs, sorted by name. Manifests are read only where the name of a folder does not
    /// contain the key.
    pub(crate) fn keys(&self) -> Result<Vec<RunKey>> {
        let key = |run: &RunEntry| match run.named_key() {
            Some(key) => has_manifest(&run.path).then_some(key),
            None => Some(read_manifest(&run.path).ok()??.info.key),
        };
        Ok(self.run_entries()?.iter().filter_map(key).collect())
    }

    /// Returns all folders with a manifest, or those of the runs of a test, sorted by name: each with what `keep` returns
    /// of its manifest, or with the error of reading it.
    pub(crate) fn manifests<T: Send>(
        &self,
        test: Option<&str>,
        keep: impl Fn(Manifest) -> T + Sync,
    ) -> Result<Vec<(PathBuf, Result<T>)>> {
        let mut runs = self.run_entries()?;
        if let Some(test) = test {
            let of_test = may_be_of_test(test);
            runs.retain(|run| run.path.file_name().is_none_or(|name| of_test(&name.to_string_lossy())));
        }
        let pieces: Vec<&[RunEntry]> = runs.chunks(FEW).collect();
        let (next, keep) = (AtomicUsize::new(0), &keep);
        let take = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            pieces.get(at).map(|piece| (at, self.manifests_of(piece, keep)))
        };
        let job = |_| -> Job<'_, _> { (MANIFEST, Box::new(|| Ok(iter::from_fn(take).collect::<Vec<_>>()))) };
        // Two a core, since new threads may share one for some ms while another is idle.
        let most = || 2 * thread::available_parallelism().map_or(1, NonZero::get);
        let readers = if pieces.len() > 1 { most().min(READERS).min(pieces.len()) } else { pieces.len() };
        let mut found: Vec<_> =
            side_by_side((0..readers).map(job).collect())?.into_iter().flat_map(|(_, found)| found).collect();
        found.sort_unstable_by_key(|(at, _)| *at);
        // What is kept may be large, so it is moved once.
        let mut all = Vec::with_capacity(runs.len());
        found.into_iter().for_each(|(_, some)| all.extend(some));
        Ok(all)
    }

    fn manifests_of<T>(&self, runs: &[RunEntry], keep: &impl Fn(Manifest) -> T) -> Vec<(PathBuf, Result<T>)> {
        let mut text = Vec::with_capacity(TEXT);
        let mut read = |run: &RunEntry| match run.is_link {
            true => read_manifest(&run.path),
            false => Manifest::read_by(&run.path.join(MANIFEST), &mut text),
        };
        let mut manifest = |run: &RunEntry| match read(run).transpose()? {
            Ok(manifest) if !self.is_home(&run.path, &manifest.info.key) => {
                Some(Err(foreign(&run.path, &manifest)))
            }
            read => Some(read.map(keep)),
        };
        let mut found = Vec::with_capacity(runs.len());
        found.extend(runs.iter().filter_map(|run| Some((run.path.clone(), manifest(run)?))));
        found
    }

    /// Returns the folders of runs, sorted by name, with or without a manifest.
    pub(crate) fn run_folders(&self) -> Result<Vec<PathBuf>> {
        Ok(self.run_entries()?.into_iter().map(|run| run.path).collect())
    }

    fn run_entries(&self) -> Result<Vec<RunEntry>> {
        let runs = self.runs();
        refuse_link(&runs)?;
        let failed = |error| Error::io(&runs, error);
        let entry = |entry: io::Result<DirEntry>| {
            let entry = entry.map_err(failed)?;
            let is_link = entry.file_type().map_err(failed)?.is_symlink();
            Ok(RunEntry { path: entry.path(), is_link })
        };
        let mut entries: Vec<RunEntry> = match fs::read_dir(&runs) {
            Ok(entries) => entries.map(entry).collect::<Result<_>>()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        // All are in one folder, so their texts have the order of the names, which take longer to find.
        entries.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        Ok(entries)
    }

    /// Returns the stored repeats of a key's framework and test, ascending. A repeat whose manifest can't be read is
    /// included: reading it gives the error.
    pub(crate) fn repeats(&self, key: &RunKey) -> Result<Vec<u32>> {
        let mut repeats = Vec::new();
        for run in self.run_folders()? {
            let name = run.file_name().unwrap_or_default().to_string_lossy();
            let Some(repeat) = repeat_of(&name, key) else { continue };
            let stored = match read_manifest(&run) {
                Ok(found) => found.is_some_and(|found| found.info.key == key.clone().with_repeat(repeat)),
                Err(_) => true,
            };
            repeats.extend(stored.then_some(repeat));
        }
        repeats.sort_unstable();
        repeats.dedup();
        Ok(repeats)
    }
}

/// Returns true if there is a manifest in a run's folder, readable or not.
pub(super) fn has_manifest(run: &Path) -> bool {
    run.join(MANIFEST).symlink_metadata().is_ok()
}

/// Reads the manifest in a run's folder; `None` if there is none.
pub(super) fn read_manifest(run: &Path) -> Result<Option<Manifest>> {
    refuse_link(run)?;
    Manifest::read(&run.join(MANIFEST))
}

/// Returns true if a folder has the run of a key.
fn has_run(run: &Path, key: &RunKey) -> bool {
    matches!(read_manifest(run), Ok(Some(manifest)) if manifest.info.key == *key)
}

/// Returns the error for a run in a folder that belongs to another key.
fn foreign(run: &Path, manifest: &Manifest) -> Error {
    Error::refused(
        ErrorKind::RunMoved,
        format!(
            "{} has the run {}, which belongs in another folder: it was copied or renamed by hand",
            run.display(),
            manifest.info.key
        ),
        "Repair the store, which moves it to its folder or sets it aside.",
    )
}

/// Separates a repeat's number.
const REPEAT: char = '+';

/// What follows it is a hash of the whole name.
const SHORTENED: char = '~';

/// The maximum length of a name in bytes, without the repeat.
const NAME: usize = 139;

/// Returns the folder name of a key. Characters that are not safe in every file system are percent-encoded. Names of
/// different keys differ in more than case.
pub(crate) fn folder_name(key: &RunKey) -> String {
    encoded_name(key, false)
}

/// Returns the folder name that earlier versions used for a key, if it differs: they left capital letters as they are.
fn former_name(key: &RunKey) -> Option<String> {
    let capital = |part: &String| part.bytes().any(|byte| byte.is_ascii_uppercase());
    (capital(&key.framework) || capital(&key.test)).then(|| encoded_name(key, true))
}

/// Returns the repeat whose folder has this name, if it belongs to the framework and the test of `key`.
fn repeat_of(name: &str, key: &RunKey) -> Option<u32> {
    let first = key.clone().with_repeat(1);
    let names = std::iter::once(folder_name(&first)).chain(former_name(&first));
    names.filter_map(|first| name.strip_prefix(first.as_str())).find_map(|rest| match rest {
        "" => Some(1),
        rest => rest.strip_prefix(REPEAT)?.parse().ok(),
    })
}

/// Returns the key whose folder has this name, also if an earlier version named it; `None` if the name does not contain it,
/// as that of a very long key.
fn key_of(name: &str) -> Option<RunKey> {
    let mut parts = name.split(REPEAT);
    let (framework, test) = (decoded(parts.next()?)?, decoded(parts.next()?)?);
    let repeat = parts.next().map_or(Some(1), |repeat| repeat.parse().ok())?;
    let key = RunKey::new(framework, test).with_repeat(repeat);
    let is_own = folder_name(&key) == name || former_name(&key).is_some_and(|former| former == name);
    is_own.then_some(key)
}

/// Returns a predicate: whether a run of a test may be in the folder with a name. It is quicker than asking for
/// the key of each name.
fn may_be_of_test(test: &str) -> impl Fn(&str) -> bool {
    let key = RunKey::new("x", test);
    let names = [Some(folder_name(&key)), former_name(&key)];
    let is_same = move |part: &str| {
        let names = names.iter().flatten();
        names.filter_map(|name| name.split(REPEAT).nth(1)).any(|test| test == part)
    };
    move |name| name.contains(SHORTENED) || name.split(REPEAT).nth(1).is_some_and(&is_same)
}

/// Decodes a part of a name.
fn decoded(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (hex, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn encoded_name(key: &RunKey, capitals: bool) -> String {
    let mut name = String::new();
    for part in [&key.framework, &key.test] {
        // Different keys stay different because `%` and `+` within a part are encoded.
        if !name.is_empty() {
            name.push('+');
        }
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte as char),
                b'A'..=b'Z' if capitals => name.push(byte as char),
                b'.' if !name.is_empty() => name.push('.'),
                _ => name.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    if name.len() > NAME {
        let hash = crc32fast::hash(name.as_bytes());
        let longer = crc32fast::hash(name.chars().rev().collect::<String>().as_bytes());
        name.truncate(120);
        name.push_str(&format!("{SHORTENED}{hash:08x}{longer:08x}"));
    }
    if key.repeat != 1 {
        name.push_str(&format!("{REPEAT}{}", key.repeat));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_model::run::key::LAST_REPEAT;

    fn name(framework: &str, test: &str) -> String {
        folder_name(&RunKey::new(framework, test))
    }

    #[test]
    fn folder_names_are_safe_and_differ() {
        assert_eq!(name("perfectnio", "2048"), "perfectnio+2048");
        assert_eq!(name("127.0.0.1:9000", "2048"), "127.0.0.1%3A9000+2048");
        assert_eq!(name("../a", "b/c"), "%2E.%2Fa+b%2Fc");
        assert_ne!(name("a_b", "c"), name("a", "b_c"));
        assert!(name(&"é".repeat(500), "x").len() < 150);
    }

    #[test]
    fn each_repeat_has_a_folder_of_its_own() {
        let name = |framework: &str, repeat| folder_name(&RunKey::new(framework, "2048").with_repeat(repeat));
        assert_eq!(name("go", 2), "go+2048+2");
        assert_eq!(folder_name(&RunKey::new("go", "2048+2")), "go+2048%2B2");
        let long = "x".repeat(500);
        assert_ne!(name(&long, 1), name(&long, 2));
        assert!(name(&long, LAST_REPEAT).len() <= 150 && name(&"x".repeat(134), LAST_REPEAT).len() <= 150);
    }

    #[test]
    fn names_differ_in_more_than_capital_letters() {
        assert_eq!(name("Go", "API"), "%47o+%41%50%49");
        let all = ["go", "Go", "GO", "gO", "%47o"].map(|framework| name(framework, "API").to_lowercase());
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
        let long = |first: &str| name(&format!("{first}{}", "x".repeat(200)), "t").to_lowercase();
        assert_ne!(long("A"), long("a"));
    }

    #[test]
    fn names_tell_their_keys_unless_they_are_shortened() {
        for (framework, test, repeat) in [
            ("perfectnio", "2048", 1),
            ("127.0.0.1:9000", "a/b", 12),
            ("../a", "b+c~", 1),
            ("Go", "Größe%41", LAST_REPEAT),
        ] {
            let key = RunKey::new(framework, test).with_repeat(repeat);
            assert_eq!(key_of(&folder_name(&key)), Some(key.clone()));
            assert!(may_be_of_test(test)(&folder_name(&key)) && !may_be_of_test("t")(&folder_name(&key)));
            assert!(former_name(&key).is_none_or(|name| may_be_of_test(test)(&name)));
            assert_eq!(former_name(&key).and_then(|name| key_of(&name)), former_name(&key).map(|_| key));
        }
        for other in [
            &name(&"x".repeat(500), "t"),
            "",
            "go",
            "go+t.bak+",
            "go+t+01",
            "go+t+1",
            "go+%74",
            "go+%7",
            "go+%é",
        ] {
            assert_eq!(key_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_earlier_builds_are_known() {
        let key = RunKey::new("Go", "API");
        assert_eq!(former_name(&key).unwrap(), "Go+API");
        assert_eq!(former_name(&RunKey::new("go", "api")), None);
        assert_eq!(repeat_of("Go+API+7", &key), Some(7));
        assert_eq!(repeat_of("%47o+%41%50%49", &key.clone().with_repeat(3)), Some(1));
        assert_eq!(repeat_of("go+api+7", &key), None);
        assert_eq!(repeat_of("Go+API.bak", &key), None);
    }
}
