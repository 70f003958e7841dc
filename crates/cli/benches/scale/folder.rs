//! A folder of many runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::{Linked, renamed};
use crate::{Bench, Store};

/// Makes a store of so many runs.
pub(crate) fn make(bench: &Bench, folder: &Path, runs: u64) -> Store {
    let store = ("--store", folder.display().to_string());
    bench.seed.ingest(&store, 0, &[]);
    let home =
        |run| folder.join("runs").join(format!("{}+{}", bench.names.framework(run), bench.names.test(run)));
    let first: PathBuf = home(0);
    let text = fs::read_to_string(first.join("manifest.json")).expect("a manifest");
    let entries = fs::read_dir(&first).expect("a run").map(|entry| entry.expect("an entry").path());
    let generation = entries.into_iter().find(|path| path.is_dir()).expect("a generation");
    let files = fs::read_dir(&generation).expect("a generation").map(|entry| entry.expect("a file").path());
    let mut files: Vec<Linked> = files.map(Linked::new).collect();
    for run in 1..runs {
        let own = home(run).join(generation.file_name().expect("a name"));
        fs::create_dir_all(&own).expect("a folder");
        files.iter_mut().for_each(|file| file.make_in(run, &own));
        let text = renamed(&text, &bench.names, run, |row| row);
        fs::write(home(run).join("manifest.json"), text).expect("a manifest");
    }
    store
}
