//! Where the files of a run are, and how they are written and read there.
//!
//! What is written to a file on a disk is sent on to the disk while more is written ([`WrittenBack`]), so that there is
//! little left to wait for at its end. A system does so by itself only after seconds, or once a part of the memory waits to
//! be written.

use std::fs::{self, File};
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

use super::checksum::{CheckedFile, FileSums, FileTarget, SummedFile};
#[cfg(feature = "lake")]
use super::lake::RunGeneration;
use super::lock::{open_unlinked, unopened};
use perfpipe_model::error::{Error, Result};

/// Where the files of one run are.
#[derive(Debug, Clone)]
pub(super) enum RunPlace {
    /// In a folder.
    Folder(PathBuf),
    /// In a bucket.
    #[cfg(feature = "lake")]
    Bucket(RunGeneration),
}

impl RunPlace {
    /// Returns the path of a file, if it is on the disk, or what error messages call it.
    fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => generation.shown(name),
        }
    }

    /// Begins a file, which must not exist yet.
    pub(super) fn create(&self, name: &str) -> Result<SummedFile> {
        match self {
            Self::Folder(folder) => create(&folder.join(name)),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => Ok(generation.create(name)),
        }
    }

    /// Opens a file, whose size must be that of `sums`.
    pub(super) fn open(&self, name: &str, sums: FileSums) -> Result<CheckedFile> {
        match self {
            Self::Folder(folder) => open(folder.join(name), sums),
            #[cfg(feature = "lake")]
            Self::Bucket(generation) => generation.open(name, sums),
        }
    }

    /// Gives a finished file of another place of the same store a second name, which must not exist yet. What both have is
    /// never changed.
    pub(super) fn link(&self, name: &str, from: &Self, file: &str, sums: &FileSums) -> Result<()> {
        // Only in a bucket is the size needed.
        let _ = sums;
        match (self, from) {
            #[cfg(feature = "lake")]
            (Self::Bucket(to), Self::Bucket(from)) => to.copy(name, from, file, sums.bytes()),
            (to, from) => link(&from.path(file), &to.path(name)),
        }
    }

    /// Returns true if the files are one table with those of other runs, in a bucket.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Folder(_) => false,
            #[cfg(feature = "lake")]
            Self::Bucket(_) => true,
        }
    }
}

/// Gives a file on the disk another name. Where the file system can't, it is copied.
fn link(file: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(file, to).is_ok() {
        return Ok(());
    }
    let mut from = open_unlinked(file).map_err(|error| unopened(file, error))?;
    let copied =
        File::create_new(to).and_then(|mut to| io::copy(&mut from, &mut to).and_then(|_| to.sync_all()));
    copied.map_err(|error| Error::io(to, error))
}

/// Creates a file on the disk, which must not exist yet.
pub(super) fn create(path: &Path) -> Result<SummedFile> {
    let file = File::create_new(path).map_err(|error| Error::io(path, error))?;
    Ok(SummedFile::new(Box::new(WrittenBack::new(file)), path.to_owned()))
}

/// Opens a file on the disk, whose size must be that of `sums`.
pub(super) fn open(path: PathBuf, sums: FileSums) -> Result<CheckedFile> {
    let file = open_unlinked(&path).map_err(|error| unopened(&path, error))?;
    CheckedFile::new(Box::new(file), path, sums)
}

/// The number of bytes that are sent on at a time.
const STRIDE: u64 = 8 << 20;

/// A file with fewer bytes left is not worth a thread before its end.
const LEAST: u64 = 1 << 20;

/// A new file on the disk.
struct WrittenBack {
    file: File,
    /// The number of bytes that were written since some were sent on.
    since: u64,
    /// The thread that waits for those.
    under_way: Option<JoinHandle<io::Result<()>>>,
    sync: fn(&File) -> io::Result<()>,
}

impl WrittenBack {
    fn new(file: File) -> Self {
        Self { file, since: 0, under_way: None, sync: File::sync_data }
    }

    /// Waits until what was sent on is on the disk. Its error has to be reported here: a system reports it once.
    fn wait(&mut self) -> io::Result<()> {
        let Some(under_way) = self.under_way.take() else { return Ok(()) };
        under_way
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that syncs the file ended early")))
    }

    /// Sends on what was written, unless earlier bytes are still under way. Where a thread or a handle can't be had, all is
    /// left for the end.
    fn begin(&mut self) -> io::Result<()> {
        if self.under_way.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        let sync = self.sync;
        let begin = |file: File| Builder::new().name("perfpipe-sync".to_owned()).spawn(move || sync(&file));
        self.under_way = self.file.try_clone().and_then(begin).ok();
        self.since = 0;
        Ok(())
    }
}

impl Write for WrittenBack {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.since >= STRIDE {
            self.begin()?;
        }
        let written = self.file.write(bytes)?;
        self.since += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl FileTarget for WrittenBack {
    fn finish(&mut self) -> io::Result<()> {
        self.wait()?;
        self.file.sync_all()
    }

    fn send_on(&mut self) -> io::Result<()> {
        if self.since >= LEAST { self.begin() } else { Ok(()) }
    }
}

impl Drop for WrittenBack {
    /// Nothing holds the file afterwards, so that its folder can be removed.
    fn drop(&mut self) {
        // Nobody needs a file that was not finished.
        let _ = self.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A file to which more than two strides were written.
    fn strides(path: &Path, sync: fn(&File) -> io::Result<()>) -> io::Result<WrittenBack> {
        let mut file = WrittenBack::new(File::create_new(path)?);
        file.sync = sync;
        for byte in [1, 2, 3] {
            file.write_all(&vec![byte; STRIDE as usize])?;
        }
        Ok(file)
    }

    #[test]
    fn file_is_synced_while_it_is_written_and_once_it_was_sent_on() {
        static SYNCS: AtomicUsize = AtomicUsize::new(0);
        fn count(file: &File) -> io::Result<()> {
            SYNCS.fetch_add(1, Ordering::Relaxed);
            file.sync_data()
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = strides(&path, count).unwrap();
        file.wait().unwrap();
        let before = SYNCS.load(Ordering::Relaxed);
        assert!(before >= 1);
        file.send_on().unwrap();
        file.send_on().unwrap();
        file.finish().unwrap();
        assert_eq!(SYNCS.load(Ordering::Relaxed), before + 1, "there was nothing left for the second");
        let stride = STRIDE as usize;
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes == [vec![1; stride], vec![2; stride], vec![3; stride]].concat());
    }

    #[test]
    fn error_that_the_system_tells_once_is_told() {
        static SYNCS: AtomicUsize = AtomicUsize::new(0);
        fn fails_once(_: &File) -> io::Result<()> {
            match SYNCS.fetch_add(1, Ordering::Relaxed) {
                0 => Err(io::Error::from(io::ErrorKind::StorageFull)),
                _ => Ok(()),
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let finished = strides(&folder.path().join("file"), fails_once).and_then(|mut file| file.finish());
        assert_eq!(finished.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn nothing_is_under_way_once_a_file_was_dropped() {
        static ENDED: AtomicUsize = AtomicUsize::new(0);
        fn slow(_: &File) -> io::Result<()> {
            std::thread::sleep(std::time::Duration::from_millis(50));
            ENDED.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        let folder = tempfile::tempdir().unwrap();
        let mut file = strides(&folder.path().join("file"), slow).unwrap();
        file.wait().unwrap();
        let before = ENDED.load(Ordering::Relaxed);
        file.send_on().unwrap();
        drop(file);
        assert_eq!(ENDED.load(Ordering::Relaxed), before + 1);
    }
}
