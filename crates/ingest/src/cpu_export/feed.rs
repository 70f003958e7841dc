//! Feeds an export's unpacked bytes to the async CSV reader, and keeps both within bounds.

use std::io;

use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::source::checked::Digest;
use crate::source::fault::Fault;
use crate::source::stored::Opened;

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

/// Begins to read, on a thread of the runtime for blocking work; gives the end at which the bytes come out, and what will have passed.
///
/// # Errors
/// Outside of a runtime.
pub(super) fn feed(opened: Opened) -> io::Result<(DuplexStream, JoinHandle<io::Result<Digest>>)> {
    let (into, out) = duplex(CHUNK);
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let feeder = runtime.clone();
    Ok((out, runtime.spawn_blocking(move || pump(opened, into, &feeder))))
}

fn pump(mut opened: Opened, mut into: DuplexStream, runtime: &Handle) -> io::Result<Digest> {
    let mut reader = opened.reader()?;
    let mut lines = Lines::default();
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = reader.read(&mut buffer)?;
        let chunk = buffer.get(..read).unwrap_or_default();
        limit(reader.digest().bytes())?;
        lines.check(chunk)?;
        // Refused means that the parser gave up: it has an error to tell, and nobody listens here.
        if chunk.is_empty() || runtime.block_on(into.write_all(chunk)).is_err() {
            return Ok(reader.digest().clone());
        }
    }
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
