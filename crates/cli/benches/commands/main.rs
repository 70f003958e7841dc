//! Commands on small runs, on many of them and on a heavy one: `cargo bench -p perfpipe --bench commands`.
//!
//! A group's first line is its reference, and each other's ratio is to it within each round. Options after `--`: `--runs N`
//! rounds of the small ones, `--heavy N` rounds of the heavy ones, `--requests N` of the heavy run, `--many N` runs to
//! list, `--only WORD,WORD` for groups with such a word in their name, and `--against FILE` for another build of
//! perfpipe, which makes the stores too: of reports it is the reference.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/options.rs"]
mod generate;
mod groups;
#[allow(
    dead_code,
    unused_imports,
    reason = "the generator's own options use all of it, and other benchmarks the rest"
)]
#[path = "../../../ingest/examples/generate/load/mod.rs"]
mod load;
#[allow(dead_code, reason = "another benchmark prints another table")]
#[path = "../opponents/measure.rs"]
mod measure;
#[path = "../../../ingest/examples/generate/output.rs"]
mod output;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use groups::{Bench, Group};
use measure::{print_ratios, race};

/// The command that this benchmark gives itself to write the files of a folder and sync them, and nothing else.
const WRITE: &str = "--write-and-sync-only";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, from, to] = words.as_slice()
        && flag == WRITE
    {
        return write_and_sync(Path::new(from), Path::new(to));
    }
    let told = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let number =
        |flag: &str, default: u64| told(flag).map_or(default, |value| value.parse().expect("a whole number"));
    let bench = Bench {
        folder: tempfile::tempdir().expect("a temporary folder"),
        server: postgres::TestServer::durable(),
        against: told("--against").cloned(),
        requests: number("--requests", 60_000_000),
        many: number("--many", 1000),
    };
    let (small, heavy) = (number("--runs", 100), number("--heavy", 5));
    println!("| | wall ms | CPU ms | peak MiB | ratio (least to greatest) |");
    println!("|---|--:|--:|--:|--:|");
    for group in groups::all(&bench) {
        if told("--only").is_some_and(|words| !words.split(',').any(|word| group.name.contains(word))) {
            continue;
        }
        let Group { name, is_heavy, make } = group;
        let rounds = if is_heavy { heavy } else { small };
        print_ratios(name, &race(&mut make(&bench), rounds as usize));
    }
}

/// Writes files as those in a folder to another one, and makes them durable.
fn write_and_sync(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("a file");
        let mut file = File::create(to.join(entry.file_name())).expect("a file");
        file.write_all(&std::fs::read(entry.path()).expect("a file")).expect("a written file");
        file.sync_all().expect("a durable file");
    }
    File::open(to).and_then(|folder| folder.sync_all()).expect("a durable folder");
}
