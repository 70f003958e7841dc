//! The target of an output path: a file, which is replaced as a whole, or something that is written directly.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::unfinished::piped;

/// The largest number of links that are followed, as on Linux.
const LINKS: usize = 40;

/// The target of a path.
pub(crate) enum Target {
    /// A file at the end of all links, which need not exist yet.
    File(PathBuf),
    /// A device, a pipe or an open file, which can't be replaced as a whole.
    Through(File),
    /// Standard output, given by one of its names.
    Stdout,
}

impl Target {
    /// Finds the target of a path, and opens it if it is written directly; a named pipe waits for its reader.
    ///
    /// In a folder where everyone may put files, such as `/tmp`, what another user put there is neither followed nor
    /// replaced: it could lead to a file of this user, or give that user what is written. Linux has the same rules
    /// (`fs.protected_symlinks`, `_regular`, `_fifos`), but knows only what it opens, not what is replaced.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut end = path.to_owned();
        for _ in 0..LINKS {
            match descriptor(&end) {
                Some(1) => return Ok(Self::Stdout),
                // The process that opened the file may have written to it already.
                Some(_) => return OpenOptions::new().append(true).open(&end).map(Self::Through),
                None => {}
            }
            let found = fs::symlink_metadata(&end);
            if let Ok(found) = &found {
                refuse_foreign(&end, found)?;
            }
            match found {
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
        // Fails for a file that can't be written; does not change one that can.
        let opened = piped(|| OpenOptions::new().write(true).open(&path))?;
        Ok(if found.is_file() { Self::File(path) } else { Self::Through(opened) })
    }
}

/// Returns the folder that a file is in, or will be in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the number of the open file that a path names, as in `/dev/fd/3`. If it is a file, the path is a link to a
/// name, which may belong to another file by now.
fn descriptor(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    let own = [Path::new("/proc").join(std::process::id().to_string()).join("fd"), "/dev/fd".into()];
    if own.contains(&folder) { name.parse().ok() } else { None }
}

/// Fails if a folder is a link that another user put where everyone may put files.
pub(crate) fn refuse_foreign_link(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_symlink() => refuse_foreign(folder, &found),
        _ => Ok(()),
    }
}

fn refuse_foreign(path: &Path, found: &Metadata) -> io::Result<()> {
    match is_foreign(path, found)? {
        true => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "another user put it there, in a folder where everyone may put files",
        )),
        false => Ok(()),
    }
}

/// Returns true if something belongs to another user, in a folder of yet another where everyone may put files.
#[cfg(unix)]
fn is_foreign(path: &Path, found: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    /// Everyone may put files there, and remove only their own.
    const SHARED: u32 = 0o1002;
    let folder = fs::metadata(folder_of(path))?;
    let is_shared = folder.mode() & SHARED == SHARED && folder.uid() != found.uid();
    // A file of one's own has the user's number.
    Ok(is_shared && tempfile::tempfile()?.metadata()?.uid() != found.uid())
}

#[cfg(not(unix))]
fn is_foreign(_: &Path, _: &Metadata) -> io::Result<bool> {
    Ok(false)
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

/// Gives a new file the owner and the permissions of the file that it will replace, as far as this user may.
#[cfg(unix)]
pub(crate) fn keep_rights(new: &File, old: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let Ok(old) = fs::metadata(old) else { return Ok(()) };
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only root may change the owner; otherwise the file stays this user's, with the old permissions.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
pub(crate) fn keep_rights(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}
