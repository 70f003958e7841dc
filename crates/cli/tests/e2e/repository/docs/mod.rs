//! Runs every code block of README.md, CONTRIBUTING.md and docs/, and compares what it prints with what the page says.
//!
//! `UPDATE_GOLDEN=1 cargo test --workspace --test e2e docs::` writes what the blocks print into the pages.
//! `PERFPIPE_DOCS=guide` runs the pages whose path contains this.
//!
//! | block | what is done with it |
//! |---|---|
//! | `console` | each `$ command` is run by `sh`; the lines below it are its output, both streams together |
//! | `sh` | the block is run as one script, which stops at the first command that fails |
//! | `sql` | run by `psql` in a database of the page's own |
//! | `rust` | a doctest: a crate includes the page by `include_str!` |
//! | `toml`, `json`, `csv`, … with `file:NAME` | written as that file, for the commands that follow |
//! | any of these, or `text`, with `output` | the standard output of the block before |
//! | `text` and `mermaid` | nothing: a picture, or words |
//!
//! `exit:N` after the language names the exit code that is expected. In an output, `[..]` stands for any text within a
//! line, and a line `...` for any number of lines. A page that holds `<!-- example runs -->` begins with the runs that the
//! first block of docs/README.md stores, and one with `<!-- example runs in PostgreSQL -->` has them in its database `load`.
//! `no-run:REASON` leaves a block out, for one of the few reasons in [`page::NO_RUN`].
//!
//! The crate `trycmd` runs no shell, no SQL and no other language, and skips what it does not know.

mod block;
mod expected;
mod links;
mod page;
mod reference;
mod session;
mod workshop;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use page::Page;
use workshop::Workshop;

/// More blocks than this that are not run would be more than a few exceptions.
const MOST_NOT_RUN: usize = 15;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages that are checked, by their paths from the root of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md"].map(PathBuf::from).into();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.retain(|page| root().join(page).is_file());
    pages.sort();
    pages
}

#[test]
fn every_block_does_what_its_page_says() {
    let wanted = std::env::var("PERFPIPE_DOCS").unwrap_or_default();
    let is_wanted = |path: &&PathBuf| path.to_str().unwrap().contains(&wanted);
    let pages: Vec<Page> = pages().iter().filter(is_wanted).map(|path| Page::read(path)).collect();
    let workshop = Workshop::new();
    let queue = Mutex::new(pages.iter());
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(page) = { queue.lock().unwrap().next() } {
                    let found = page.run(&workshop);
                    faults.lock().unwrap().extend(found);
                }
            });
        }
    });

    let not_run: Vec<String> = pages.iter().flat_map(Page::not_run).collect();
    let blocks: usize = pages.iter().map(Page::executed).sum();
    // Not by a macro: what those print is shown for tests that fail only.
    let told = format!("{blocks} blocks were run; {} were not:\n{}\n", not_run.len(), not_run.join("\n"));
    std::io::stderr().write_all(told.as_bytes()).unwrap();
    assert!(not_run.len() <= MOST_NOT_RUN, "more than {MOST_NOT_RUN} blocks are not run");
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}\n\n{} blocks differ", faults.join("\n\n"), faults.len());
}

#[test]
fn every_link_leads_somewhere() {
    let broken: Vec<String> = pages().iter().flat_map(|page| links::broken(page)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn slow_blocks_of_the_readme_are_run_by_ci() {
    let script =
        [".ci/run", ".ci/long"].map(|path| std::fs::read_to_string(root().join(path)).unwrap()).concat();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let long = block::blocks(&readme).into_iter().filter(|block| block.value("no-run") == Some("slow"));
    let missing: Vec<String> =
        long.flat_map(|block| block.lines).filter(|line| !script.contains(line)).collect();
    assert!(missing.is_empty(), ".ci/run and .ci/long do not run {missing:?}");
}

/// Whether a folder, or one in it, has a module of this name: a file or a folder.
fn has_module(folder: &Path, module: &str) -> bool {
    let is_module = |path: &Path| path.file_stem().is_some_and(|stem| stem == module);
    let mut entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.any(|path| is_module(&path) || (path.is_dir() && has_module(&path, module)))
}

#[test]
fn guarantees_name_tests_that_exist() {
    let text = std::fs::read_to_string(root().join("docs/guarantees.md")).unwrap();
    let crates = ["model", "formats", "store", "ingest", "analyze", "plot", "cli"]
        .map(|name| root().join("crates").join(name));
    // Tests beside the code are the program `lib`.
    let folders = |program: &str| {
        let folder = if program == "lib" { PathBuf::from("src") } else { Path::new("tests").join(program) };
        crates.each_ref().map(|of| of.join(&folder)).into_iter().filter(|folder| folder.is_dir())
    };
    let names = text.split('`').filter_map(|name| name.split_once("::")?.0.split_once(' '));
    let missing: Vec<_> = names
        .filter(|(program, module)| !folders(program).any(|folder| has_module(&folder, module)))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

#[test]
fn readme_is_short() {
    let lines = std::fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 150, "README.md has {lines} lines: details belong into docs/");
}
