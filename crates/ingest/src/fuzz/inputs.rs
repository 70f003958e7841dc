//! Reads any bytes as files and as pipes. The result is complete and correct content, or an error.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::sync::LazyLock;

use tempfile::NamedTempFile;
use tokio::runtime::{Builder, Runtime};

use crate::source::zip::member::printable;
use crate::source::{Inputs, LogReader, SourceOptions};
use perfpipe_model::error::Result;

/// The maximum number of bytes read of a log. Small files can hold much larger ones.
const READ: usize = 1 << 20;

/// A runtime for async functions.
pub(super) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().unwrap());

/// A reader of owned bytes that returns at most the given number of bytes per read.
struct FuzzPipe(Cursor<Vec<u8>>, usize);

impl Read for FuzzPipe {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(self.1);
        self.0.read(&mut out[..length])
    }
}

/// Recognises a file of these bytes. The file exists as long as the second value.
pub(super) fn as_file(bytes: &[u8]) -> (Result<Inputs>, NamedTempFile) {
    file_by(bytes, &SourceOptions::default())
}

fn file_by(bytes: &[u8], options: &SourceOptions) -> (Result<Inputs>, NamedTempFile) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    (Inputs::recognise(&[file.path().to_owned()], options), file)
}

/// Recognises a pipe of these bytes.
pub(super) fn as_pipe(bytes: &[u8], step: usize) -> Result<Inputs> {
    pipe_by(bytes, step, &SourceOptions::default())
}

fn pipe_by(bytes: &[u8], step: usize, options: &SourceOptions) -> Result<Inputs> {
    Inputs::of_reader("-", FuzzPipe(Cursor::new(bytes.to_vec()), step), options)
}

/// The member name and the content of a log.
type InputLog = (Option<String>, Vec<u8>);

/// Reads a log to its end; `None` if it is too long for that.
fn read(mut log: LogReader<'_>) -> Result<Option<InputLog>> {
    let mut content = Vec::new();
    if let Err(error) = log.by_ref().take(READ as u64).read_to_end(&mut content) {
        return Err(log.explain(error));
    }
    if content.len() == READ {
        return Ok(None);
    }
    let member = log.place().member.clone();
    let source = log.finish()?;
    assert_eq!((source.bytes, source.crc32), (content.len() as u64, crc32fast::hash(&content)));
    assert_eq!(source.member, member);
    Ok(Some((member, content)))
}

/// Reads all logs to their checked ends; `None` if one is too long for that.
fn logs(inputs: Inputs) -> Result<Option<Vec<InputLog>>> {
    Ok(salvaged(inputs)?.map(|(logs, damaged)| {
        assert!(!damaged, "damage is an error, unless it is asked to be passed over");
        logs
    }))
}

/// Reads all logs as `logs` does. The flag is true if anything is damaged.
fn salvaged(inputs: Inputs) -> Result<Option<(Vec<InputLog>, bool)>> {
    let mut all = Vec::new();
    let mut damaged = !inputs.damage.is_empty();
    for mut source in inputs.logs {
        let mut stream = source.open()?;
        while let Some(log) = stream.next_log()? {
            match read(log)? {
                Some(log) => all.push(log),
                None => return Ok(None),
            }
        }
        damaged |= !stream.take_damage().is_empty();
    }
    Ok(Some((all, damaged)))
}

/// Unpacks the members of a zip by another zip reader, as far as it can read them.
fn members(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut members = BTreeMap::new();
    for index in 0..zip.len() {
        let mut content = Vec::new();
        let Ok(member) = zip.by_index(index) else { continue };
        let name = printable(&member.name().unwrap());
        if member.take(READ as u64).read_to_end(&mut content).is_ok() {
            members.insert(name, content);
        }
    }
    members
}

/// Unpacks a file by the libraries' own readers.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    match bytes {
        [0x1f, 0x8b, ..] => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).unwrap(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            zstd::Decoder::new(bytes).unwrap().read_to_end(&mut content).unwrap()
        }
        bytes => content.write(bytes).unwrap(),
    };
    content
}

/// Unpacks a file by the libraries' own readers, byte by byte, up to their first error.
fn unpacked_so_far(bytes: &[u8]) -> Vec<u8> {
    let mut reader: Box<dyn Read + '_> = match bytes {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Box::new(zstd::Decoder::new(bytes).unwrap())
        }
        bytes => Box::new(bytes),
    };
    let (mut content, mut byte) = (Vec::new(), [0]);
    while content.len() < READ && reader.read(&mut byte).is_ok_and(|read| read > 0) {
        content.extend(byte);
    }
    content
}

/// Checks that salvaging reads undamaged data as reading without it does, and damaged packed files as far as other
/// readers do.
fn check_salvage(data: &[u8], whole: Option<Vec<InputLog>>, salvage: Result<Inputs>) {
    let is_zip = data.starts_with(b"PK\x03\x04") || data.starts_with(b"PK\x05\x06");
    let Ok(Some((logs, damaged))) = salvage.and_then(salvaged) else {
        assert!(whole.is_none(), "salvage reads whatever can be read without");
        return;
    };
    match whole {
        Some(whole) => assert!(logs == whole),
        None if !is_zip && damaged => {
            let (content, expected) = (&logs[0].1, unpacked_so_far(data));
            assert!(content.starts_with(&expected) || expected.starts_with(content));
        }
        None => {}
    }
}

/// Reads any bytes as a file. Each log in it must equal what another reader gives, or be an error. Read from a pipe,
/// its checksum must occur in the file.
pub fn inputs(data: &[u8]) {
    let (&step, data) = data.split_first().unwrap_or((&0, data));
    let is_zip = data.starts_with(b"PK\x03\x04") || data.starts_with(b"PK\x05\x06");
    let (file, _held) = as_file(data);
    let whole = file.and_then(logs).ok().flatten();
    let salvage = SourceOptions { salvage: true, ..SourceOptions::default() };
    let (file, _salvaged) = file_by(data, &salvage);
    check_salvage(data, whole.clone(), file);
    if let Some(logs) = whole {
        let members = if is_zip { members(data) } else { BTreeMap::new() };
        for (name, content) in logs {
            let expected = name.map_or_else(|| unpacked(data), |name| members[&name].clone());
            assert!(content == expected, "another reader reads something else");
        }
    }
    let step = usize::from(step) + 1;
    let whole = as_pipe(data, step).and_then(logs).ok().flatten();
    check_salvage(data, whole.clone(), pipe_by(data, step, &salvage));
    if let Some(logs) = whole {
        for (name, content) in logs {
            if name.is_none() {
                assert!(content == unpacked(data), "another reader reads something else");
                continue;
            }
            let crc32 = crc32fast::hash(&content).to_le_bytes();
            assert!(data.windows(4).any(|window| window == crc32), "the checksum stands in the file");
        }
    }
}
