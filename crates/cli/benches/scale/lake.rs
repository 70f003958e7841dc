//! A lake on the disk with many runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::{Linked, renamed};
use crate::{Bench, Store};

/// Makes a store of so many runs.
pub(crate) fn make(bench: &Bench, folder: &Path, runs: u64) -> Store {
    let store = ("--store", format!("file://{}", folder.display()));
    bench.seed.ingest(&store, 0, &[]);
    let manifest = entries(&folder.join("manifests")).into_iter().next().expect("a manifest");
    let first = manifest.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
    let text = fs::read_to_string(&manifest).expect("a manifest");
    // The last digits of its random name are the number of a run.
    let generation = |run: u64| {
        let (head, _) = first.split_at(first.len() - 8);
        format!("{head}{run:08x}")
    };
    let runs = runs - 1;
    for run in 1..runs {
        let text = renamed(&text, &bench.names, run, |row| row.replace(&first, &generation(run)));
        let path = folder.join("manifests").join(generation(run)).with_extension("json");
        fs::write(path, text).expect("a manifest");
    }
    for table in entries(folder).into_iter().filter(|table| table.join("_delta_log").is_dir()) {
        let rename = |text: &str, run| bench.names.renamed(text, run).replace(&first, &generation(run));
        multiply(&table, runs, bench.commit, rename);
    }
    // The last one is really ingested, so that perfpipe does what it does after many commits.
    bench.seed.ingest(&store, runs, &[]);
    store
}

/// Writes the file that a table has of the first run again for all others, and commits them.
fn multiply(table: &Path, runs: u64, commit: u64, rename: impl Fn(&str, u64) -> String) {
    let log = table.join("_delta_log");
    let last = entries(&log).into_iter().max().expect("a commit");
    let text = fs::read_to_string(last).expect("a commit");
    // A run has no files in some tables.
    let Some(add) = text.lines().find(|line| line.starts_with(r#"{"add""#)) else { return };
    // Without the checksum of the lines that follow it.
    let (commit_info, _) = text.split_once(",\"perfpipe.crc32\"").expect("a checksum");
    let path = add.split('"').nth(5).expect("a path");
    let mut file = Linked::new(table.join(path));
    let all: Vec<u64> = (1..runs).collect();
    for (version, some) in (entries(&log).len()..).zip(all.chunks(commit as usize)) {
        let mut lines = format!("{commit_info}}}}}\n");
        for run in some {
            let own: PathBuf = table.join(rename(path, *run));
            fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
            file.make(*run, &own);
            lines.push_str(&format!("{}\n", rename(add, *run)));
        }
        fs::write(log.join(format!("{version:020}.json")), lines).expect("a commit");
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}
