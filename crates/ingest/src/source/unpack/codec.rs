//! Unpacks stored, deflate and Zstandard data step by step, leaving what follows the packed data in the input.

use std::io::{self, BufRead};

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder as ZstdDecoder, Operation};

use crate::run::fault::{Fault, PackedRead, with_packed};

/// A compression method and its state.
pub(crate) enum Codec {
    /// Not compressed.
    Stored,
    /// Raw DEFLATE, which marks its own end.
    Deflate(Decompress),
    /// Zstandard frames, each of which marks its own end.
    Zstd(Frames),
}

/// Decodes Zstandard frames element by element. The step that finds a flaw unpacks nothing, so nothing before the flaw
/// is lost.
pub(crate) struct Frames {
    state: ZstdDecoder<'static>,
    /// The number of bytes up to the end of the next element.
    wanted: usize,
    /// True if unpacked bytes wait for room in the output.
    full: bool,
}

/// The number of bytes of a block's header, which the decoder requests together with the block before it.
const ZSTD_BLOCK_HEADER: usize = 3;

/// Result of one step.
struct Step {
    consumed: usize,
    produced: usize,
    /// True if the compressed stream (or frame) is complete and all of it has been returned.
    complete: bool,
}

impl Codec {
    /// Starts raw DEFLATE.
    pub(crate) fn deflate() -> Self {
        Self::Deflate(Decompress::new(false))
    }

    /// Starts Zstandard.
    pub(crate) fn zstd() -> io::Result<Self> {
        let state = ZstdDecoder::new()?;
        Ok(Self::Zstd(Frames { state, wanted: 1, full: false }))
    }

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<Step> {
        match self {
            Self::Stored => Ok(copy(input, out)),
            Self::Deflate(state) => inflate(state, input, out),
            Self::Zstd(frames) => frames.step(input, out),
        }
    }
}

impl Frames {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<Step> {
        let wanted = match self.wanted.checked_sub(ZSTD_BLOCK_HEADER) {
            None | Some(0) => self.wanted,
            Some(block) => block,
        };
        let given = if self.full { 0 } else { wanted.min(input.len()) };
        let status = self
            .state
            .run_on_buffers(input.get(..given).unwrap_or_default(), out)
            .map_err(|e| Fault::damaged(&format!("its zstd data is not valid ({e})")))?;
        let (consumed, produced) = (status.bytes_read, status.bytes_written);
        let room = std::mem::replace(&mut self.full, produced == out.len());
        self.wanted = status.remaining.max(1);
        if room && produced == 0 && !self.full {
            return self.step(input, out);
        }
        Ok(Step { consumed, produced, complete: status.remaining == 0 })
    }
}

fn copy(input: &[u8], out: &mut [u8]) -> Step {
    let length = input.len().min(out.len());
    if let (Some(from), Some(to)) = (input.get(..length), out.get_mut(..length)) {
        to.copy_from_slice(from);
    }
    Step { consumed: length, produced: length, complete: false }
}

fn inflate(state: &mut Decompress, input: &[u8], out: &mut [u8]) -> io::Result<Step> {
    let (consumed, produced) = (state.total_in(), state.total_out());
    let status = state.decompress(input, out, FlushDecompress::None);
    let produced = (state.total_out() - produced) as usize;
    let complete = match status {
        Ok(status) => status == Status::StreamEnd,
        // The next step reports the error again. Until then, return what was unpacked before it.
        Err(_) if produced > 0 => false,
        Err(_) => return Err(Fault::damaged("its deflate data is not valid")),
    };
    Ok(Step { consumed: (state.total_in() - consumed) as usize, produced, complete })
}

/// The end of packed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// After this many packed bytes.
    Bytes(u64),
    /// Where the compressed stream marks its end.
    Own,
    /// At the end of the input.
    Input,
}

/// Unpacks one file or member. Its input is passed to each read.
pub(crate) struct Unpacker {
    codec: Codec,
    extent: Extent,
    consumed: u64,
    /// True between two frames and before the first, where the data may end.
    at_boundary: bool,
    ended: bool,
    /// True if the data marked its end before its stated size.
    short: bool,
}

impl Unpacker {
    pub(crate) fn new(codec: Codec, extent: Extent) -> Self {
        let at_boundary = matches!(codec, Codec::Stored);
        Self { codec, extent, consumed: 0, at_boundary, ended: false, short: false }
    }

    /// Returns the number of packed bytes taken from the input so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Unpacks at most one buffer of input into `out`. 0 is the clean end. Bytes unpacked before a flaw are returned
    /// before the error.
    pub(crate) fn read(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
        self.unpack(input, out).map_err(|error| with_packed(error, self.packed()))
    }

    fn unpack(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            let window = self.window(fill(input)?);
            let (given, step) = (window.len(), self.codec.step(window, out)?);
            input.consume(step.consumed);
            self.consumed += step.consumed as u64;
            self.note_ends(&step);
            if step.produced > 0 {
                return Ok(step.produced);
            }
            if step.consumed == 0 && !self.ended {
                self.stop(given)?;
            }
        }
        if self.short && !out.is_empty() {
            return Err(Fault::damaged("its packed data ends before its stated size"));
        }
        Ok(0)
    }

    /// Returns the part of the buffered input that belongs to this data.
    fn window<'a>(&self, available: &'a [u8]) -> &'a [u8] {
        let Extent::Bytes(length) = self.extent else { return available };
        let left = usize::try_from(length - self.consumed).unwrap_or(usize::MAX);
        available.get(..left).unwrap_or(available)
    }

    /// Returns how much of the packed data was read.
    fn packed(&self) -> PackedRead {
        let of = if let Extent::Bytes(length) = self.extent { Some(length) } else { None };
        PackedRead { read: self.consumed, of }
    }

    /// Records the ends of frames and of the data.
    fn note_ends(&mut self, step: &Step) {
        match self.codec {
            Codec::Stored => {}
            Codec::Deflate(_) => self.ended = step.complete,
            Codec::Zstd(_) => {
                self.at_boundary = step.complete || (self.at_boundary && step.consumed == 0);
                self.ended = step.complete && self.extent == Extent::Own;
            }
        }
        self.short = self.ended && matches!(self.extent, Extent::Bytes(length) if length != self.consumed);
    }

    /// Handles a step without progress: it is either the end of the data or an error.
    fn stop(&mut self, given: usize) -> io::Result<()> {
        self.ended = true;
        let whole = match self.extent {
            Extent::Bytes(length) => length == self.consumed,
            Extent::Own => false,
            Extent::Input => given == 0,
        };
        match (whole, given) {
            (true, _) if self.at_boundary => Ok(()),
            (true, _) if self.extent != Extent::Input => {
                Err(Fault::damaged("its packed data is longer than its stated size"))
            }
            (_, 0) => Err(Fault::cut("its packed data does not end")),
            _ => Err(Fault::damaged("its packed data is not valid")),
        }
    }
}

fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(e) = input.fill_buf() {
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
    // The second call returns the bytes that the first one buffered: the borrow checker forbids to return them from the
    // loop.
    input.fill_buf()
}
