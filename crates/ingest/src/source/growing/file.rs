//! A log in a file that grows, is renamed and begun again, or is copied and emptied.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::copies::copy_of;
use super::grown::Grown;
use super::kept::Kept;
use crate::source::snapshot::identity;
use crate::source::unpack::checked::Digest;

/// How long a file that has another one in its place must not have grown until it is left.
const QUIET: Duration = Duration::from_millis(300);

/// A log in a file. As long as there was one file only, its text is read where it is. Once there were others, all of
/// their texts are kept together.
pub(super) struct GrowingFile {
    path: PathBuf,
    open: Option<Open>,
    /// The text of all files, if there were several.
    kept: Option<Kept>,
    /// Since when another file has been in the place of the open one, which has not grown since.
    replaced: Option<Instant>,
}

/// The file that is read.
struct Open {
    file: File,
    identity: (u64, u64),
    /// The bytes that were read of it.
    read: Digest,
}

impl Open {
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
    pub(super) fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    /// Reads from a byte of the text on.
    pub(super) fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        if self.open.is_none() {
            self.open = Open::at(&self.path)?;
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
        let Some(next) = Open::at(&self.path)? else { return Ok(Grown::Soon) };
        self.keep_open()?;
        self.open = Some(next);
        self.replaced = None;
        Ok(Grown::Soon)
    }

    /// Keeps the text of the open file, if that is all there is.
    fn keep_open(&mut self) -> io::Result<()> {
        let (None, Some(open)) = (&self.kept, &mut self.open) else { return Ok(()) };
        open.file.rewind()?;
        let mut kept = Kept::new()?;
        kept.take((&mut open.file).take(open.read.bytes()))?;
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

    /// Goes on at the begin of a file that was emptied. What it held is taken from its copy, with what was added before it
    /// was copied. Without a copy, the log begins anew.
    fn emptied(&mut self) -> io::Result<Grown> {
        let Some(open) = &mut self.open else { return Ok(Grown::Nothing) };
        let read = std::mem::take(&mut open.read);
        let Some(mut copy) = copy_of(&self.path, &read) else {
            self.kept = None;
            return Ok(Grown::Anew);
        };
        // The copy is read up to what was read of the file: that is kept already, if anything is.
        match &mut self.kept {
            Some(kept) => kept.take(copy)?,
            None => {
                copy.rewind()?;
                let mut kept = Kept::new()?;
                kept.take(copy)?;
                self.kept = Some(kept);
            }
        }
        Ok(Grown::Soon)
    }
}
