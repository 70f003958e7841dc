//! Stores of many runs: `cargo bench -p perfpipe --bench scale`.
//!
//! One run of 100 seconds is ingested. Its files and rows are then written again under other names, ten runs a test. Of
//! each store, `list`, `report` of one test, `compare` of two of its runs and `ingest` are measured beside the same on a store
//! of fewer runs. Before that, a table tells what `--samples N` samples (1,000,000) and their counts take in each store.
//!
//! Options after `--`: `--many N` runs (100,000), `--few N` runs (1000), `--tables N` runs in a database with samples
//! (5000), `--rounds N` (5), `--commit N` runs in a commit to the log of a lake (1000; 1 is what ingests of single runs
//! do), `--only WORD,WORD` of `sizes`, `folder`, `lake`, `database` and `samples` (a database with samples), `--folder DIR`
//! for the place of the stores, and `--with FILE` for another build of perfpipe. PERFPIPE_TEST_CITUS_URL names the
//! coordinator of a cluster, to be measured in the place of a database.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

mod database;
mod folder;
#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/options.rs"]
mod generate;
mod lake;
#[allow(dead_code, unused_imports, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/load/mod.rs"]
mod load;
mod manifest;
#[allow(dead_code, reason = "another benchmark prints another table")]
#[path = "../opponents/measure.rs"]
mod measure;
#[path = "../../../ingest/examples/generate/output.rs"]
mod output;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
mod seed;
mod sizes;

use std::path::Path;

use measure::{Contender, print_ratios, race};
use seed::{Names, Seed};

/// The flag that names a store, and its value.
type Store = (&'static str, String);

/// What all stores share.
struct Bench {
    seed: Seed,
    names: Names,
    /// The numbers of runs of both stores of a kind, and of both databases of runs with samples.
    sizes: [u64; 2],
    tables: [u64; 2],
    rounds: usize,
    /// The number of runs in a commit to the log of a lake.
    commit: u64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let told = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let number =
        |flag: &str, default: u64| told(flag).map_or(default, |value| value.parse().expect("a whole number"));
    let is_wanted =
        |name: &str| told("--only").is_none_or(|words| words.split(',').any(|word| name.contains(word)));
    let folder = match told("--folder") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.expect("a temporary folder");
    let program = told("--with").map_or(env!("CARGO_BIN_EXE_perfpipe"), String::as_str);
    let bench = Bench {
        seed: Seed::write(program, folder.path()),
        names: Names,
        sizes: [number("--few", 1000), number("--many", 100_000)],
        tables: [number("--few", 1000), number("--tables", 5000)],
        rounds: number("--rounds", 5) as usize,
        commit: number("--commit", 1000).max(1),
    };
    let server = if is_wanted("database") || is_wanted("samples") { database::server() } else { None };
    if is_wanted("sizes") {
        sizes::print(&bench.seed, server.as_ref(), number("--samples", 1_000_000));
        println!();
    }
    println!("| | wall ms | CPU ms | peak MiB | ratio (least to greatest) |");
    println!("|---|--:|--:|--:|--:|");
    if is_wanted("folder") {
        bench.measure("folder", bench.sizes, |runs| {
            folder::make(&bench, &stand(folder.path(), "folder", runs), runs)
        });
    }
    if is_wanted("lake") {
        bench.measure("lake", bench.sizes, |runs| {
            lake::make(&bench, &stand(folder.path(), "lake", runs), runs)
        });
    }
    if let Some(server) = &server {
        let kind = if server.is_cluster() { "cluster" } else { "database" };
        if is_wanted("database") {
            bench.measure(kind, bench.sizes, |runs| database::make(&bench, server, runs));
        }
        if is_wanted("samples") {
            bench.measure(&format!("{kind} with samples"), bench.tables, |runs| {
                database::make_with_samples(&bench, server, runs)
            });
        }
    }
}

/// Returns the folder of a store.
fn stand(folder: &Path, kind: &str, runs: u64) -> std::path::PathBuf {
    folder.join(format!("{kind}-{runs}"))
}

impl Bench {
    /// Makes a store of few and one of many runs, and measures commands on both.
    fn measure(&self, kind: &str, sizes: [u64; 2], make: impl Fn(u64) -> Store) {
        let [few, many] = sizes.map(make);
        let report = self.seed.folder.join("report");
        let report = ["--test", "t0", "--out", report.to_str().expect("a path")];
        let compare = ["--test", "t0", "--framework", "f0", "--framework", "f1"];
        // Each ingest replaces the first run.
        let ingest = self.seed.words(0);
        let ingest: Vec<&str> = ingest.iter().map(String::as_str).collect();
        let commands =
            [("list", [].as_slice()), ("report", &report), ("compare", &compare), ("ingest", &ingest)];
        for (name, words) in commands {
            let of = |what, store| Contender::new(what, self.seed.command(name, store, words));
            let results = race(&mut [of("few runs", &few), of("many runs", &many)], self.rounds);
            print_ratios(&format!("{name} in a {kind}"), &results);
        }
    }
}
