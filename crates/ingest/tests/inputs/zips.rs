//! Zips of every form: written by the zip crate, and by hand where it would not.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A member to be written.
pub(crate) type Member<'a> = (&'a str, &'a [u8]);

pub(crate) fn options(method: CompressionMethod) -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(method)
}

/// A zip whose headers hold the sizes.
pub(crate) fn sized(members: &[Member], options: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    write(&mut zip, members, options);
    zip.finish().unwrap().into_inner()
}

pub(crate) fn deflated(members: &[Member]) -> Vec<u8> {
    sized(members, options(CompressionMethod::Deflated))
}

/// A zip as a pipe makes it: sizes follow the data.
pub(crate) fn streamed(members: &[Member], options: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new_stream(Vec::new());
    write(&mut zip, members, options);
    zip.finish().unwrap().into_inner()
}

fn write<W: Write + std::io::Seek>(zip: &mut ZipWriter<W>, members: &[Member], options: SimpleFileOptions) {
    for (name, bytes) in members {
        if name.ends_with('/') {
            zip.add_directory(*name, options).unwrap();
        } else {
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
    }
}

/// How a hand-made zip tells sizes behind its data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    pub(crate) signed: bool,
    pub(crate) wide: bool,
}

/// A deflated member with the given descriptor, in a zip by hand.
pub(crate) fn described(member: Member, descriptor: Descriptor) -> Vec<u8> {
    let (name, text) = member;
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(text).unwrap();
    let packed = deflate.finish().unwrap();
    let crc = crc32fast::hash(text).to_le_bytes();
    let mut zip = b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    zip.extend_from_slice(&(name.len() as u16).to_le_bytes());
    zip.extend_from_slice(&[0, 0]);
    zip.extend_from_slice(name.as_bytes());
    zip.extend_from_slice(&packed);
    if descriptor.signed {
        zip.extend_from_slice(b"PK\x07\x08");
    }
    zip.extend_from_slice(&crc);
    for size in [packed.len(), text.len()] {
        let bytes = (size as u64).to_le_bytes();
        zip.extend_from_slice(if descriptor.wide { &bytes } else { &bytes[..4] });
    }
    let directory = zip.len() as u32;
    zip.extend_from_slice(b"PK\x01\x02\x14\0\x14\0\x08\0\x08\0\0\0\0\0");
    zip.extend_from_slice(&crc);
    zip.extend_from_slice(&(packed.len() as u32).to_le_bytes());
    zip.extend_from_slice(&(text.len() as u32).to_le_bytes());
    zip.extend_from_slice(&(name.len() as u16).to_le_bytes());
    zip.extend_from_slice(&[0; 16]);
    zip.extend_from_slice(name.as_bytes());
    let length = zip.len() as u32 - directory;
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend_from_slice(&length.to_le_bytes());
    zip.extend_from_slice(&directory.to_le_bytes());
    zip.extend_from_slice(&[0, 0]);
    zip
}

/// The same zip with bits set in the flags of every member, in both its headers.
pub(crate) fn with_flags(mut zip: Vec<u8>, flags: u8) -> Vec<u8> {
    set(&mut zip, 6, 8, |byte| *byte |= flags);
    zip
}

/// The same zip with another compression method stated.
pub(crate) fn with_method(mut zip: Vec<u8>, method: u8) -> Vec<u8> {
    set(&mut zip, 8, 10, |byte| *byte = method);
    zip
}

/// The same zip with a wrong checksum stated.
pub(crate) fn with_wrong_crc(mut zip: Vec<u8>) -> Vec<u8> {
    set(&mut zip, 14, 16, |byte| *byte ^= 0x55);
    zip
}

/// The same zip with another size stated, unpacked.
pub(crate) fn with_wrong_size(mut zip: Vec<u8>, by: u8) -> Vec<u8> {
    set(&mut zip, 22, 24, |byte| *byte = byte.wrapping_add(by));
    zip
}

/// Changes a byte of every local header and of every directory entry.
fn set(zip: &mut [u8], in_local: usize, in_directory: usize, change: impl Fn(&mut u8)) {
    for at in 0..zip.len().saturating_sub(4) {
        let offset = match &zip[at..at + 4] {
            b"PK\x03\x04" => in_local,
            b"PK\x01\x02" => in_directory,
            _ => continue,
        };
        change(&mut zip[at + offset]);
    }
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

pub(crate) fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// The small log in a zip by LZMA, which the zip crate reads but doesn't write (by Python's zipfile).
pub(crate) fn lzma() -> Vec<u8> {
    let hex = concat!(
        "504b03043f0002000e0000002100bf7068a75e0000005500000005000000612e637376090405005d00008000003a1a49",
        "fae25eb8a6a538f00b51435afde922dc98d943987703f89dd9b06d4e5c8ce477d1cad03684a7ac3918a50672c11202c9",
        "29712831e8b418c2f01bc0af66436266aca861ea0c5af65877eaf1ffff984dc000504b01023f033f0002000e00000021",
        "00bf7068a75e00000055000000050000000000000000000000800100000000612e637376504b05060000000001000100",
        "33000000810000000000",
    );
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}
