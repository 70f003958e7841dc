//! Cleans up after writers that were stopped: finishes runs that had appeared, and removes everything else.
//!
//! Never removed are files that a manifest names, nor anything of a run whose own files are missing, nor a folder with
//! anything that perfpipe did not write. Links are not followed, since they may lead out of the store.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{GENERATION, NEW, sync_dir};
use super::paths::{LOCK, MANIFEST, MARKER, POINTS, StoreFolder, read_manifest};
use crate::parquet::lock::{LockFile, is_link};
use crate::parquet::samples::piece_of;
use crate::parquet::tables::{OPTIONAL, SMALL};

/// Finishes or removes what stopped writers left, wherever the lock is free. The caller holds the gate.
pub(crate) fn sweep(folder: &StoreFolder) {
    let abandoned = folders(&folder.staging())
        .filter(is_generation)
        .any(|staged| matches!(LockFile::try_new(&staged.path().join(LOCK)), Ok(Some(_))));
    for run in folders(&folder.runs()) {
        let run = run.path();
        if !abandoned && is_tidy(&run) {
            continue;
        }
        let lock = run.join(LOCK);
        if !lock.exists() && !run.join(MANIFEST).exists() {
            // Not a run's folder, unless it was about to become one: then it is empty.
            let _ = fs::remove_dir(run);
        } else if let Ok(Some(_free)) = LockFile::try_new(&lock) {
            clear(folder, &run);
        }
    }
    sweep_staging(folder);
    // The files of the store itself are written only by the holder of the gate, so these are abandoned.
    for new in entries(folder.path()).filter(is_new) {
        let _ = fs::remove_file(new.path());
    }
}

/// Returns true if a run's folder holds a manifest, one generation and no file that is being written. Unless a generation
/// is left in the staging folder, it needs no look at what the manifest names, which takes most of the time of a sweep.
fn is_tidy(run: &Path) -> bool {
    let (mut generations, mut has_manifest) = (0_usize, false);
    for entry in entries(run) {
        if is_new(&entry) {
            return false;
        }
        generations += usize::from(is_generation(&entry));
        has_manifest |= entry.file_name() == MANIFEST;
    }
    has_manifest && generations == 1
}

