//! The files of the folders of a campaign.

use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

/// What the folders hold.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The regular files, by name.
    pub(crate) files: Vec<PathBuf>,
    /// What is left out, and why, as sentences.
    pub(crate) left_out: Vec<String>,
}

impl Listing {
    /// Lists folders, not what is in folders within them.
    ///
    /// # Errors
    /// When one can't be read, or is named twice.
    pub(crate) fn of(folders: &[PathBuf]) -> Result<Self> {
        let mut listing = Self::default();
        let mut seen = Vec::new();
        for folder in folders {
            let same = folder.canonicalize().map_err(|e| Error::io(folder, e))?;
            if seen.contains(&same) {
                let problem = format!("{} is named twice", folder.display());
                return Err(Error::usage(problem, "Name each folder once."));
            }
            seen.push(same);
            listing.add(folder)?;
        }
        Ok(listing)
    }

    fn add(&mut self, folder: &Path) -> Result<()> {
        let failed = |e| Error::io(folder, e);
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let mut paths =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        // The file system lists them in an order of its own.
        paths.sort();
        for path in paths {
            match reason_to_leave_out(&path) {
                Some(reason) => self.left_out.push(format!("left out: {} {reason}", Place::file(&path))),
                None => self.files.push(path),
            }
        }
        Ok(())
    }
}

/// Why an entry of a folder is not even looked into.
fn reason_to_leave_out(path: &Path) -> Option<&'static str> {
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        return Some("is hidden");
    }
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => Some("is a folder (name it too if its files are of this campaign)"),
        Ok(kind) if !kind.is_file() => Some("is a pipe or a device"),
        // What can't be looked at is told when it is to be read.
        Ok(_) | Err(_) => None,
    }
}
