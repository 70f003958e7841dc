//! A log in a file that grows, is renamed and begun again, or is copied and emptied; or in a pipe, which is kept in a temporary
//! file as it is read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::source::file::identity;
use crate::source::unpack::checked::Digest;

/// How long a file that has another one in its place must not have grown until it is left.
const QUIET: Duration = Duration::from_millis(300);

/// A log in a file. As long as there was one file only, its text is read where it is. Once there were others, all of
/// their texts are kept in one file.
pub(super) struct GrowingFile {
    path: PathBuf,
    open: Option<OpenFile>,
    /// The text of all files, if there were several.
    kept: Option<TemporaryFile>,
    /// Since when another file has been in the place of the open one, which has not grown since.
    replaced: Option<Instant>,
}

/// The file that is read.
struct OpenFile {
    file: File,
    identity: (u64, u64),
    /// The bytes that were read of it.
    read: Digest,
}

impl OpenFile {
    /// Opens a file, if there is one.
    fn at(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => {
                let identity = identity(&file.metadata()?);
                Ok(Some(Self { file, identity, read: Digest::default() }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads from a byte on. Bytes that are read for the first time are added to the digest.
    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(at))?;
        let read = self.file.read(out)?;
        let known = usize::try_from(self.read.bytes().saturating_sub(at)).unwrap_or(usize::MAX);
        let bytes = out.get(..read).unwrap_or_default();
        self.read.add(bytes.get(known..).unwrap_or_default());
        Ok(read)
    }
}

impl GrowingFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None, kept: None, replaced: None }
    }

    /// Returns true if there is no file, and never was.
    pub(super) fn is_missing(&self) -> bool {
        self.open.is_none()
    }

    /// The text of all files, if there were several.
    pub(super) fn kept(&self) -> Option<&TemporaryFile> {
        self.kept.as_ref()
    }

    /// Reads from a byte of the text on.
    pub(super) fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        if self.open.is_none() {
            self.open = OpenFile::at(&self.path)?;
        }
        let Some(open) = &mut self.open else { return Ok(Grown::Nothing) };
        let read = match &mut self.kept {
            None => open.read_at(at, out)?,
            Some(kept) if at < kept.bytes() => kept.read_at(at, out)?,
            Some(kept) => {
                let read = open.read_at(open.read.bytes(), out)?;
                kept.push(out.get(..read).unwrap_or_default())?;
                read
            }
        };
        match read {
            0 => self.turn(),
            read => {
                self.replaced = None;
                Ok(Grown::Bytes(read))
            }
        }
    }

    /// Looks, at the end of the open file, whether the log goes on in another one.
    fn turn(&mut self) -> io::Result<Grown> {
        let Some(open) = &self.open else { return Ok(Grown::Nothing) };
        let now = match fs::metadata(&self.path) {
            Ok(now) => now,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Grown::Nothing),
            Err(error) => return Err(error),
        };
        if identity(&now) != open.identity {
            return self.leave();
        }
        self.replaced = None;
        if now.len() < open.read.bytes() { self.emptied() } else { Ok(Grown::Nothing) }
    }

    /// Goes on in the file that is now in the place of the open one, once nobody writes to that any more.
    fn leave(&mut self) -> io::Result<Grown> {
        if self.replaced.get_or_insert_with(Instant::now).elapsed() < QUIET {
            return Ok(Grown::Soon);
        }
        let Some(next) = OpenFile::at(&self.path)? else { return Ok(Grown::Soon) };
        self.keep_open()?;
        self.open = Some(next);
        self.replaced = None;
        Ok(Grown::Soon)
    }

    /// Keeps the text of the open file, if that is all there is.
    fn keep_open(&mut self) -> io::Result<()> {
        let (None, Some(open)) = (&self.kept, &mut self.open) else { return Ok(()) };
        open.file.rewind()?;
        let mut kept = TemporaryFile::new()?;
        kept.append_from((&mut open.file).take(open.read.bytes()))?;
        self.kept = Some(kept);
        Ok(())
    }

    /// Keeps the text of a file that is no longer in its place.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let in_place = match (&self.open, fs::metadata(&self.path)) {
            (Some(open), Ok(now)) => identity(&now) == open.identity,
            _ => false,
        };
        if in_place { Ok(()) } else { self.keep_open() }
    }

    /// Goes on at the begin of a file that was emptied. Its content is read from its copy, with what was added before it
    /// was copied. Without a copy, the log is read from the beginning again.
    fn emptied(&mut self) -> io::Result<Grown> {
        let Some(open) = &mut self.open else { return Ok(Grown::Nothing) };
        let read = std::mem::take(&mut open.read);
        let Some(mut copy) = copy_of(&self.path, &read) else {
            self.kept = None;
            return Ok(Grown::Restarted);
        };
        // The copy is read up to what was read of the file: that is kept already, if anything is.
        match &mut self.kept {
            Some(kept) => kept.append_from(copy)?,
            None => {
                copy.rewind()?;
                let mut kept = TemporaryFile::new()?;
                kept.append_from(copy)?;
                self.kept = Some(kept);
            }
        }
        Ok(Grown::Soon)
    }
}

