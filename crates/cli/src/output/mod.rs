//! Output: data to standard output or to whole files, everything else to standard error.

pub(crate) mod comment;
pub(crate) mod done;
pub(crate) mod figures;
pub(crate) mod fonts;
pub(crate) mod notes;
pub(crate) mod pages;
pub(crate) mod progress;
mod say;
pub(crate) mod target;
pub(crate) mod terminal;
pub(crate) mod unfinished;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) use self::say::{be_quiet, note, print_message, print_written, sentence, warn};

use self::target::{Target, folder_of, keep_rights, refuse_foreign_link};
use self::unfinished::{Unfinished, go_on, piped};

/// The size of the write buffer, in bytes.
const BUFFER: usize = 256 << 10;

/// The destination of a command's data. A file gets its name only once it is complete.
pub(crate) enum Output {
    Stdout(BufWriter<io::Stdout>),
    /// A file, which gets its name at the end.
    File {
        writer: BufWriter<Unfinished>,
        place: FilePath,
    },
    /// A device or a pipe.
    Through {
        writer: BufWriter<File>,
        path: PathBuf,
    },
}

/// The path of a file as the user gave it, and with links resolved.
pub(crate) struct FilePath {
    asked: PathBuf,
    end: PathBuf,
}

impl Output {
    /// Opens a file, or standard output if none is given or `-` is, before any work is done. Links are followed; devices
    /// and pipes are written directly.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return Ok(Self::stdout()) };
        Self::open_target(path).with_context(|| cant_write(path))
    }

    fn open_target(path: &Path) -> io::Result<Self> {
        Ok(match Target::of(path)? {
            Target::Stdout => Self::stdout(),
            Target::Through(file) => {
                Self::Through { writer: BufWriter::with_capacity(BUFFER, file), path: path.to_owned() }
            }
            Target::File(end) => {
                let file = Unfinished::new(folder_of(&end))?;
                keep_rights(file.file(), &end)?;
                let writer = BufWriter::with_capacity(BUFFER, file);
                Self::File { writer, place: FilePath { asked: path.to_owned(), end } }
            }
        })
    }

    fn stdout() -> Self {
        Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    /// Completes the output; a file gets its name now.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self {
            Self::Stdout(_) | Self::Through { .. } => Ok(()),
            Self::File { writer, place } => {
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(&place.end).with_context(|| cant_write(&place.asked))
            }
        }
    }

    /// Drops the output of a failed command. Unwritten data are discarded, so that an early failure leaves no header
    /// behind.
    pub(crate) fn discard(self) {
        match self {
            Self::Stdout(writer) => drop(writer.into_parts()),
            Self::Through { writer, .. } => drop(writer.into_parts()),
            Self::File { .. } => {}
        }
    }

    /// Adds the destination to an error of writing.
    fn named(&self, error: io::Error) -> io::Error {
        let place = match self {
            Self::Stdout(_) => Path::new("standard output"),
            Self::File { place, .. } => &place.asked,
            Self::Through { path, .. } => path,
        };
        io::Error::new(error.kind(), format!("{}: {error}", cant_write(place)))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        go_on()?;
        match self {
            Self::Stdout(writer) => piped(|| writer.write(bytes)),
            Self::File { writer, .. } => writer.write(bytes),
            Self::Through { writer, .. } => piped(|| writer.write(bytes)),
        }
        .map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => piped(|| writer.flush()),
            Self::File { writer, .. } => writer.flush(),
            Self::Through { writer, .. } => piped(|| writer.flush()),
        }
        .map_err(|error| self.named(error))
    }
}

fn cant_write(path: &Path) -> String {
    format!("can't write {}", path.display())
}

/// Creates a folder for pages if necessary, and checks that it can be written, before any work is done.
pub(crate) fn page_folder(path: &Path) -> Result<()> {
    refuse_foreign_link(path)
        .and_then(|()| std::fs::create_dir_all(path))
        .and_then(|()| Unfinished::new(path).map(drop))
        .with_context(|| format!("can't write into {}", path.display()))
}

/// Writes a whole file, which gets its name once it is complete.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::open(Some(path))?;
    output.write_all(bytes)?;
    output.finish()
}

/// Returns the line, from 1, of a byte offset in a text.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns true if standard error is a terminal.
pub(crate) fn on_terminal() -> bool {
    use std::io::IsTerminal;
    io::stderr().is_terminal()
}

/// Returns the size of a file in bytes; `None` for anything else. Does not open it, since the writer of a named pipe
/// would take that for its reader.
pub(crate) fn size_of(path: &Path) -> Option<u64> {
    let kind = std::fs::metadata(path).ok()?;
    kind.is_file().then_some(kind.len())
}
