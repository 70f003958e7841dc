//! Feeds an export's unpacked bytes to the async CSV reader, and keeps both within bounds.

use std::io;

use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::run::fault::Fault;
use crate::source::opened::Opened;
use crate::source::unpack::checked::{Digest, Digested};

/// The largest export that is read, in bytes, unpacked.
const LARGEST: u64 = 256 << 20;
/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 64 << 10;
/// Bytes that are on their way at a time.
const CHUNK: usize = 64 << 10;

/// Fails where an export is larger than what is read.
pub(super) fn limit(size: u64) -> io::Result<()> {
    if size <= LARGEST {
        return Ok(());
    }
    let remedy = "Export only the time of the run, and only the item of the CPU.";
    Err(Fault::new("the CPU export is larger than 256 MiB", remedy).into())
}

/// What passed.
pub(super) struct Fed {
    pub(super) digest: Digest,
    /// Why it ended early, if damage is why.
    pub(super) cut: Option<Fault>,
}

/// Begins to read, on a thread of the runtime for blocking work; gives the end at which the bytes come out, and what will have passed.
/// Where the text is known to be `cut`, or found to be, its last line is left out if it lacks its end.
///
/// # Errors
/// Outside of a runtime.
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
    // Refused means that the parser gave up: it has an error to tell, and nobody listens here.
    let mut send = |bytes: &[u8]| runtime.block_on(into.write_all(bytes)).is_ok();
    let flaw = pass_on(&mut reader, cut.is_some(), &mut send);
    let cut = cut.or_else(|| reader.cut().cloned());
    match flaw {
        // Damage garbles the lines before it is noticed.
        Err(_) if cut.is_some() => {}
        flaw => flaw?,
    }
    Ok(Fed { digest: reader.digest().clone(), cut })
}

/// Passes a text on, and reads it to its end even where nobody wants more of it.
fn pass_on(reader: &mut dyn Digested, is_cut: bool, send: &mut impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut lines = Lines::default();
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

/// Reads on, since only at the end a text is known to be undamaged.
fn drain(reader: &mut dyn Digested, mut buffer: Vec<u8>) -> io::Result<()> {
    while reader.digest().bytes() <= LARGEST && reader.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Watches the lines: the parser would keep an endless one, or an open quote, in memory.
#[derive(Default)]
struct Lines {
    /// Whole lines so far, and the byte at which this one begins.
    number: u64,
    begins: u64,
    length: u64,
    open_quote: bool,
}

impl Lines {
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
        Fault::new(what, super::row::CORRECT).at_line(self.number + 1, self.begins).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_export_is_read_and_a_larger_one_refused() {
        assert!(limit(LARGEST).is_ok());
        assert!(limit(LARGEST + 1).is_err_and(|e| e.to_string().contains("256 MiB")));
    }
}
