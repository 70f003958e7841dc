//! The compression methods, stepped by hand: what follows the packed data stays in the input.

use std::io::{self, BufRead};

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder as ZstdDecoder, Operation};

use crate::run::fault::{Fault, PackedRead, with_packed};

/// A compression method and its state.
pub(crate) enum Codec {
    /// Not compressed.
    Stored,
    /// Raw DEFLATE, which ends itself.
    Deflate(Decompress),
    /// Zstandard frames, each of which ends itself.
    Zstd(Frames),
}

/// Zstandard frames, stepped from one element to the next: in the step that finds a flaw nothing is unpacked, so
/// that nothing is lost which comes before it.
pub(crate) struct Frames {
    state: ZstdDecoder<'static>,
    /// Bytes up to the end of the next element.
    wanted: usize,
    /// Unpacked bytes wait for room.
    full: bool,
}

/// Bytes of a block's header, which the decoder asks for with the block before it.
const ZSTD_BLOCK_HEADER: usize = 3;

/// What one step did.
struct Step {
    consumed: usize,
    produced: usize,
    /// The compressed stream (or frame) is complete, and all of it handed out.
    complete: bool,
}

impl Codec {
    /// Raw DEFLATE.
    pub(crate) fn deflate() -> Self {
        Self::Deflate(Decompress::new(false))
    }

    /// Zstandard.
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
        // It is told again at the next step, and till then what came before it is handed out.
        Err(_) if produced > 0 => false,
        Err(_) => return Err(Fault::damaged("its deflate data is not valid")),
    };
    Ok(Step { consumed: (state.total_in() - consumed) as usize, produced, complete })
}

/// Where packed data ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// After this many packed bytes.
    Bytes(u64),
    /// Where the compressed stream ends itself.
    Own,
    /// At the end of the input.
    Input,
}

/// Unpacks one file or member out of an input that is handed in at each read.
pub(crate) struct Unpacker {
    codec: Codec,
    extent: Extent,
    consumed: u64,
    /// Between two frames, or before the first: here the data may end.
    at_boundary: bool,
    ended: bool,
    /// The data ended itself before its stated size.
    short: bool,
}

impl Unpacker {
    pub(crate) fn new(codec: Codec, extent: Extent) -> Self {
        let at_boundary = matches!(codec, Codec::Stored);
        Self { codec, extent, consumed: 0, at_boundary, ended: false, short: false }
    }

    /// Packed bytes taken from the input so far.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Unpacks into `out`, as far as one round of input goes; 0 is the clean end. What was unpacked before a flaw is
    /// handed out before the error.
    pub(crate) fn read(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
        self.unpack(input, out).map_err(|error| with_packed(error, self.packed()))
    }

    fn unpack(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !out.is_empty() {
            let window = self.window(fill(input)?);
            let (given, step) = (window.len(), self.codec.step(window, out)?);
            input.consume(step.consumed);
            self.consumed += step.consumed as u64;
            self.settle(&step);
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

    /// The part of the buffered input that belongs to this data.
    fn window<'a>(&self, available: &'a [u8]) -> &'a [u8] {
        let Extent::Bytes(length) = self.extent else { return available };
        let left = usize::try_from(length - self.consumed).unwrap_or(usize::MAX);
        available.get(..left).unwrap_or(available)
    }

    /// How far the packed data was read.
    fn packed(&self) -> PackedRead {
        let of = if let Extent::Bytes(length) = self.extent { Some(length) } else { None };
        PackedRead { read: self.consumed, of }
    }

    /// Notes the ends of frames and of the data.
    fn settle(&mut self, step: &Step) {
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

    /// Nothing moves any more: either this is the end, or something is missing.
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
                Err(Fault::damaged("its packed data goes on past its stated size"))
            }
            (_, 0) => Err(Fault::cut("its packed data does not end")),
            _ => Err(Fault::damaged("its packed data does not go on")),
        }
    }
}

fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(e) = input.fill_buf() {
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
    // The second call returns what the first one buffered: a borrow can't leave the loop.
    input.fill_buf()
}
