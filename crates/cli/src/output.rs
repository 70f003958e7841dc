//! What is written where: data to standard output or whole files, everything else to standard error.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfpipe_analyze::Format;

use crate::args::TableFormat;

/// Bytes gathered before they are written.
const BUFFER: usize = 256 << 10;

/// Characters of a sentence that are shown at most.
const SENTENCE: usize = 1500;

impl From<TableFormat> for Format {
    fn from(format: TableFormat) -> Self {
        match format {
            TableFormat::Text => Self::Text,
            TableFormat::Md => Self::Markdown,
            TableFormat::Csv => Self::Csv,
            TableFormat::Json => Self::Json,
        }
    }
}

/// Says something to the person at the terminal, in one line.
pub(crate) fn note(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", sentence(text));
}

/// A sentence as a terminal can be given it, whatever the names in it hold: no control characters, and, where it is
/// very long, its beginning and its end.
pub(crate) fn sentence(text: &str) -> String {
    let line = perfpipe_analyze::one_line(text);
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
    File { writer: BufWriter<tempfile::NamedTempFile>, path: PathBuf },
}

impl Output {
    /// Opens the file, or standard output where none is named, before any work is done.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout())));
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = new_file(folder).with_context(|| format!("can't write {}", path.display()))?;
        Ok(Self::File { writer: BufWriter::with_capacity(BUFFER, file), path: path.to_owned() })
    }

    /// Ends the output: a file gets its name now.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(mut writer) => Ok(writer.flush()?),
            Self::File { writer, path } => {
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(&path).with_context(|| format!("can't write {}", path.display()))?;
                Ok(())
            }
        }
    }

    /// Ends the output of a command that failed: what is not yet written is not written any more, so that a failure
    /// at the start leaves no header behind.
    pub(crate) fn discard(self) {
        if let Self::Stdout(writer) = self {
            drop(writer.into_parts());
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(writer) => writer.write(bytes),
            Self::File { writer, .. } => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.flush(),
            Self::File { writer, .. } => writer.flush(),
        }
    }
}

/// A file without its final name, as readable as any other.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".perfpipe-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A folder for pages, made if it is not there, and checked to be writable before any work is done.
pub(crate) fn page_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
        .and_then(|()| new_file(path).map(drop))
        .with_context(|| format!("can't write into {}", path.display()))
}

/// Writes a file whole.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::open(Some(path))?;
    output.write_all(bytes).with_context(|| format!("can't write {}", path.display()))?;
    output.finish()
}

/// Bytes of a file name, without its ending, at most; file systems take 255.
const FILE_NAME: usize = 120;

/// A file name for a run or a test: what is safe everywhere stays, the rest becomes `-`. One that would be too long is
/// cut, and told from others by a hash of the whole.
pub(crate) fn file_name(text: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let mut name: String = text.chars().map(safe).collect();
    if name.len() > FILE_NAME {
        name.truncate(name.floor_char_boundary(FILE_NAME));
        name.push_str(&format!("-{:016x}", hash(text)));
    }
    if name.starts_with('.') { format!("-{name}") } else { name }
}

/// FNV-1a: the same in all versions, so that a page is written over by its successor.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
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
    use super::{SENTENCE, file_name, sentence};

    #[test]
    fn a_sentence_is_one_line_of_bounded_length() {
        assert_eq!(sentence("a\nb \u{1b}[31m"), r"a\nb \u{1b}[31m");
        let long = format!("run {} is not there", "x".repeat(10_000));
        let shown = sentence(&long);
        assert!(shown.chars().count() < SENTENCE + 10, "{shown}");
        assert!(shown.starts_with("run x") && shown.ends_with("x is not there"), "{shown}");
    }

    #[test]
    fn file_names_are_safe() {
        assert_eq!(file_name("127.0.0.1:9000_2048"), "127.0.0.1-9000_2048");
        assert_eq!(file_name("../x y"), "-..-x-y");
        assert_eq!(file_name("Größe"), "Größe");
        let long = "配".repeat(1_000);
        let name = file_name(&long);
        assert!(name.len() <= 140 && name.starts_with("配配"), "{name}");
        assert_ne!(name, file_name(&format!("{long}x")));
    }
}
