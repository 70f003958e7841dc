//! Small files that unpack to much, or stand for much, one for what is worst for each reader. `.ci/long memory` reads them.
//!
//! To add a row, write a file of the readers' kind beside this one, or take the one that fits, and add a [`Bomb`] to its list,
//! with what writes its files into an empty folder, and the command, which runs there; then add a new list to [`all`]. No
//! command may take more than [`LIMIT`] MB. `PERFPIPE_MEMORY_CASE=NAME` runs the rows that have that in their names.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::bombs_logs;
use crate::bombs_summaries;

/// The most MB, of 1,000,000 bytes, that a command may take for any input.
pub(crate) const LIMIT: u64 = 300;

/// An input that is made to take much, and the command that reads it.
pub(crate) struct Bomb {
    pub(crate) name: &'static str,
    /// Writes the input into a folder.
    pub(crate) write: fn(&Path),
    /// The command, without its store.
    pub(crate) command: &'static [&'static str],
    /// What it may end with.
    pub(crate) codes: &'static [i32],
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Bomb> {
    bombs_logs::BOMBS.iter().chain(bombs_summaries::BOMBS)
}

/// Writes a packed file.
pub(crate) fn packed(folder: &Path, name: &str, write: impl FnOnce(&mut dyn Write)) {
    let file = File::create(folder.join(name)).unwrap();
    let mut out = BufWriter::with_capacity(1 << 20, GzEncoder::new(file, Compression::fast()));
    write(&mut out);
    out.into_inner().unwrap().finish().unwrap();
}

/// Writes a text so often that it takes at least so many bytes.
pub(crate) fn repeat(out: &mut dyn Write, text: &str, bytes: usize) {
    let many = text.repeat((1 << 16) / text.len() + 1);
    (0..bytes / many.len() + 1).for_each(|_| out.write_all(many.as_bytes()).unwrap());
}

/// Writes a text for each number below a limit.
pub(crate) fn number(out: &mut dyn Write, numbers: std::ops::Range<u64>, text: impl Fn(u64) -> String) {
    numbers.for_each(|number| out.write_all(text(number).as_bytes()).unwrap());
}
