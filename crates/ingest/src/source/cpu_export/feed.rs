//! Feeds an export's unpacked bytes to the async CSV reader, within limits on its size and the length of its lines.

use std::io;

use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::source::opened::Opened;
use crate::source::unpack::checked::{Digest, Digested};
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// The maximum unpacked size of an export, in bytes.
const LARGEST: u64 = 256 << 20;
/// The maximum length of a line, in bytes.
const LONGEST_LINE: u64 = 64 << 10;
/// The number of bytes in transit between the two threads.
const CHUNK: usize = 64 << 10;

/// Fails if `size` exceeds the maximum size of an export, in bytes.
pub(super) fn limit(size: u64) -> io::Result<()> {
    if size <= LARGEST {
        return Ok(());
    }
    let remedy = "Export only the time of the run, and only the item of the CPU.";
    Err(Fault::new(ErrorKind::CpuTooLarge, "the CPU export is larger than 256 MiB", remedy).into())
}

/// Result of feeding an export.
pub(super) struct Fed {
    pub(super) digest: Digest,
    /// The damage that ended it early, if any.
    pub(super) cut: Option<Fault>,
}

/// Starts to read on a thread of the runtime for blocking work. Returns the stream of the bytes, and the task that
/// ends with the digest.
///
/// If the text is cut, known so beforehand or found so, an incomplete last line is dropped.
///
/// # Errors
/// Outside of a tokio runtime.
pub(super) fn feed(
    opened: Opened,
    cut: Option<Fault>,
) -> io::Result<(DuplexStream, JoinHandle<io::Result<Fed>>)> {
    let (into, out) = duplex(CHUNK);
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let feeder = runtime.clone();
    Ok((out, runtime.spawn_blocking(move || pump(opened, cut, into, &feeder))))
}

fn pump(mut opened: Opened, cut: Option<Fault>, mut into: DuplexStream, runtime: &Handle) -> io::Result<Fed> {
    let mut reader = opened.reader();
    // A failed write means that the parser has stopped. It reports the error itself, so this thread just reads on.
    let mut send = |bytes: &[u8]| runtime.block_on(into.write_all(bytes)).is_ok();
    let flaw = pass_on(&mut reader, cut.is_some(), &mut send);
    let cut = cut.or_else(|| reader.cut().cloned());
    match flaw {
        // Damage is noticed late, so the lines just before it may be garbled.
        Err(_) if cut.is_some() => {}
        flaw => flaw?,
    }
    Ok(Fed { digest: reader.digest().clone(), cut })
}

/// Passes the text on. It is read to its end even if the receiver has stopped.
fn pass_on(reader: &mut dyn Digested, is_cut: bool, send: &mut impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut lines = LineLimits::default();
    let mut buffer = vec![0; CHUNK];
    // The line that has not ended yet.
    let mut open = Vec::new();
    loop {
        let read = reader.read(&mut buffer)?;
        let chunk = buffer.get(..read).unwrap_or_default();
        limit(reader.digest().bytes())?;
        if let Err(flaw) = lines.check(chunk) {
            return drain(reader, buffer).and(Err(flaw));
        }
        if chunk.is_empty() {
            if !is_cut && reader.cut().is_none() {
                send(&open);
            }
            return Ok(());
        }
        let end = chunk.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
        let (ended, begun) = chunk.split_at_checked(end).unwrap_or_default();
        if end > 0 {
            open.extend_from_slice(ended);
            if !send(&open) {
                return drain(reader, buffer);
            }
            open.clear();
        }
        open.extend_from_slice(begun);
    }
}

/// Reads to the end, since only there the text is known to be undamaged.
fn drain(reader: &mut dyn Digested, mut buffer: Vec<u8>) -> io::Result<()> {
    while reader.digest().bytes() <= LARGEST && reader.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Checks the length of lines and quoted fields, which the parser would otherwise keep in memory.
#[derive(Default)]
struct LineLimits {
    /// The number of complete lines so far, and the byte offset of the current one.
    number: u64,
    begins: u64,
    length: u64,
    open_quote: bool,
}

impl LineLimits {
    fn check(&mut self, chunk: &[u8]) -> io::Result<()> {
        for byte in chunk {
            self.length += 1;
            self.open_quote ^= *byte == b'"';
            if *byte == b'\n' {
                if self.open_quote {
                    return Err(self.fault("a quote is not closed"));
                }
                self.number += 1;
                self.begins += self.length;
                self.length = 0;
            } else if self.length > LONGEST_LINE {
                return Err(self.fault("the line is longer than 64 KiB"));
            }
        }
        Ok(())
    }

    fn fault(&self, what: &str) -> io::Error {
        Fault::new(ErrorKind::CpuReading, what, super::row::CORRECT)
            .at_line(self.number + 1, self.begins)
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_export_is_read_and_a_larger_one_refused() {
        assert!(limit(LARGEST).is_ok());
        assert!(limit(LARGEST + 1).is_err_and(|e| e.to_string().contains("256 MiB")));
    }
}
