//! Interpretation of flags: stores, runs, views, and flags without effect.

pub(crate) mod idle_flags;
pub(crate) mod left_out;
pub(crate) mod name_pattern;
pub(crate) mod points;
pub(crate) mod readings;
pub(crate) mod runs;
pub(crate) mod store;
pub(crate) mod summaries;
pub(crate) mod versions;
pub(crate) mod view;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::CliError;

/// The maximum size of a file of rules or ports, in bytes.
const LARGEST: u64 = 1 << 20;

/// Opens a small file that a flag or a variable names. A pipe is refused, since nothing could end the wait for it.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    match path.metadata()?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is no plain file")),
    }
}

/// Reads a file that a flag names.
///
/// # Errors
/// If it can't be read, is no plain file, or is larger than any that somebody wrote.
pub(crate) fn text_of(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = open_plain(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    let refused = |problem: String| Err(CliError::refused(problem, "Check the name and its folder."));
    match read {
        Ok(size) if size as u64 > LARGEST => {
            refused(format!("{} is larger than {} MiB", path.display(), LARGEST >> 20))
        }
        Ok(_) => Ok(text),
        Err(error) => refused(format!("can't read {}: {error}", path.display())),
    }
}
