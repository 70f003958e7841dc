//! Finds the copy of a log that was emptied, as `logrotate` with `copytruncate` leaves one beside it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::source::unpack::checked::Digest;

/// Returns the file beside a log that begins with the bytes that were read of the log, told by their size and checksum.
pub(super) fn copy_of(log: &Path, read: &Digest) -> Option<File> {
    let name = log.file_name()?.to_string_lossy().into_owned();
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let other = entry.file_name().to_string_lossy().into_owned();
        let named = other.starts_with(&name) && other != name;
        (named && entry.metadata().ok()?.len() >= read.bytes()).then(|| entry.path())
    });
    beside.filter_map(|path| begins_with(&path, read).ok()).flatten().next()
}

/// Opens a file if it begins with these bytes. The file is then read up to them.
fn begins_with(path: &Path, wanted: &Digest) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let (mut begin, mut found) = (file.take(wanted.bytes()), Digest::default());
    let mut piece = vec![0; 256 << 10];
    loop {
        match begin.read(&mut piece)? {
            0 => break,
            read => found.add(piece.get(..read).unwrap_or_default()),
        }
    }
    let same = (found.bytes(), found.crc32()) == (wanted.bytes(), wanted.crc32());
    Ok(same.then(|| begin.into_inner()))
}
