//! Interpretation of flags: stores, runs, views, and flags without effect.

pub(crate) mod file_names;
pub(crate) mod idle_flags;
pub(crate) mod left_out;
pub(crate) mod point_name;
pub(crate) mod points;
pub(crate) mod ports;
pub(crate) mod readings;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod store;
pub(crate) mod summaries;
pub(crate) mod versions;
pub(crate) mod view;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::error::CliError;

/// The maximum size of a file of rules or ports, in bytes.
const LARGEST: u64 = 1 << 20;

/// Reads a file that a flag names.
///
/// # Errors
/// If it can't be read, or is larger than any that somebody wrote.
pub(crate) fn text_of(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    let refused = |problem: String| Err(CliError::refused(problem, "Check the name and its folder."));
    match read {
        Ok(size) if size as u64 > LARGEST => {
            refused(format!("{} is larger than {} MiB", path.display(), LARGEST >> 20))
        }
        Ok(_) => Ok(text),
        Err(error) => refused(format!("can't read {}: {error}", path.display())),
    }
}
