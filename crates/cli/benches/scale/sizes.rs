//! What a sample, a second and a run take in each store, from one run of a generated log.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::postgres::{TestServer, psql};
use crate::seed::{Seed, run};
use crate::{Store, generate, output};

/// The length of the run in seconds.
const SECONDS: u64 = 100;

/// Prints a line for each store.
pub(crate) fn print(seed: &Seed, server: Option<&TestServer>, samples: u64) {
    let log = seed.folder.join("sizes.zip");
    let words = format!("generate x --rows {samples} --seconds {SECONDS} --failures 1");
    let options = generate::Options::try_parse_from(words.split(' ')).expect("the generator's options");
    output::write(&options.plan().expect("a plan"), &log).expect("a generated log");
    println!("| {samples} samples, {SECONDS} s | bytes a sample | bytes of counts a second | files |");
    println!("|---|--:|--:|--:|");
    let zip = fs::metadata(&log).expect("a log").len();
    println!("| the zipped log | {:.2} | | 1 |", zip as f64 / samples as f64);
    let ingest = |store: &Store| {
        let log = log.to_str().expect("a path");
        run(seed.command("ingest", store, &[log, "--framework", "f", "--test", "t"]));
    };
    let folder = seed.folder.join("sizes");
    ingest(&("--store", folder.display().to_string()));
    line("folder", &files(&folder), samples);
    let lake = seed.folder.join("sizes-lake");
    ingest(&("--store", format!("file://{}", lake.display())));
    line("lake", &files(&lake), samples);
    if let Some(server) = server {
        let store = ("--database", server.database());
        ingest(&store);
        let size = |table: &str| -> f64 {
            psql(&store.1, &format!("select pg_total_relation_size('{table}')")).parse().expect("a size")
        };
        let (of_samples, of_counts) = (size(r#"perfpipe."f_t""#), size("perfpipe.seconds"));
        let rows = psql(&store.1, "select count(*) from perfpipe.seconds");
        print_line("database", of_samples / samples as f64, of_counts / SECONDS as f64, 0);
        println!("\nThe counts are {rows} rows.");
    }
}

fn line(name: &str, files: &[PathBuf], samples: u64) {
    let of = |word: &str| -> f64 {
        let named = files.iter().filter(|file| {
            file.extension().is_some_and(|ending| ending == "parquet")
                && file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(word))
        });
        named.map(|file| fs::metadata(file).expect("a file").len() as f64).sum()
    };
    print_line(name, of("samples") / samples as f64, of("seconds") / SECONDS as f64, files.len());
}

fn print_line(name: &str, sample: f64, second: f64, files: usize) {
    let files = if files == 0 { String::new() } else { files.to_string() };
    println!("| {name} | {sample:.2} | {second:.0} | {files} |");
}

/// Returns the files below a folder, but for locks.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false if path.ends_with(".lock") => Vec::new(),
        false => vec![path],
    };
    entries.flat_map(below).collect()
}
