//! Where a path leads that is to be written: to a file, which is replaced whole, or to something that is written
//! straight through.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Links that are followed at most, as the system does.
const LINKS: usize = 40;

/// What a path leads to.
pub(crate) enum Target {
    /// A file at the end of all links, which need not be there yet.
    File(PathBuf),
    /// A device, a pipe or an open file, which can't be put in its place whole.
    Through(File),
    /// Standard output under one of its names.
    Stdout,
}

impl Target {
    /// Finds out, and opens what is written straight through; of a named pipe this waits for its reader.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut end = path.to_owned();
        for _ in 0..LINKS {
            match descriptor(&end) {
                Some(1) => return Ok(Self::Stdout),
                // Whoever opened it may have written to it already.
                Some(_) => return OpenOptions::new().append(true).open(&end).map(Self::Through),
                None => {}
            }
            match fs::symlink_metadata(&end) {
                Ok(found) if found.is_symlink() => {
                    let link = fs::read_link(&end)?;
                    end = folder_of(&end).join(link);
                }
                Ok(found) => return Self::found(end, &found),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::File(end)),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("it is a link that leads to itself"))
    }

    fn found(path: PathBuf, found: &Metadata) -> io::Result<Self> {
        if found.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if is_socket(found) {
            return Err(io::Error::other("it is a socket, which can't be written like a file"));
        }
        // Of a file that one may not write to, this is the error; one that may be written stays as it is.
        let opened = OpenOptions::new().write(true).open(&path)?;
        Ok(if found.is_file() { Self::File(path) } else { Self::Through(opened) })
    }
}

/// The folder that a file is in, or is to be in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The number of the open file that a path names, as `/dev/fd/3` does: where that is a file, its path is a link, and what
/// stands there may be another file by now.
fn descriptor(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    let own = [Path::new("/proc").join(std::process::id().to_string()).join("fd"), "/dev/fd".into()];
    if own.contains(&folder) { name.parse().ok() } else { None }
}

#[cfg(unix)]
fn is_socket(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: &Metadata) -> bool {
    false
}

/// Gives a new file the owner and the rights of the one whose place it is to take, as far as this user may.
#[cfg(unix)]
pub(crate) fn keep_rights(new: &File, old: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let Ok(old) = fs::metadata(old) else { return Ok(()) };
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away; who may write to the old one may read the new one then.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
pub(crate) fn keep_rights(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}
