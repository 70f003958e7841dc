//! Unpacks LZMA and xz within a memory limit, since their headers decide how much memory they take.

use std::io::{self, Read};

use lzma_rust2::{LzmaReader, XzReader};

use crate::error::ErrorKind;
use crate::run::fault::Fault;

/// The largest dictionary in MiB: twice that of the strongest preset.
const DICTIONARY_MIB: u32 = 128;
/// The memory limit in KiB: the dictionary and what the decoder needs besides.
const MOST_KIB: u32 = (DICTIONARY_MIB + 1) << 10;

/// Unpacks an xz stream.
pub(crate) fn xz(input: impl Read + Send + 'static) -> impl Read + Send {
    Bounded(XzReader::new_mem_limit(input, false, MOST_KIB))
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
    LzmaReader::new_with_props(input, unpacked, properties, dictionary, None).map(Bounded).map_err(explain)
}

/// Converts the library's errors into faults.
struct Bounded<R>(R);

impl<R: Read> Read for Bounded<R> {
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
