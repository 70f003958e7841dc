//! Recognises packed files by their first bytes, and unpacks stored, deflate and Zstandard data step by step, leaving what
//! follows the packed data in the input; LZMA and xz within a memory limit, since their headers decide how much memory they take.

use std::io::{self, BufRead, Read};

use flate2::{Decompress, FlushDecompress, Status};
use lzma_rust2::{LzmaReader, XzReader};
use zstd::stream::raw::{Decoder as ZstdDecoder, Operation};

use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::{Fault, PackedRead, with_packed};

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

/// The number of bytes of a block's header, which the decoder requests along with the block before it.
const ZSTD_BLOCK_HEADER: usize = 3;

/// Result of one step.
struct CodecStep {
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

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<CodecStep> {
        match self {
            Self::Stored => Ok(copy(input, out)),
            Self::Deflate(state) => inflate(state, input, out),
            Self::Zstd(frames) => frames.step(input, out),
        }
    }
}

impl Frames {
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> io::Result<CodecStep> {
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
        Ok(CodecStep { consumed, produced, complete: status.remaining == 0 })
    }
}

fn copy(input: &[u8], out: &mut [u8]) -> CodecStep {
    let length = input.len().min(out.len());
    if let (Some(from), Some(to)) = (input.get(..length), out.get_mut(..length)) {
        to.copy_from_slice(from);
    }
    CodecStep { consumed: length, produced: length, complete: false }
}

fn inflate(state: &mut Decompress, input: &[u8], out: &mut [u8]) -> io::Result<CodecStep> {
    let (consumed, produced) = (state.total_in(), state.total_out());
    let status = state.decompress(input, out, FlushDecompress::None);
    let produced = (state.total_out() - produced) as usize;
    let complete = match status {
        Ok(status) => status == Status::StreamEnd,
        // The next step reports the error again. Until then, return what was unpacked before it.
        Err(_) if produced > 0 => false,
        Err(_) => return Err(Fault::damaged("its deflate data is not valid")),
    };
    Ok(CodecStep { consumed: (state.total_in() - consumed) as usize, produced, complete })
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

    /// Returns the number of packed bytes read from the input so far.
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
    fn note_ends(&mut self, step: &CodecStep) {
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

/// The container format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// A zip with any number of members.
    Zip,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// Not packed, or packed in a format that is not recognised.
    Plain,
}

/// The number of leading bytes that [`Container::of`] needs.
pub(crate) const MAGIC: usize = 4;

impl Container {
    /// Returns the container format of data that begins with `head`.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// Returns the name of the format, as it appears in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Plain => "plain",
        }
    }

    /// Returns a note for the user if the extension of `file_name` suggests another format.
    pub(crate) fn misnamed(self, file_name: &str) -> Option<String> {
        let extension = file_name.rsplit_once('.')?.1.to_ascii_lowercase();
        let named = match extension.as_str() {
            "zip" => Self::Zip,
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => return None,
        };
        let is = match self {
            Self::Zip => "a zip",
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Plain => "not packed",
        };
        (named != self).then(|| {
            format!(
                "{file_name} is {is}, although its name says otherwise; it is read \
                                         by its content"
            )
        })
    }
}

/// The largest dictionary in MiB: twice that of the strongest preset.
const DICTIONARY_MIB: u32 = 128;
/// The memory limit in KiB: the dictionary and what the decoder needs besides.
const MOST_KIB: u32 = (DICTIONARY_MIB + 1) << 10;

/// Unpacks an xz stream.
pub(crate) fn xz(input: impl Read + Send + 'static) -> impl Read + Send {
    FaultReader(XzReader::new_mem_limit(input, false, MOST_KIB))
}

/// Unpacks an LZMA member of a zip: a version, the length of the properties, the properties, the data. `unpacked` is
/// the unpacked size in bytes, or `u64::MAX` if the data marks its own end.
pub(crate) fn lzma(mut input: impl Read + Send + 'static, unpacked: u64) -> io::Result<impl Read + Send> {
    let mut head = [0; 9];
    input.read_exact(&mut head).map_err(explain)?;
    let [_, _, 5, 0, properties, dictionary @ ..] = head else {
        return Err(Fault::damaged("its LZMA header is not valid"));
    };
    let dictionary = u32::from_le_bytes(dictionary);
    if dictionary > DICTIONARY_MIB << 20 {
        return Err(too_large());
    }
    LzmaReader::new_with_props(input, unpacked, properties, dictionary, None)
        .map(FaultReader)
        .map_err(explain)
}

/// Converts the library's errors into faults.
struct FaultReader<R>(R);

impl<R: Read> Read for FaultReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(explain)
    }
}

fn explain(error: io::Error) -> io::Error {
    match error.kind() {
        _ if error.raw_os_error().is_some() => error,
        io::ErrorKind::OutOfMemory => too_large(),
        io::ErrorKind::UnexpectedEof => Fault::cut("its packed data does not end"),
        _ => Fault::damaged(&format!("its packed data is not valid ({error})")),
    }
}

fn too_large() -> io::Error {
    let problem = format!("takes more than {DICTIONARY_MIB} MiB of memory to unpack");
    Fault::new(ErrorKind::UnpackMemory, problem, "Unpack it, and give the file itself.").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_misleads_is_noted() {
        assert!(Container::Gzip.misnamed("a.csv.ZIP").is_some_and(|note| note.contains("a gzip file")));
        assert_eq!(Container::Zip.misnamed("a.zip"), None);
        assert_eq!(Container::Gzip.misnamed("a.csv"), None);
        assert_eq!(Container::Gzip.misnamed("zip"), None);
    }

    /// Returns what `xz` writes for empty input, with another dictionary size.
    fn empty(dictionary: u8) -> Vec<u8> {
        let mut block = vec![2, 0, 0x21, 1, dictionary, 0, 0, 0];
        block.extend_from_slice(&crc32fast::hash(&block).to_le_bytes());
        let head = b"\xfd7zXZ\0\0\0\xff\x12\xd9\x41";
        [&head[..], &block, &[0, 0, 0, 0]].concat()
    }

    fn problem(mut reader: impl Read) -> String {
        reader.read(&mut [0; 9]).unwrap_err().to_string()
    }

    #[test]
    fn dictionaries_beyond_the_limit_are_refused_before_they_are_made() {
        assert!(problem(xz(io::Cursor::new(empty(31)))).contains("more than 128 MiB"));
        assert!(!problem(xz(io::Cursor::new(empty(30)))).contains("MiB"));
        let head = |size: u32| [&[9, 4, 5, 0, 0x5d][..], &size.to_le_bytes(), &[0; 9]].concat();
        let open = |size| lzma(io::Cursor::new(head(size)), 7).map(drop);
        assert!(open((128 << 20) + 1).unwrap_err().to_string().contains("more than 128 MiB"));
        assert!(open(128 << 20).is_ok());
        assert!(lzma(&[9, 4, 6, 0, 0, 0, 0, 0, 0][..], 7).map(drop).is_err());
        assert!(lzma(&[9, 4][..], 7).map(drop).unwrap_err().to_string().contains("cut short"));
    }
}