/// Removes staged runs whose writer is gone and that no manifest names.
fn sweep_staging(folder: &StoreFolder) {
    let staged = folders(&folder.staging()).filter(is_generation).map(|entry| entry.path());
    let staged = staged.filter(|path| is_own(path));
    // A folder that vanished meanwhile was removed by its own writer.
    let dead: Vec<(PathBuf, LockFile)> =
        staged.filter_map(|path| Some((path.clone(), LockFile::try_new(&path.join(LOCK)).ok()??))).collect();
    if dead.is_empty() {
        return;
    }
    // Only now, with the writers known to be gone: a running one might just put its manifest in place.
    let Some(named) = named(folder) else { return };
    for (path, _lock) in &dead {
        if !named.contains(&*path.file_name().unwrap_or_default().to_string_lossy()) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Returns the generations that manifests name; `None` if a manifest can't be read, since it may name any.
fn named(folder: &StoreFolder) -> Option<BTreeSet<String>> {
    let mut named = BTreeSet::new();
    for run in folder.run_folders().ok()?.iter().filter(|run| !is_link(run)) {
        named.extend(read_manifest(run).ok()?.map(|manifest| manifest.generation));
    }
    Some(named)
}

/// Makes a run's folder match its manifest: removes the files of earlier generations, and moves in those of the current
/// one if its writer did not. Without a manifest, all files of perfpipe are removed. What fails now is left to the next
/// ingest. The caller holds the run's lock. `is_durable` is true if the manifest is known to be durable.
pub(crate) fn tidy(folder: &StoreFolder, run: &Path, is_durable: bool) {
    let manifest = match read_manifest(run) {
        Ok(Some(manifest)) if !folder.is_home(run, &manifest.info.key) => return,
        Ok(manifest) => manifest,
        // It is unknown which generation it names.
        Err(_) => return,
    };
    let current = manifest.map(|manifest| manifest.generation);
    let files = current.as_ref().map(|current| folder.generation(run, current));
    // If its own files are missing, everything that is left may be needed.
    if files.as_ref().is_some_and(|files| is_link(files) || !files.is_dir()) {
        return;
    }
    entries(run).filter(is_new).for_each(|entry| _ = fs::remove_file(entry.path()));
    let earlier =
        entries(run).filter(|entry| is_earlier(entry, current.as_deref())).map(|entry| entry.path());
    let earlier: Vec<PathBuf> = earlier.filter(|path| is_own(path)).collect();
    let is_home = files.as_ref().is_none_or(|files| files.parent() == Some(run));
    // The files that a manifest replaced may still be needed until the manifest is durable.
    if (is_home && earlier.is_empty()) || !is_durable && sync_dir(run).is_err() {
        return;
    }
    let earlier: Vec<PathBuf> = earlier.iter().map(|path| move_out(folder, path)).collect();
    if let (Some(current), Some(files)) = (&current, files) {
        move_in(run, &files, &run.join(current));
    }
    // The next ingest removes what can't be removed now.
    earlier.iter().for_each(|path| _ = fs::remove_dir_all(path));
}

/// Moves an earlier generation out of a run's folder in one step, so that nobody sees half of it. Returns its new path.
fn move_out(folder: &StoreFolder, generation: &Path) -> PathBuf {
    let out = folder.staging().join(generation.file_name().unwrap_or_default());
    if fs::rename(generation, &out).is_ok() { out } else { generation.to_owned() }
}

/// Moves the current generation into its run's folder, if it is not there.
fn move_in(run: &Path, files: &Path, home: &Path) {
    if files != home && fs::rename(files, home).is_ok() {
        // Its writer is done.
        let _ = fs::remove_file(home.join(LOCK));
        // If this is lost in a power failure, the move is just repeated.
        let _ = sync_dir(run);
    }
}

/// Tidies a run's folder, and removes it if nothing is left. The caller holds the run's lock and the gate.
pub(crate) fn clear(folder: &StoreFolder, run: &Path) {
    tidy(folder, run, false);
    if entries(run).all(|entry| entry.file_name() == LOCK) {
        let _ = fs::remove_file(run.join(LOCK));
        let _ = fs::remove_dir(run);
    }
}

/// Returns the entries of a folder; none if it can't be read or is a link.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    let there = (!is_link(folder)).then(|| fs::read_dir(folder));
    there.into_iter().flatten().flatten().flatten()
}

/// Returns the subfolders of a folder, without links.
fn folders(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// Returns true if a file is a temporary one, to be renamed when complete.
pub(crate) fn is_new(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(NEW)
}

/// Returns true if a folder has the name of a generation.
pub(crate) fn is_generation(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(GENERATION)
}

/// Returns true if a generation has only files that perfpipe writes, and is no link: all else is somebody's own. Parts that
/// were merged are moved to where generations are staged, each a store of its own; so folders in it count by their files.
pub(crate) fn is_own(generation: &Path) -> bool {
    let is_known = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let known = [&[LOCK, MARKER, MANIFEST, POINTS][..], &SMALL, &OPTIONAL].concat();
        let is_piece = name.to_str().is_some_and(|name| piece_of(name).is_some());
        is_piece || is_new(entry) || known.iter().any(|known| name == *known)
    };
    !is_link(generation)
        && entries(generation).all(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => is_own(&entry.path()),
            Ok(kind) => kind.is_file() && is_known(&entry),
            Err(_) => false,
        })
}

/// Returns true if a folder is a generation other than the current one.
pub(crate) fn is_earlier(entry: &fs::DirEntry, current: Option<&str>) -> bool {
    is_generation(entry) && Some(&*entry.file_name().to_string_lossy()) != current
}
