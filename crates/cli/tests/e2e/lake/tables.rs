//! The logs of the tables, as a reader of Delta Lake takes them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::postgres::psql;
use crate::support::*;

/// The tables that every store has.
pub(super) const TABLES: [&str; 9] =
    ["samples", "seconds", "cpu", "series", "errors", "labels", "rejects", "tags", "runs"];

/// Those of them that have something of every run.
pub(super) fn filled() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().filter(|table| !["series", "tags"].contains(table))
}

/// The folder of a lake on the disk.
pub(crate) fn folder(store: &Store) -> PathBuf {
    store.place().strip_prefix("file://").unwrap().into()
}

/// The files of a table of a lake on the disk: each path with its partition values.
pub(super) fn files(store: &Store, table: &str) -> BTreeMap<String, Value> {
    let log = folder(store).join(table).join("_delta_log");
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Besides entries there may be checkpoints.
    entries.retain(|entry| entry.extension().is_some_and(|ending| ending == "json"));
    entries.sort();
    let mut files = BTreeMap::new();
    for (version, entry) in entries.iter().enumerate() {
        assert_eq!(entry.file_name().unwrap().to_str().unwrap(), format!("{version:020}.json"));
        for line in std::fs::read_to_string(entry).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(path) = line["remove"]["path"].as_str() {
                assert!(files.remove(path).is_some(), "{table}: {path} is removed, and was not there");
            }
            if let Some(path) = line["add"]["path"].as_str() {
                files.insert(path.to_owned(), line["add"]["partitionValues"].clone());
                // The log has URLs.
                let size = folder(store).join(table).join(path.replace("%25", "%")).metadata().unwrap().len();
                assert_eq!(line["add"]["size"].as_u64(), Some(size), "{table}: {path}");
            }
        }
    }
    files
}

/// The columns of a table of a lake on the disk, as its log has them.
pub(super) fn columns(store: &Store, table: &str) -> Vec<String> {
    let log = folder(store).join(table).join("_delta_log");
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let lines = entries.iter().map(|entry| std::fs::read_to_string(entry).unwrap()).collect::<String>();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut schemas = lines.filter_map(|line| line["metaData"]["schemaString"].as_str().map(str::to_owned));
    let schema: Value = serde_json::from_str(&schemas.next_back().unwrap()).unwrap();
    schema["fields"].as_array().unwrap().iter().map(|field| text(field, "name").to_owned()).collect()
}

/// The generations in a table.
pub(super) fn generations(store: &Store, table: &str) -> Vec<String> {
    let mut found: Vec<String> =
        files(store, table).values().map(|values| text(values, "generation").to_owned()).collect();
    found.dedup();
    found
}

/// Stores a run, a part and points that have something for every table.
fn fill(store: &Store) {
    let log = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\nx,y\n1795203739000,7,Put,false\n";
    let memory = store.file("memory.csv", "clock,value\n1795203738,5.5\n1795203739,6\n");
    let cpu = store.file("cpu.csv", "clock,value\n1795203738,50\n");
    let (log, series) = (store.file("log.csv", log), format!("memory={memory}"));
    let run = ["ingest", &log, &cpu, "--framework", "go", "--test", "a"];
    let more = ["--series", &series, "--unit", "bytes", "--tag", "commit=3f2a9c1", "--tag", "branch=main"];
    store.run(&[&run[..], &more].concat()).said();
    store.run(&[&run[..], &["--part", "1/2", "--origin", "1795203738000"]].concat()).said();
    let output = fixture("other/ab/jempower/1.8101");
    store.run(&["ingest", output.to_str().unwrap(), "--framework", "beta"]).said();
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The tables of a store in a folder: its files without their endings.
fn tables_of_folder(store: &Store) -> BTreeSet<String> {
    let home = Path::new(store.place());
    let run = home.join("runs").join(names(&home.join("runs")).pop_first().unwrap());
    let of_run = names(&run);
    let files = of_run.iter().map(|name| run.join(name)).find(|path| path.is_dir()).unwrap();
    let all = names(&files).into_iter().chain(of_run).chain(names(home));
    let stem = |name: String| name.split('.').next().unwrap().to_owned();
    let is_table = |name: &String| !["", "perfpipe", "staging", "runs"].contains(&name.as_str());
    let renamed = |name: String| if name == "manifest" { "runs".to_owned() } else { name };
    all.map(stem).filter(is_table).filter(|name| !name.starts_with("run-")).map(renamed).collect()
}

/// The tables of a store in a database; those of samples, one a run, count as one.
fn tables_of_database(store: &Store) -> BTreeSet<String> {
    let sql =
        "select case when relname in (select table_name from perfpipe.runs) then 'samples' else relname end
               from pg_class where relnamespace = 'perfpipe'::regnamespace and relkind in ('r', 'p')
               and relname not in ('layout', 'partfiles')
               and relname not in (select table_name from perfpipe.parts)";
    psql(store.place(), sql).lines().map(str::to_owned).collect()
}

#[test]
fn tables_are_those_of_the_other_stores() {
    let lake = Store::lake();
    fill(&lake);
    let mut tables = names(&folder(&lake));
    assert!(tables.remove("manifests"));
    let known = TABLES.into_iter().chain(["parts", "points"]).map(str::to_owned).collect();
    assert_eq!(tables, known);
    for table in TABLES {
        assert_eq!(generations(&lake, table).len(), 1, "{table}");
    }
    // The others have the tags of a run in its row.
    assert!(tables.remove("tags"));
    let embedded = Store::embedded();
    fill(&embedded);
    assert_eq!(tables_of_folder(&embedded), tables);
    let Some(database) = Store::database() else { return };
    fill(&database);
    assert_eq!(tables_of_database(&database), tables);
}
