//! The ingest of the same requests from the log of each load tool, in turn: `cargo bench -p perfpipe --bench formats`.
//!
//! Prints a table: medians, and the ratios of the bytes and of the requests a second to those of JMeter's CSV within
//! each round. Options after `--`: `--rows N` requests, `--runs N` rounds, `--only WORD,WORD` for formats with such a
//! word in their name, and `--write FOLDER` to write the logs and stop.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

mod logs;
#[allow(dead_code, reason = "another benchmark prints another table")]
#[path = "../opponents/measure.rs"]
mod measure;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use logs::{LOGS, WriteLog};
use measure::{Contender, Result, median, race};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let told = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let number =
        |flag: &str, default: i64| told(flag).map_or(default, |value| value.parse().expect("a whole number"));
    let (rows, runs) = (number("--rows", 1_000_000), number("--runs", 5));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let into = told("--write").map_or_else(|| folder.path().to_owned(), PathBuf::from);
    let is_wanted =
        |name: &str| told("--only").is_none_or(|words| words.split(',').any(|word| name.contains(word)));
    let chosen = LOGS.into_iter().enumerate().filter(|(at, (name, ..))| *at == 0 || is_wanted(name));
    let files: Vec<PathBuf> =
        chosen.map(|(_, (_, file, write))| written(&into.join(file), rows, write)).collect();
    if told("--write").is_some() {
        return;
    }
    println!("{rows} requests, {runs} rounds");
    let mut contenders: Vec<Contender> = files.iter().map(|file| ingest(file, folder.path())).collect();
    print(&race(&mut contenders, runs as usize), &files, rows);
}

fn written(path: &Path, rows: i64, write: WriteLog) -> PathBuf {
    let mut out = BufWriter::new(File::create(path).expect("a log"));
    write(rows, &mut out).and_then(|()| out.flush()).expect("a log");
    path.to_owned()
}

fn ingest(file: &Path, folder: &Path) -> Contender {
    let (name, ..) = LOGS.into_iter().find(|(_, log, _)| file.ends_with(log)).expect("a format");
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfpipe"));
    command.arg("ingest").arg(file).arg("--store").arg(folder.join("store"));
    command.args(["--framework", "x", "--test", "y", "--replace"]);
    Contender::new(name, command)
}

/// Prints a line for each format. The first one is the reference.
fn print(results: &[Result], files: &[PathBuf], rows: i64) {
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0.0, |file| file.len() as f64);
    let (Some(reference), Some(of_reference)) = (results.first(), files.first().map(size)) else { return };
    println!(
        "| log | bytes a request | wall s | CPU s | peak MiB | M requests/s | MB/s | ratio of bytes/s | of requests/s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (result, bytes) in results.iter().zip(files.iter().map(size)) {
        let ratio = median(result.walls().zip(reference.walls()).map(|(wall, other)| other / wall));
        let wall = median(result.walls());
        println!(
            "| {} | {:.0} | {wall:.2} | {:.2} | {:.0} | {:.2} | {:.0} | {:.2} | {ratio:.2} |",
            result.name,
            bytes / rows as f64,
            median(result.cpus()),
            result.peak_mb,
            rows as f64 / 1e6 / wall,
            bytes / 1e6 / wall,
            ratio * bytes / of_reference,
        );
    }
}
