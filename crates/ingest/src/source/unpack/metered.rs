//! The packed side of an input: buffered reads, counted for the progress bar.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of the buffer between the file and the unpacker.
const BUFFER: usize = 512 << 10;

/// Packed bytes, buffered.
pub(crate) type Packed = BufReader<Box<dyn Read + Send>>;

/// Packed bytes out of any reader.
pub(crate) fn packed(reader: impl Read + Send + 'static) -> Packed {
    BufReader::with_capacity(BUFFER, Box::new(reader))
}

/// The counter to report to; a pipe is read before it is known.
#[derive(Clone, Default)]
pub(crate) struct PackedCount(Arc<Report>);

#[derive(Default)]
struct Report {
    counter: OnceLock<Arc<AtomicU64>>,
    /// Bytes read before the counter was known.
    before: AtomicU64,
}

impl PackedCount {
    /// Reports to `counter` from the start.
    pub(crate) fn to(counter: Arc<AtomicU64>) -> Self {
        let progress = Self::default();
        progress.connect(counter);
        progress
    }

    /// Reports to `counter` from now on, and what was read before; the first call counts.
    pub(crate) fn connect(&self, counter: Arc<AtomicU64>) {
        let counter = self.0.counter.get_or_init(|| counter);
        counter.fetch_add(self.0.before.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn add(&self, bytes: u64) {
        self.0.counter.get().map_or(&self.0.before, AsRef::as_ref).fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A reader that counts what is read through it.
pub(crate) struct Meter<R> {
    inner: R,
    progress: PackedCount,
}

impl<R> Meter<R> {
    pub(crate) fn new(inner: R, progress: PackedCount) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for Meter<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Fills `out` as far as the reader goes; the number of bytes it gave.
pub(crate) fn read_up_to(reader: &mut (impl Read + ?Sized), out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_the_counter_was_known_is_reported_too() {
        let (progress, counter) = (PackedCount::default(), Arc::new(AtomicU64::new(5)));
        let mut meter = Meter::new(&b"abcdef"[..], progress.clone());
        assert_eq!(read_up_to(&mut meter, &mut [0; 4]).unwrap(), 4);
        progress.connect(counter.clone());
        assert_eq!(read_up_to(&mut meter, &mut [0; 9]).unwrap(), 2);
        assert_eq!(counter.load(Ordering::Relaxed), 11);
    }
}
