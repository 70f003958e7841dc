//! What stopped writers left: a run that had appeared is finished, all else is removed.
//!
//! Nothing that a manifest names is ever removed, and nothing at all of a run whose own files are missing. Links are
//! not followed: they may lead out of the store.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{GENERATION, NEW, sync_dir};
use super::paths::{Folder, LOCK, MANIFEST, read_manifest};
use crate::store::parquet::lock::{Lock, is_link};

/// Finishes or removes what killed writers left, wherever nobody holds the lock. Whoever calls holds the gate.
pub(crate) fn sweep(folder: &Folder) {
    for run in folders(&folder.runs()) {
        let run = run.path();
        let lock = run.join(LOCK);
        if !lock.exists() && !run.join(MANIFEST).exists() {
            // Not a run's, unless it was to become one: then it is empty.
            let _ = fs::remove_dir(run);
        } else if let Ok(Some(_free)) = Lock::try_new(&lock) {
            clear(folder, &run);
        }
    }
    sweep_staging(folder);
    // Markers are written by whoever holds the gate: these are nobody's.
    for marker in entries(folder.path()).filter(is_new) {
        let _ = fs::remove_file(marker.path());
    }
}

/// Removes staged runs whose writer is gone and that no manifest names.
fn sweep_staging(folder: &Folder) {
    let staged = folders(&folder.staging()).filter(is_generation).map(|entry| entry.path());
    // One that vanished meanwhile was its writer's to remove.
    let dead: Vec<(PathBuf, Lock)> =
        staged.filter_map(|path| Some((path.clone(), Lock::try_new(&path.join(LOCK)).ok()??))).collect();
    if dead.is_empty() {
        return;
    }
    // Not before their writers are known to be gone: until then one may be putting its manifest in place.
    let Some(named) = named(folder) else { return };
    for (path, _lock) in &dead {
        if !named.contains(&*path.file_name().unwrap_or_default().to_string_lossy()) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// The generations that manifests name; `None` where one can't be read, and may name any.
fn named(folder: &Folder) -> Option<BTreeSet<String>> {
    let mut named = BTreeSet::new();
    for run in folder.run_folders().ok()?.iter().filter(|run| !is_link(run)) {
        named.extend(read_manifest(run).ok()?.map(|manifest| manifest.generation));
    }
    Some(named)
}

/// Brings a run's folder to what its manifest says: the files of earlier runs go, those of the current one are moved
/// in where its writer did not come to that. Without a manifest, all of perfpipe's own goes. What can't be done now is
/// left to the next ingest. Whoever calls holds the run's lock.
pub(crate) fn settle(folder: &Folder, run: &Path) {
    let manifest = match read_manifest(run) {
        Ok(Some(manifest)) if !folder.is_home(run, &manifest.info.key) => return,
        Ok(manifest) => manifest,
        // What it names is not known.
        Err(_) => return,
    };
    let current = manifest.map(|manifest| manifest.generation);
    let files = current.as_ref().map(|current| folder.generation(run, current));
    // Without its own files, all that is left may be needed.
    if files.as_ref().is_some_and(|files| is_link(files) || !files.is_dir()) {
        return;
    }
    entries(run).filter(is_new).for_each(|entry| _ = fs::remove_file(entry.path()));
    let earlier =
        entries(run).filter(|entry| is_earlier(entry, current.as_deref())).map(|entry| entry.path());
    let earlier: Vec<PathBuf> = earlier.collect();
    let is_home = files.as_ref().is_none_or(|files| files.parent() == Some(run));
    // What a manifest replaced may still be needed until the manifest is sure to stay.
    if (is_home && earlier.is_empty()) || sync_dir(run).is_err() {
        return;
    }
    let earlier: Vec<PathBuf> = earlier.iter().map(|path| take_out(folder, path)).collect();
    if let (Some(current), Some(files)) = (&current, files) {
        move_in(folder, run, &files, &run.join(current));
    }
    // What stays is removed by the next ingest.
    earlier.iter().for_each(|path| _ = fs::remove_dir_all(path));
}

/// Takes an earlier generation out of a run's folder at once, so that nobody finds one half there; where it is then.
fn take_out(folder: &Folder, generation: &Path) -> PathBuf {
    let out = folder.staging().join(generation.file_name().unwrap_or_default());
    if fs::rename(generation, &out).is_ok() { out } else { generation.to_owned() }
}

/// Moves the current generation into its run's folder, if it is not there.
fn move_in(folder: &Folder, run: &Path, files: &Path, home: &Path) {
    if files != home && fs::rename(files, home).is_ok() {
        // Whoever wrote it is done.
        let _ = fs::remove_file(home.join(LOCK));
        // Not durable, it would only be moved once more.
        let _ = sync_dir(run).and_then(|()| sync_dir(&folder.staging()));
    }
}

/// Settles a run's folder, and removes it if nothing is left. Whoever calls holds the gate too.
pub(crate) fn clear(folder: &Folder, run: &Path) {
    settle(folder, run);
    if entries(run).all(|entry| entry.file_name() == LOCK) {
        let _ = fs::remove_file(run.join(LOCK));
        let _ = fs::remove_dir(run);
    }
}

/// What is in a folder; nothing, where it can't be read or is elsewhere.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    let there = (!is_link(folder)).then(|| fs::read_dir(folder));
    there.into_iter().flatten().flatten().flatten()
}

/// The folders in a folder, links left out.
fn folders(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Whether a file is one of those that are written beside their place first.
pub(crate) fn is_new(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(NEW)
}

/// Whether a folder is one that a run is, or was to be, in.
pub(crate) fn is_generation(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(GENERATION)
}

/// Whether a folder is of another generation than the current one.
pub(crate) fn is_earlier(entry: &fs::DirEntry, current: Option<&str>) -> bool {
    is_generation(entry) && Some(&*entry.file_name().to_string_lossy()) != current
}
