//! Buffers the packed side of an input and counts its bytes for the progress bar.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The size of the buffer between the file and the unpacker, in bytes.
const BUFFER: usize = 128 << 10;

/// A buffered reader of packed bytes.
pub(crate) type PackedReader = BufReader<Box<dyn Read + Send>>;

/// Buffers the packed bytes of a reader.
pub(crate) fn packed(reader: impl Read + Send + 'static) -> PackedReader {
    BufReader::with_capacity(BUFFER, Box::new(reader))
}

/// A count of packed bytes that is added to a counter. A pipe is read before its counter is known.
#[derive(Clone, Default)]
pub(crate) struct PackedCount(Arc<MeterReport>);

#[derive(Default)]
struct MeterReport {
    counter: OnceLock<Arc<AtomicU64>>,
    /// The number of bytes read before the counter was known.
    before: AtomicU64,
}

impl PackedCount {
    /// Creates a count that adds to `counter`.
    pub(crate) fn to(counter: Arc<AtomicU64>) -> Self {
        let progress = Self::default();
        progress.connect(counter);
        progress
    }

    /// Adds to `counter` what was read so far and will be read. Only the first call chooses the counter.
    pub(crate) fn connect(&self, counter: Arc<AtomicU64>) {
        let counter = self.0.counter.get_or_init(|| counter);
        counter.fetch_add(self.0.before.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn add(&self, bytes: u64) {
        self.0.counter.get().map_or(&self.0.before, AsRef::as_ref).fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Counts the bytes that are read through it.
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

/// Fills `out` as far as the reader goes. Returns the number of bytes read.
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
    fn bytes_read_before_the_counter_was_known_are_reported_too() {
        let (progress, counter) = (PackedCount::default(), Arc::new(AtomicU64::new(5)));
        let mut meter = Meter::new(&b"abcdef"[..], progress.clone());
        assert_eq!(read_up_to(&mut meter, &mut [0; 4]).unwrap(), 4);
        progress.connect(counter.clone());
        assert_eq!(read_up_to(&mut meter, &mut [0; 9]).unwrap(), 2);
        assert_eq!(counter.load(Ordering::Relaxed), 11);
    }
}
