//! Counts the instructions of each stage of the pipeline, which are the same in every run of the same build:
//! `cargo bench -p perfpipe-ingest --features parts --bench instructions`. Needs valgrind.
//!
//! The program runs itself under callgrind, once per stage, with one block of 1 MiB of a generated log. `-- --shape NAME`
//! chooses the log's shape.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

mod block;

use std::hint::black_box;
use std::io::Read;
use std::process::Command;

use block::{BLOCK, DEFLATED, SHAPE, parts, shape};
use perfpipe_ingest::store::parquet::SampleExport;
use perfpipe_ingest::store::postgres::SampleEncoder;

const STAGES: [&str; 7] =
    ["inflate", "scan", "split", "parse_and_join", "count", "encode_parquet", "encode_copy"];

fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    if STAGES.contains(&word.as_str()) {
        return stage(&word);
    }
    let samples = memchr::memchr_iter(b'\n', &BLOCK).count();
    println!("{:<16} {:>14} {:>12} {:>12}", "", "instructions", "a sample", "a byte");
    for name in STAGES {
        let count = instructions(name);
        let each = |parts: usize| count as f64 / parts as f64;
        println!("{name:<16} {count:>14} {:>12.1} {:>12.2}", each(samples), each(BLOCK.len()));
    }
}

/// Returns the number of instructions within `measured` while a stage runs.
fn instructions(stage: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"])
        .arg(std::env::current_exe().unwrap())
        .args([stage, SHAPE, &shape()])
        .output()
        .expect("valgrind can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :"));
    count.unwrap_or_else(|| panic!("valgrind: {said}")).1.trim().parse().unwrap()
}

fn stage(name: &str) {
    let mut parts = parts();
    let batch = parts.parse(&BLOCK).clone();
    match name {
        "inflate" => {
            let mut out = vec![0; BLOCK.len()];
            let packed = DEFLATED.as_slice();
            measured(|| flate2::read::DeflateDecoder::new(packed).read_exact(&mut out).unwrap());
        }
        "scan" => measured(|| parts.scan(&BLOCK)),
        "split" => measured(|| parts.split(&BLOCK)),
        "parse_and_join" => measured(|| parts.parse(&BLOCK).len()),
        "count" => measured(|| parts.count()),
        "encode_parquet" => {
            let mut file = SampleExport::new(std::io::sink()).unwrap();
            measured(|| {
                file.write(&batch).unwrap();
                file.finish().unwrap();
            });
        }
        _ => {
            let mut encoder = SampleEncoder::new(true);
            measured(|| parts.encode_copy(&mut encoder).unwrap());
        }
    }
}

/// Runs the work whose instructions are counted.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) {
    black_box(work());
}