/// Returns the file beside a log that begins with the bytes that were read of the log, by their size and checksum.
fn copy_of(log: &Path, read: &Digest) -> Option<File> {
    let name = log.file_name()?.to_string_lossy().into_owned();
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let other = entry.file_name().to_string_lossy().into_owned();
        let named = other.starts_with(&name) && other != name;
        (named && entry.metadata().ok()?.len() >= read.bytes()).then(|| entry.path())
    });
    beside.filter_map(|path| begins_with(&path, read).ok()).flatten().next()
}

/// Opens a file if it begins with these bytes. The file is then read up to them.
fn begins_with(path: &Path, wanted: &Digest) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let (mut begin, mut found) = (file.take(wanted.bytes()), Digest::default());
    let mut piece = vec![0; 256 << 10];
    loop {
        match begin.read(&mut piece)? {
            0 => break,
            read => found.add(piece.get(..read).unwrap_or_default()),
        }
    }
    let same = (found.bytes(), found.crc32()) == (wanted.bytes(), wanted.crc32());
    Ok(same.then(|| begin.into_inner()))
}

/// What a log has beyond a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grown {
    /// This number of bytes, which were read.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Nothing yet, but it goes on in another file, so that reading must not end here.
    Soon,
    /// Nothing, for ever: a pipe was closed.
    Ended,
    /// Its file was emptied, and its content is nowhere else: the log begins again at its first byte.
    Restarted,
}

/// The number of bytes that are copied at once.
const PIECE: usize = 256 << 10;

/// A temporary file, which is removed when this is dropped. Bytes are appended, and read at any place.
pub(crate) struct TemporaryFile {
    file: NamedTempFile,
    bytes: u64,
}

impl TemporaryFile {
    /// Creates an empty file in the system's temporary folder.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::Builder::new().prefix("perfpipe-watch-").tempfile()?, bytes: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Its number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.bytes))?;
        self.file.write_all(bytes).map_err(full)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Appends what a reader has, to its end.
    fn append_from(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece)? {
                0 => return Ok(()),
                read => self.push(piece.get(..read).unwrap_or_default())?,
            }
        }
    }

    /// Reads from a byte on.
    pub(crate) fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read(out)
    }
}

/// Names the folder that is full.
fn full(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    io::Error::new(error.kind(), format!("keeping it in {} (TMPDIR names it): {error}", folder.display()))
}

/// The number of bytes that are read at once: the capacity of a pipe of Linux.
const COPY_PIECE: usize = 64 << 10;

/// A pipe, read by a thread of its own, since a read waits for as long as nobody writes.
pub(super) struct GrowingPipe(Arc<Mutex<PipeState>>);

struct PipeState {
    kept: TemporaryFile,
    /// How the pipe ended.
    end: Option<io::Result<()>>,
}

impl GrowingPipe {
    /// Starts to read what `open` returns.
    pub(super) fn begin<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(PipeState { kept: TemporaryFile::new()?, end: None }));
        let of_thread = Arc::clone(&state);
        let read = move || {
            let end = open().and_then(|pipe| keep(pipe, &of_thread));
            lock(&of_thread).end = Some(end);
        };
        // It is not joined: it may wait for a writer that never writes again.
        std::thread::Builder::new().name("perfpipe-pipe".to_owned()).spawn(read)?;
        Ok(Self(state))
    }

    /// Reads from a byte on.
    pub(super) fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        let mut state = lock(&self.0);
        if at < state.kept.bytes() {
            return state.kept.read_at(at, out).map(Grown::Bytes);
        }
        match &state.end {
            None => Ok(Grown::Nothing),
            Some(Ok(())) => Ok(Grown::Ended),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// Shows what was read so far.
    pub(super) fn with_kept<T>(&self, show: impl FnOnce(&TemporaryFile) -> T) -> T {
        show(&lock(&self.0).kept)
    }
}

/// Keeps all that a pipe gives.
fn keep(mut pipe: impl Read, state: &Mutex<PipeState>) -> io::Result<()> {
    let mut piece = vec![0; COPY_PIECE];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => lock(state).kept.push(piece.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn lock(state: &Mutex<PipeState>) -> MutexGuard<'_, PipeState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
