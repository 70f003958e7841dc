//! The stored files: their checksums, which are computed while writing and checked before any content is used, and the
//! metadata by which a file explains itself to other programs.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};

use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;

/// The size in bytes of the pieces that have a checksum each. The last one of a file may be shorter.
const PIECE: usize = 1 << 20;

/// The number of checked pieces that are cached per file. That is more than a row group of samples and the next one,
/// whose columns are read side by side.
const KEPT: usize = 16;

const CHECKSUM: &str = "its checksum is not the one it was stored with";

/// The expected size and checksums of a stored file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSums {
    /// Its size in bytes.
    bytes: u64,
    /// CRC-32 (IEEE) of each MiB.
    crc32: Vec<u32>,
}

impl FileSums {
    /// Returns the size of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the length of a piece, in bytes.
    fn length(&self, number: usize) -> usize {
        let before = number as u64 * PIECE as u64;
        self.bytes.saturating_sub(before).min(PIECE as u64) as usize
    }
}

/// Returns the message for a damaged file: the problem, which is a clause, and the remedy.
pub(super) fn damaged(problem: &str) -> String {
    format!("{problem} (the file is damaged: ingest the run again)")
}

/// A new file, which is written from start to end.
pub(super) trait FileTarget: Write + Send {
    /// Makes what was written durable. Nothing may be written afterwards.
    fn finish(&mut self) -> io::Result<()>;

    /// Begins to make durable what was written, without waiting for it.
    fn send_on(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stored file.
pub(super) trait FileSource: Send {
    /// Returns its size in bytes.
    fn size(&self) -> io::Result<u64>;

    /// Fills `out` with the bytes from offset `at`. It is an error of the kind `UnexpectedEof` if there are fewer.
    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<()>;
}

/// A file that is written from start to end and checksummed meanwhile.
pub(super) struct SummedFile {
    file: Box<dyn FileTarget>,
    path: PathBuf,
    sums: FileSums,
    piece: crc32fast::Hasher,
    notes: FileNotes,
}

impl SummedFile {
    /// Begins a new file, which error messages call `path`.
    pub(super) fn new(file: Box<dyn FileTarget>, path: PathBuf) -> Self {
        Self {
            file,
            path,
            sums: FileSums::default(),
            piece: crc32fast::Hasher::new(),
            notes: FileNotes::new(),
        }
    }

    /// Sets what the metadata of a Parquet file says of its run.
    pub(super) fn noted(mut self, notes: FileNotes) -> Self {
        self.notes = notes;
        self
    }

    /// Removes and returns what the metadata of a Parquet file says of its run.
    pub(super) fn take_notes(&mut self) -> FileNotes {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file durable. Nothing may be written to it afterwards.
    pub(super) fn finish(&mut self) -> Result<FileSums> {
        self.file.finish().map_err(|error| Error::io(&self.path, error))?;
        if !self.sums.bytes.is_multiple_of(PIECE as u64) {
            self.sums.crc32.push(std::mem::take(&mut self.piece).finalize());
        }
        Ok(std::mem::take(&mut self.sums))
    }

    /// Begins to make the file durable: little more is written to it, but others are.
    pub(super) fn send_on(&mut self) -> Result<()> {
        self.file.send_on().map_err(|error| Error::io(&self.path, error))
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = PIECE - (self.sums.bytes % PIECE as u64) as usize;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.piece.update(now);
            self.sums.bytes += now.len() as u64;
            if now.len() == room {
                self.sums.crc32.push(std::mem::take(&mut self.piece).finalize());
            }
            bytes = later;
        }
    }
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.add(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A stored file that returns only checked bytes.
#[derive(Clone)]
pub(super) struct CheckedFile(Arc<CheckedInner>);

struct CheckedInner {
    path: PathBuf,
    sums: FileSums,
    open: Mutex<OpenFile>,
}

struct OpenFile {
    file: Box<dyn FileSource>,
    /// Checked pieces and their numbers, the most recently used last.
    kept: VecDeque<(usize, Bytes)>,
    /// True if a piece had the wrong checksum.
    damaged: bool,
}

impl CheckedFile {
    /// Reads a file, whose size must be that of `sums`. Error messages call it `path`.
    pub(super) fn new(file: Box<dyn FileSource>, path: PathBuf, sums: FileSums) -> Result<Self> {
        let bytes = file.size().map_err(|error| Error::io(&path, error))?;
        if bytes != sums.bytes {
            let problem = format!("it has {bytes} bytes instead of {}", sums.bytes);
            return Err(Error::store(format!("reading {}", path.display()), damaged(&problem)));
        }
        let open = Mutex::new(OpenFile { file, kept: VecDeque::new(), damaged: false });
        Ok(Self(Arc::new(CheckedInner { path, sums, open })))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the message of a checksum error if one occurred. Other crates that read through this file report it in
    /// their own words.
    pub(super) fn damage(&self) -> Option<String> {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.damaged.then(|| damaged(CHECKSUM))
    }

    /// Reads the whole file, and fails if a checksum is wrong.
    pub(super) fn check(&self) -> Result<()> {
        let read = io::copy(&mut self.reader(0), &mut io::sink());
        read.map(drop).map_err(|error| match self.damage() {
            Some(damage) => Error::store(format!("reading {}", self.path().display()), damage),
            None => Error::io(self.path(), error),
        })
    }

    /// Returns a reader that begins at byte `from`.
    pub(super) fn reader(&self, from: u64) -> CheckedReader {
        CheckedReader { file: self.clone(), at: from, rest: Bytes::new() }
    }

    /// Returns the checked bytes from `at` to the end of their piece; none beyond the end of the file.
    fn rest_of_piece(&self, at: u64) -> io::Result<Bytes> {
        let number = usize::try_from(at / PIECE as u64).map_err(io::Error::other)?;
        let Some(crc32) = self.0.sums.crc32.get(number) else { return Ok(Bytes::new()) };
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = match open.kept.iter().position(|(kept, _)| *kept == number) {
            Some(place) => open.kept.remove(place).map(|(_, piece)| piece),
            None => None,
        };
        let mut piece = match piece {
            Some(piece) => piece,
            None => open.read(number, self.0.sums.length(number), *crc32)?,
        };
        if open.kept.len() >= KEPT {
            open.kept.pop_front();
        }
        open.kept.push_back((number, piece.clone()));
        let before = (at % PIECE as u64) as usize;
        Ok(piece.split_off(before.min(piece.len())))
    }
}

impl OpenFile {
    fn read(&mut self, number: usize, length: usize, crc32: u32) -> io::Result<Bytes> {
        let mut piece = vec![0; length];
        match self.file.read_at(number as u64 * PIECE as u64, &mut piece) {
            // The file was cut short since it was opened.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => piece.clear(),
            read => read?,
        }
        if crc32fast::hash(&piece) != crc32 {
            self.damaged = true;
            return Err(io::Error::new(io::ErrorKind::InvalidData, damaged(CHECKSUM)));
        }
        Ok(piece.into())
    }
}

/// Reads checked bytes in sequence.
pub(super) struct CheckedReader {
    file: CheckedFile,
    at: u64,
    rest: Bytes,
}

impl Read for CheckedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.file.rest_of_piece(self.at)?;
        }
        let length = self.rest.len().min(out.len());
        if let Some(out) = out.get_mut(..length) {
            self.rest.copy_to_slice(out);
        }
        self.at += length as u64;
        Ok(length)
    }
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.0.sums.bytes
    }
}

impl ChunkReader for CheckedFile {
    type T = CheckedReader;

