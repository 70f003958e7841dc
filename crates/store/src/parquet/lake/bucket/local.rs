//! The folder of a store on this machine's disk. What is a link within it is neither read, written, listed nor deleted,
//! since it may lead out of the store.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use perfpipe_model::error::{Error, ErrorKind};

/// An object that was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    /// When it was written, by the clock of the bucket, epoch ms.
    pub(crate) since_ms: i64,
}

/// A folder on the disk. The folder itself may be a link.
pub(super) struct LocalFolder(pub(super) PathBuf);

impl LocalFolder {
    /// Fails if a name in the folder leads over a link, or to something that is neither a file nor a folder.
    pub(super) fn check(&self, name: &str) -> io::Result<()> {
        let mut path = self.0.clone();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            path.push(part);
            if [".", ".."].contains(&part) {
                return Err(outside(&path));
            }
            match path.symlink_metadata() {
                Ok(found) => check_kind(&path, found.file_type())?,
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the files in a folder and in those in it, whose names come after one.
    ///
    /// # Errors
    /// If one of them is a link, or neither a file nor a folder.
    pub(super) fn list(&self, name: &str, after: Option<&str>) -> io::Result<Vec<ListedObject>> {
        self.check(name)?;
        self.walk(name, after, &mut check_kind)
    }

    /// Returns the files in a folder and in those in it, without what is a link, or neither a file nor a folder.
    pub(super) fn list_own(&self, name: &str) -> io::Result<Vec<ListedObject>> {
        match self.check(name) {
            Err(error) if is_foreign(&error) => Ok(Vec::new()),
            checked => checked.and_then(|()| self.walk(name, None, &mut |_, _| Ok(()))),
        }
    }

    /// Says of all in the folder that is a link, or neither a file nor a folder, what it is.
    pub(super) fn foreign(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        self.walk("", None, &mut |path, kind| {
            found.extend(foreign(path, kind).map(|(what, _)| what));
            Ok(())
        })?;
        Ok(found)
    }

    /// Passes each entry in a folder and in those in it to `look`, and returns the files whose names come after one.
    fn walk(
        &self,
        name: &str,
        after: Option<&str>,
        look: &mut dyn FnMut(&Path, FileType) -> io::Result<()>,
    ) -> io::Result<Vec<ListedObject>> {
        let mut listed = Vec::new();
        let mut folders = vec![name.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(self.0.join(&folder)) {
                Err(error) if is_absent(&error) => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                // perfpipe gives no such names.
                let Ok(own) = entry.file_name().into_string() else { continue };
                let name = if folder.is_empty() { own.clone() } else { format!("{folder}/{own}") };
                // A folder of that name has only what comes after it.
                let is_before = after.is_some_and(|after| *name <= *after && !after.starts_with(&name));
                if is_before || is_unfinished(&own) {
                    continue;
                }
                let kind = entry.file_type()?;
                look(&entry.path(), kind)?;
                if kind.is_dir() {
                    folders.push(name);
                } else if kind.is_file() {
                    listed.extend(about(name, &entry)?);
                }
            }
        }
        if let Some(after) = after {
            listed.retain(|found| *found.name > *after);
        }
        Ok(listed)
    }

    /// Returns the names of what is directly in the folder.
    pub(super) fn entries(&self) -> io::Result<Vec<String>> {
        match fs::read_dir(&self.0) {
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            entries => entries?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect(),
        }
    }

    /// Removes a file, if it is there. Each folder on the way is opened as what it is, so that nobody can put a link in
    /// its place meanwhile.
    #[cfg(unix)]
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        use rustix::fs::{AtFlags, Mode, OFlags, open, openat, unlinkat};
        self.check(name)?;
        let folder = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let remove = || {
            let mut at = open(&self.0, folder, Mode::empty())?;
            let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
            for part in folders.split('/').filter(|part| !part.is_empty()) {
                at = openat(&at, part, folder | OFlags::NOFOLLOW, Mode::empty())?;
            }
            unlinkat(&at, file, AtFlags::empty())
        };
        match remove().map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes a file, if it is there.
    #[cfg(not(unix))]
    fn remove(&self, name: &str) -> io::Result<()> {
        self.check(name)?;
        match fs::remove_file(self.0.join(name)) {
            Err(error) if is_absent(&error) => Ok(()),
            removed => removed,
        }
    }
}

/// Returns true if there is no such file. What leads through a file is not there.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns true if a file is one that the object store's client has begun and not finished: it has a number at its end.
fn is_unfinished(name: &str) -> bool {
    let number = name.rsplit_once('#').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn outside(path: &Path) -> io::Error {
    let why = format!("{} leads out of the store", path.display());
    Error::io_failure(ErrorKind::TableForeign, why, "Find out who wrote this name into the store.")
}

fn check_kind(path: &Path, kind: FileType) -> io::Result<()> {
    match foreign(path, kind) {
        None => Ok(()),
        Some((what, code)) => {
            Err(Error::io_failure(code, what, "Remove it, or put in its place what it stands for."))
        }
    }
}

/// Says what an entry is that is neither a file nor a folder.
fn foreign(path: &Path, kind: FileType) -> Option<(String, ErrorKind)> {
    let (what, code) = match kind {
        kind if kind.is_file() || kind.is_dir() => return None,
        kind if kind.is_symlink() => {
            ("a link, and links within a store are not followed", ErrorKind::LinkInStore)
        }
        _ => ("neither a file nor a folder", ErrorKind::OtherInStore),
    };
    Some((format!("{} is {what}", path.display()), code))
}

/// Returns true if a name leads over a link, or to something that is neither a file nor a folder.
fn is_foreign(error: &io::Error) -> bool {
    [ErrorKind::LinkInStore, ErrorKind::OtherInStore].contains(&Error::kind_of(error))
}

/// Returns what is known of a file; `None` if it is gone meanwhile.
fn about(name: String, entry: &fs::DirEntry) -> io::Result<Option<ListedObject>> {
    let found = match entry.metadata() {
        Err(error) if is_absent(&error) => return Ok(None),
        found => found?,
    };
    let since = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let since_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    Ok(Some(ListedObject { name, since_ms }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A store with a file, and a folder outside of it with another.
    fn folders() -> (tempfile::TempDir, LocalFolder, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let (store, outside) = (home.path().join("store"), home.path().join("outside"));
        fs::create_dir_all(store.join("a/b")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(store.join("a/b/own"), "x").unwrap();
        fs::write(outside.join("own"), "kept").unwrap();
        (home, LocalFolder(store), outside)
    }

    fn names(local: &LocalFolder, folder: &str, after: Option<&str>) -> Vec<String> {
        let mut names: Vec<String> =
            local.list(folder, after).unwrap().into_iter().map(|found| found.name).collect();
        names.sort();
        names
    }

    #[test]
    fn links_are_neither_listed_nor_deleted_through() {
        for link in ["a/b/own", "a/b", "a"] {
            let (_home, local, outside) = folders();
            let path = local.0.join(link);
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
            symlink(if link.ends_with("own") { outside.join("own") } else { outside.clone() }, &path)
                .unwrap();
            let name = if link == "a" { "a/own" } else { "a/b/own" };
            for failed in [local.check(name), local.list("a", None).map(drop), local.remove(name)] {
                let error = Error::io(Path::new("x"), failed.unwrap_err());
                assert_eq!(error.kind(), ErrorKind::LinkInStore, "{link}");
            }
            assert_eq!(fs::read_to_string(outside.join("own")).unwrap(), "kept", "{link}");
        }
    }

    #[test]
    fn links_are_passed_over_and_named_where_only_own_files_are_listed() {
        let (_home, local, outside) = folders();
        symlink(&outside, local.0.join("a/link")).unwrap();
        symlink(&outside, local.0.join("b")).unwrap();
        let own =
            |name| local.list_own(name).unwrap().into_iter().map(|found| found.name).collect::<Vec<_>>();
        assert_eq!((own("a"), own("b"), own("b/c")), (vec!["a/b/own".to_owned()], vec![], vec![]));
        let named = local.foreign().unwrap();
        assert!(named.len() == 2 && named.iter().all(|named| named.contains("is a link")), "{named:?}");
    }

    #[test]
    fn files_are_listed_and_removed() {
        let (_home, local, _) = folders();
        for name in ["a/b/own#1", "a/b/x#y", "a/c", "a/a"] {
            fs::write(local.0.join(name), "").unwrap();
        }
        assert_eq!(names(&local, "a", None), ["a/a", "a/b/own", "a/b/x#y", "a/c"]);
        assert_eq!(names(&local, "a", Some("a/b/own")), ["a/b/x#y", "a/c"]);
        assert_eq!(names(&local, "none", None), [""; 0]);
        for _ in 0..2 {
            local.remove("a/b/own").unwrap();
            local.remove("none/own").unwrap();
        }
        assert!(local.remove("a/b").is_err() && local.remove("a/../a/a").is_err());
        assert_eq!(names(&local, "a", None), ["a/a", "a/b/x#y", "a/c"]);
    }
}
