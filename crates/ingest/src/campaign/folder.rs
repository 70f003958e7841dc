//! Lists the files in the folders of a campaign.

use std::path::{Path, PathBuf};

use perfpipe_model::error::{Error, ErrorKind, Place, Result};

/// The entries of the folders.
#[derive(Debug, Default)]
pub(crate) struct FolderListing {
    /// The regular files, sorted by name within each folder.
    pub(crate) files: Vec<PathBuf>,
    /// The skipped entries with the reason, as sentences.
    pub(crate) left_out: Vec<String>,
}

impl FolderListing {
    /// Lists the files in the folders and in their subfolders. Links to folders are not followed.
    ///
    /// # Errors
    /// When a folder can't be read, or is named twice.
    pub(crate) fn of(folders: &[PathBuf]) -> Result<Self> {
        let mut listing = Self::default();
        let mut seen = Vec::new();
        for folder in folders {
            let same = folder.canonicalize().map_err(|e| Error::io(folder, e))?;
            if seen.contains(&same) {
                let problem = format!("{} is named twice", folder.display());
                return Err(Error::usage(ErrorKind::NamedTwice, problem, "Name each folder once."));
            }
            seen.push(same);
        }
        // A folder within another one that is named is listed with that.
        let within = |(at, same): (usize, &PathBuf)| {
            seen.iter().enumerate().any(|(other, of)| other != at && same.starts_with(of))
        };
        for (at, folder) in folders.iter().enumerate() {
            if !seen.get(at).is_some_and(|same| within((at, same))) {
                listing.add(folder)?;
            }
        }
        Ok(listing)
    }

    fn add(&mut self, folder: &Path) -> Result<()> {
        let failed = |e| Error::io(folder, e);
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let mut paths =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        // The order of `read_dir` depends on the file system.
        paths.sort();
        for path in paths {
            match reason_to_leave_out(&path) {
                None if path.is_dir() => self.add(&path)?,
                Some(reason) => self.left_out.push(format!("left out: {} {reason}", Place::file(&path))),
                None => self.files.push(path),
            }
        }
        Ok(())
    }
}

/// The reason to skip an entry of a folder without reading it, if there is one.
fn reason_to_leave_out(path: &Path) -> Option<&'static str> {
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        return Some("is hidden");
    }
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() && path.is_symlink() => Some("is a link to a folder"),
        Ok(kind) if kind.is_dir() => None,
        Ok(kind) if !kind.is_file() => Some("is a pipe or a device"),
        // An entry without metadata fails later, when it is read.
        Ok(_) | Err(_) => None,
    }
}
