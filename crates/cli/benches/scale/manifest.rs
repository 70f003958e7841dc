//! Manifests and files of a run, written again for others.

use std::fs;
use std::path::{Path, PathBuf};

use crate::seed::Names;

/// The number of names that a file gets at most: file systems have a limit, which is 65,000 in ext4.
const LINKS: u64 = 50_000;

/// Returns the manifest of the first run as that of another one, with its checksum. `also` changes more of it.
pub(crate) fn renamed(text: &str, names: &Names, run: u64, also: impl Fn(String) -> String) -> String {
    let (head, rest) = text.split_once(r#""crc32":"#).expect("a checksum");
    let (_, rest) = rest.split_once(r#","run":"#).expect("a run");
    let row = also(names.renamed(rest.strip_suffix('}').expect("the end of the manifest"), run));
    format!(r#"{head}"crc32":{},"run":{row}}}"#, crc32fast::hash(row.as_bytes()))
}

/// Gives the file of the first run another name for each run, and copies it before it has too many.
pub(crate) struct Linked {
    file: PathBuf,
}

impl Linked {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Makes the file of a run in a folder.
    pub(crate) fn make_in(&mut self, run: u64, folder: &Path) {
        let path = folder.join(self.file.file_name().expect("a name"));
        self.make(run, &path);
    }

    /// Makes the file of a run. The runs must come in their order.
    pub(crate) fn make(&mut self, run: u64, path: &Path) {
        if run.is_multiple_of(LINKS) {
            fs::copy(&self.file, path).expect("a copy");
            self.file = path.to_owned();
        } else {
            fs::hard_link(&self.file, path).expect("a link");
        }
    }
}