    fn get_read(&self, start: u64) -> Result<CheckedReader, ParquetError> {
        Ok(self.reader(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let first = self.rest_of_piece(start)?;
        if length <= first.len() {
            return Ok(first.slice(..length));
        }
        let mut bytes = Vec::new();
        self.reader(start).take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!("{} bytes of {length} are there", bytes.len())));
        }
        Ok(bytes.into())
    }
}

impl FileSource for File {
    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|found| found.len())
    }

    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.read_exact(out)
    }
}

/// The key of the unit of the file's times, in µs.
pub(super) const RESOLUTION: &str = "perfpipe.resolution_us";

/// Entries of a file's metadata: keys and values.
pub(super) type FileNotes = Vec<(&'static str, String)>;

/// Returns what the files of a run say of it. Nothing of it changes while they exist: a renamed run has new files.
pub(super) fn file_notes(run: &RunInfo) -> FileNotes {
    vec![
        ("perfpipe.framework", run.key.framework.clone()),
        ("perfpipe.test", run.key.test.clone()),
        ("perfpipe.repeat", run.key.repeat.to_string()),
        ("perfpipe.t0_ms", run.t0_ms.to_string()),
        (RESOLUTION, run.resolution.microseconds().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::place::{create, open};

    fn written(folder: &Path, name: &str, bytes: &[u8], step: usize) -> (PathBuf, FileSums) {
        let path = folder.join(name);
        let mut file = create(&path).unwrap();
        bytes.chunks(step).for_each(|chunk| file.write_all(chunk).unwrap());
        (path, file.finish().unwrap())
    }

    #[test]
    fn bytes_come_back_from_any_place() {
        let folder = tempfile::tempdir().unwrap();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let (path, sums) = written(folder.path(), &length.to_string(), &bytes, 70_001);
            let file = open(path, sums).unwrap();
            let mut back = Vec::new();
            file.reader(0).read_to_end(&mut back).unwrap();
            assert!(back == bytes, "{length}");
            for (from, wanted) in [(0, length), (length / 2, length / 3), (length, 0), (length / 3, 1)] {
                let Some(expected) = bytes.get(from..from + wanted) else { continue };
                assert!(file.get_bytes(from as u64, wanted).unwrap() == expected, "{length} {from} {wanted}");
            }
            assert!(file.get_bytes(1, length.max(1)).is_err());
            assert!(file.get_bytes(u64::MAX, 1).is_err());
        }
    }

    #[test]
    fn changed_piece_alone_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = vec![5; 20 * PIECE];
        let (path, sums) = written(folder.path(), "a", &bytes, PIECE / 2);
        assert_eq!(sums.crc32.len(), 20);
        bytes[3 * PIECE] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let file = open(path.clone(), sums.clone()).unwrap();
        assert!(file.get_bytes(2 * PIECE as u64 + 5, PIECE - 5).is_ok());
        assert!(file.get_bytes(2 * PIECE as u64 + 5, PIECE).is_err());
        assert!(file.get_bytes(4 * PIECE as u64, 16 * PIECE).is_ok());
        let error = file.reader(0).read_to_end(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("checksum") && error.contains("ingest the run again"), "{error}");
        std::fs::write(&path, &bytes[..7]).unwrap();
        assert!(open(path, sums).err().unwrap().to_string().contains("7 bytes instead of"));
    }
}
