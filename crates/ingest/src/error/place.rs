//! Where in the input something is.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in the input: as much of file, member, line and byte as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file as the user named it (`-` is standard input).
    pub file: PathBuf,
    /// The member inside a zip.
    pub member: Option<String>,
    /// Line number, from 1, of the first line of the record.
    pub line: Option<u64>,
    /// Byte offset, from 0, in the unpacked log.
    pub byte: Option<u64>,
}

impl Place {
    /// A place that is a whole file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self { file: path.as_ref().to_owned(), ..Self::default() }
    }

    /// Returns this place narrowed to a member of the zip.
    #[must_use]
    pub fn member(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Returns this place narrowed to a line (from 1) and a byte (from 0).
    #[must_use]
    pub fn at(mut self, line: u64, byte: u64) -> Self {
        self.line = Some(line);
        self.byte = Some(byte);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.as_os_str() == "-" {
            write!(f, "standard input")?;
        } else {
            write!(f, "{}", self.file.display())?;
        }
        if let Some(member) = &self.member {
            write!(f, ", member {member}")?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(byte) = self.byte {
            write!(f, " (byte {byte})")?;
        }
        Ok(())
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self::file(path)
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        Self::file(path)
    }
}
