//! The names by which injectors are told apart, where a run has several logs.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};

use crate::support::{Desk, usual};

const LOG: &str = "timeStamp,elapsed,success,threadName,allThreads\n1795203738615,12,true,T 1-1,3\n";

/// A zip of these members, to be read from its beginning.
fn zip(members: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The injectors of the stored cells, "" where there was no name, each with its samples.
fn injectors(desk: &Desk, files: &[std::path::PathBuf]) -> BTreeSet<(String, u64)> {
    let cells = desk.stored(files, &usual()).run.cells;
    let name = |index: u32| cells.injectors[index as usize].clone();
    let loads = cells.iter().flat_map(|cell| cell.unwrap().1.injectors);
    loads.map(|load| (name(load.injector), load.samples)).collect()
}

fn names<const N: usize>(expected: [&str; N]) -> BTreeSet<(String, u64)> {
    expected.into_iter().map(|name| (name.to_owned(), 1)).collect()
}

#[test]
fn only_log_gives_its_samples_no_name_and_several_give_their_own() {
    let desk = Desk::new();
    let (east, west) = (desk.file("east.csv", LOG), desk.file("west.jtl", LOG));
    assert_eq!(injectors(&desk, std::slice::from_ref(&east)), names([""]));
    assert_eq!(injectors(&desk, &[east, west]), names(["east.csv", "west.jtl"]));
}

#[test]
fn hosts_are_told_apart_within_each_log() {
    let desk = Desk::new();
    let log = format!("{LOG}1795203738616,12,true,10.0.0.1-T 1-1,3\n");
    let files = [desk.file("a.csv", &log), desk.file("b.csv", &log)];
    let expected = ["a.csv", "a.csv/10.0.0.1", "b.csv", "b.csv/10.0.0.1"];
    assert_eq!(injectors(&desk, &files), names(expected));
}

#[test]
fn logs_of_one_name_are_told_apart_by_their_folders() {
    let desk = Desk::new();
    let files = ["east/log.csv", "west/log.csv", "other.csv"].map(|name| desk.file(name, LOG));
    let long = |at: usize| files[at].display().to_string();
    assert_eq!(injectors(&desk, &files), names([&long(0), &long(1), "other.csv"]));
}

#[test]
fn members_of_one_name_are_told_apart_by_their_folders() {
    let desk = Desk::new();
    let path = desk.file("run.zip", zip(&[("east/log.csv", LOG), ("west/log.csv", LOG), ("c.csv", LOG)]));
    let long = |member: &str| format!("{}/{member}", path.display());
    let expected = [&long("east/log.csv"), &long("west/log.csv"), "c.csv"];
    assert_eq!(injectors(&desk, std::slice::from_ref(&path)), names(expected));
}

#[cfg(unix)]
#[test]
fn logs_of_a_pipe_after_the_first_have_names_of_their_own() {
    let desk = Desk::new();
    let members = [("a/log.csv", LOG), ("b/log.csv", LOG), ("c/log.csv", LOG), ("d.csv", LOG)];
    let found = crate::support::through_pipe(&desk, "pipe", &zip(&members), |fifo| {
        (injectors(&desk, std::slice::from_ref(&fifo)), fifo)
    });
    let long = |member: &str| format!("{}/{member}", found.1.display());
    assert_eq!(found.0, names(["", &long("b/log.csv"), &long("c/log.csv"), "d.csv"]));
}

#[cfg(unix)]
#[test]
fn pipe_beside_a_file_has_its_own_name() {
    let desk = Desk::new();
    let file = desk.file("log.csv", LOG);
    let found =
        crate::support::through_pipe(&desk, "pipe", LOG.as_bytes(), |fifo| injectors(&desk, &[file, fifo]));
    assert_eq!(found, names(["log.csv", "pipe"]));
}
