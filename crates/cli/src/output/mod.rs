//! What is written where: data to standard output or whole files, everything else to standard error.

pub(crate) mod pages;
pub(crate) mod progress;
pub(crate) mod target;
pub(crate) mod unfinished;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::target::{Target, folder_of, keep_rights};
use self::unfinished::{Unfinished, go_on};

/// Bytes gathered before they are written.
const BUFFER: usize = 256 << 10;

/// Characters of a sentence that are shown at most.
const SENTENCE: usize = 1500;

/// Says something to the person at the terminal, in one line.
pub(crate) fn note(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", sentence(text));
}

/// A sentence as a terminal can be given it, whatever the names in it hold: no control characters, and, where it is
/// very long, its beginning and its end.
pub(crate) fn sentence(text: &str) -> String {
    let line = perfpipe_analyze::format::one_line(text);
    let length = line.chars().count();
    if length <= SENTENCE {
        return line;
    }
    let begin: String = line.chars().take(SENTENCE / 2).collect();
    let end: String = line.chars().skip(length - SENTENCE / 2).collect();
    format!("{begin} … {end}")
}

/// Where a command's data go. A file appears under its name only when it is whole.
pub(crate) enum Output {
    Stdout(BufWriter<io::Stdout>),
    /// A file, which gets its name at the end.
    File {
        writer: BufWriter<Unfinished>,
        place: Place,
    },
    /// A device or a pipe.
    Through {
        writer: BufWriter<File>,
        path: PathBuf,
    },
}

/// What a file was called by whoever asked for it, and where it is.
pub(crate) struct Place {
    asked: PathBuf,
    end: PathBuf,
}

impl Output {
    /// Opens the file, or standard output where none is named, before any work is done. Links are followed; what is no
    /// file is written straight through.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::stdout()) };
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
                Self::File { writer, place: Place { asked: path.to_owned(), end } }
            }
        })
    }

    fn stdout() -> Self {
        Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()))
    }

    /// Ends the output: a file gets its name now.
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

    /// Ends the output of a command that failed: what is not yet written is not written any more, so that a failure
    /// at the start leaves no header behind.
    pub(crate) fn discard(self) {
        match self {
            Self::Stdout(writer) => drop(writer.into_parts()),
            Self::Through { writer, .. } => drop(writer.into_parts()),
            Self::File { .. } => {}
        }
    }

    /// An error of writing, with the place where it happened.
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
            Self::Stdout(writer) => writer.write(bytes),
            Self::File { writer, .. } => writer.write(bytes),
            Self::Through { writer, .. } => writer.write(bytes),
        }
        .map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.flush(),
            Self::File { writer, .. } => writer.flush(),
            Self::Through { writer, .. } => writer.flush(),
        }
        .map_err(|error| self.named(error))
    }
}

fn cant_write(path: &Path) -> String {
    format!("can't write {}", path.display())
}

/// A folder for pages, made if it is not there, and checked to be writable before any work is done.
pub(crate) fn page_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
        .and_then(|()| Unfinished::new(path).map(drop))
        .with_context(|| format!("can't write into {}", path.display()))
}

/// Writes a file whole.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::open(Some(path))?;
    output.write_all(bytes)?;
    output.finish()
}

/// The line, from 1, of a byte of a text.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Whether a person is looking at standard error.
pub(crate) fn on_terminal() -> bool {
    use std::io::IsTerminal;
    io::stderr().is_terminal()
}

/// The size of a file in bytes; `None` of what is no file. It is not opened: who writes into a named pipe would take that
/// for its reader.
pub(crate) fn size_of(path: &Path) -> Option<u64> {
    let kind = std::fs::metadata(path).ok()?;
    kind.is_file().then_some(kind.len())
}

#[cfg(test)]
mod tests {
    use super::{SENTENCE, sentence};

    #[test]
    fn a_sentence_is_one_line_of_bounded_length() {
        assert_eq!(sentence("a\nb \u{1b}[31m"), r"a\nb \u{1b}[31m");
        let long = format!("run {} is not there", "x".repeat(10_000));
        let shown = sentence(&long);
        assert!(shown.chars().count() < SENTENCE + 10, "{shown}");
        assert!(shown.starts_with("run x") && shown.ends_with("x is not there"), "{shown}");
    }
}
