//! Two logs read and cut into blocks by two readers, against two processes that read one each:
//! `cargo bench -p perfpipe-ingest --features parts --bench readers`.
//!
//! Both ways take turns. The last line is the median of the ratios within each round.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first thing that is amiss"
)]

#[allow(dead_code, reason = "the generator uses all of it")]
#[path = "../examples/generate/options.rs"]
mod generate;
#[allow(dead_code, unused_imports, reason = "the generator uses all of it")]
#[path = "../examples/generate/load/mod.rs"]
mod load;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use perfpipe_ingest::parts::read_and_cut;

const ROUNDS: usize = 9;

/// The word before the files that a process is to read.
const READ: &str = "read";

/// Writes a zip with a log of a million records.
fn write_zip(path: &Path) {
    let words = "generate x --rows 1000000 --seconds 100 --threads 1000";
    let plan = generate::Options::try_parse_from(words.split(' ')).unwrap().plan().unwrap();
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    zip.start_file("log.csv", zip::write::SimpleFileOptions::default()).unwrap();
    load::write_log(&plan, &mut zip).unwrap();
    zip.finish().unwrap();
}

/// Runs one process for each list of files at the same time. Returns the seconds until all have ended.
fn seconds(lists: &[&[PathBuf]]) -> f64 {
    let begin = Instant::now();
    let this = std::env::current_exe().unwrap();
    let start = |files: &&[PathBuf]| Command::new(&this).arg(READ).args(*files).spawn().unwrap();
    let running: Vec<_> = lists.iter().map(start).collect();
    running.into_iter().for_each(|mut process| assert!(process.wait().unwrap().success()));
    begin.elapsed().as_secs_f64()
}

fn main() {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == READ) {
        let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
        assert!(read_and_cut(&files, files.len()).unwrap() > 0);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.zip", "b.zip"].map(|name| folder.path().join(name));
    files.iter().for_each(|file| write_zip(file));
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (one, two) = (seconds(&[&files]), seconds(&[&files[..1], &files[1..]]));
            println!("one process {one:.3} s, two processes {two:.3} s: {:.3} of their rate", two / one);
            two / one
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("median {:.3}", ratios[ROUNDS / 2]);
}
