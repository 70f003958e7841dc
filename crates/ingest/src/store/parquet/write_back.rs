//! Sends what is written to a file on to the disk while more is written, so that there is little left to wait for at its
//! end. A system does so by itself only after seconds, or once a part of the memory waits to be written.

use std::fs::File;
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};

use super::checksum::FileTarget;

/// The number of bytes that are sent on at a time.
const STRIDE: u64 = 8 << 20;

/// A file with fewer bytes left is not worth a thread before its end.
const LEAST: u64 = 1 << 20;

/// A new file on the disk.
pub(super) struct WrittenBack {
    file: File,
    /// The number of bytes that were written since some were sent on.
    since: u64,
    /// The thread that waits for those.
    under_way: Option<JoinHandle<io::Result<()>>>,
    sync: fn(&File) -> io::Result<()>,
}

impl WrittenBack {
    pub(super) fn new(file: File) -> Self {
        Self { file, since: 0, under_way: None, sync: File::sync_data }
    }

    /// Waits until what was sent on is on the disk. Its error has to be told here: a system tells it once.
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
    use std::path::Path;
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
