//! The JSON of every command, against the schemas of docs/reference/json.md.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::support::*;

/// What the commands below ask for, by the words that stand for it in the names of fields.
const ASKED: [(&str, &[&str]); 3] = [
    ("FIGURE", &["throughput", "failures_percent", "elapsed_mean", "cpu_mean", "p25", "p50", "p75", "p95"]),
    ("SERIES", &["memory"]),
    ("GOAL", &["within_100ms_percent", "apdex_100ms"]),
];

/// The start of the first run, in ms since 1970.
const START: i64 = 1_795_000_000_000;

/// A field of a schema.
struct Field {
    /// How the page has it.
    written: String,
    kind: String,
    may_be_null: bool,
}

/// The fields of each schema, by their names.
type Schemas = BTreeMap<String, BTreeMap<String, Field>>;

fn schemas() -> Schemas {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sections = page.split("\n### `").skip(1);
    let of_section = |section: &str| {
        let (name, rest) = section.split_once('`').unwrap();
        let rows = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| `"));
        (name.to_owned(), rows.flat_map(fields).collect())
    };
    sections.map(of_section).collect()
}

/// The fields of a row of a table of the page: of each word that stands for what is asked for, those of all that is asked for.
fn fields(row: &str) -> Vec<(String, Field)> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let kind = cells[2].trim_end_matches(", may be null");
    let names = cells[1].split(", ").map(|name| name.trim_matches('`'));
    let field = |written: &str| Field {
        written: written.to_owned(),
        kind: kind.to_owned(),
        may_be_null: kind != cells[2],
    };
    let of_name = |name: &str| match ASKED.iter().find(|(word, _)| name.contains(word)) {
        Some((word, asked)) => {
            asked.iter().map(|asked| (name.replace(word, asked), field(name))).collect::<Vec<_>>()
        }
        None => vec![(name.to_owned(), field(name))],
    };
    names.flat_map(of_name).collect()
}

/// Returns true if a value is of a type of the page.
fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "text" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" | "map" => value.is_object(),
        "map of texts" => value.as_object().is_some_and(|map| map.values().all(Value::is_string)),
        "list" | "list of pairs" => value.is_array(),
        "list of texts" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        other => panic!("the page has an unknown type: {other}"),
    }
}

/// What was written by one schema.
struct Seen<'a> {
    schema: &'a str,
    fields: &'a BTreeMap<String, Field>,
    /// The fields that were there, and whether one had a value.
    found: BTreeMap<String, bool>,
    faults: BTreeSet<String>,
}

impl Seen<'_> {
    /// Looks at an object, whose fields have this before their names.
    fn look(&mut self, before: &str, object: &Value) {
        for (name, value) in object.as_object().unwrap_or_else(|| panic!("no object: {object}")) {
            let name = format!("{before}{name}");
            let Some(field) = self.fields.get(&name) else {
                self.faults.insert(format!("{} {name} is not in the page", self.schema));
                continue;
            };
            *self.found.entry(name.clone()).or_default() |= !value.is_null();
            let fits = if value.is_null() { field.may_be_null } else { is_of(&field.kind, value) };
            if !fits {
                self.faults.insert(format!("{} {name} is {}: {value}", self.schema, field.kind));
            }
            match field.kind.as_str() {
                "object" if value.is_object() => self.look(&format!("{name}."), value),
                "list" => {
                    value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|of| self.look(&format!("{name}[]."), of));
                }
                _ => {}
            }
        }
    }

    /// Fields that have to be in every row are those of its table, unless they are there only if they are asked for.
    fn look_at_row(&mut self, row: &Value) {
        self.look("", row);
        for (name, field) in self.fields {
            let is_always = !name.contains(['.', '[']) && field.written == *name;
            if is_always && row.get(name).is_none() {
                self.faults.insert(format!("{} {name} is not in {row}", self.schema));
            }
        }
    }

    /// Each field has to be there with a value; of those that stand for what is asked for, one of all.
    fn end(self) -> impl Iterator<Item = String> {
        let Self { schema, fields, found, faults } = self;
        let is_known = |field: &Field| {
            let mut alike = fields.iter().filter(|(_, of)| of.written == field.written);
            alike.any(|(name, _)| found.get(name).is_some_and(|known| *known))
        };
        let unknown = fields.iter().filter(|&(name, field)| !found.contains_key(name) || !is_known(field));
        let unknown: Vec<String> =
            unknown.map(|(name, _)| format!("{schema} {name} never has a value")).collect();
        faults.into_iter().chain(unknown)
    }
}

/// What commands wrote.
struct Written<'a>(&'a Store, Vec<Value>);

impl Written<'_> {
    /// Runs a command for its JSON, whatever its exit code is.
    fn json(&mut self, arguments: &[&str]) {
        self.take(&self.0.run(&[arguments, &["--format", "json"]].concat()), arguments);
    }

    fn take(&mut self, done: &Done, arguments: &[&str]) {
        let document = serde_json::from_slice(&done.out);
        self.1.push(document.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", done.err)));
    }
}

/// A log of 40 seconds with 50 requests in each, which take about `elapsed` ms.
fn log(start_ms: i64, elapsed: i64, seed: i64) -> String {
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for request in 0..2000_i64 {
        let spread = (request * 7919 + seed * 104_729) % 11 - 5;
        text += &format!("{},{},Get,200,true,4\n", start_ms + request * 20, elapsed + spread + seed % 3);
    }
    text
}

/// A log of three injectors, the last of which sends fewer requests.
fn log_of_injectors() -> String {
    let mut text =
        "timeStamp,elapsed,label,responseCode,success,grpThreads,allThreads,threadName\n".to_owned();
    for second in 0..60_i64 {
        for (injector, requests) in [(1, 50), (2, 50), (3, 20)] {
            for request in 0..requests {
                let start = START + second * 1000 + request * 1000 / requests;
                text += &format!("{start},80,Get,200,true,4,4,10.0.0.{injector}-Users 1-1\n");
            }
        }
    }
    text
}

/// Readings of every second of such a log.
fn readings(start_ms: i64) -> String {
    let second = |at: i64| format!("{},{}\n", start_ms / 1000 + at, 50 + at % 7);
    "clock,value\n".to_owned() + &(0..=40).map(second).collect::<String>()
}

/// Readings of these seconds of the first run, with dates whose clock is an hour ahead.
fn late_readings(seconds: impl Iterator<Item = i64>) -> String {
    // The first run begins at 11:06:40.
    let date = |second: i64| format!("2026-11-18 12:{:02}:{:02}", (400 + second) / 60, (400 + second) % 60);
    let reading = |second: i64| format!("{},{}\n", date(second), 50 + second % 7);
    "clock,value\n".to_owned() + &seconds.map(reading).collect::<String>()
}

/// A zip with one member.
fn zip_of(member: &str, text: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// What is said of runs.
fn of_runs() -> Vec<Value> {
    let store = Store::embedded();
    let key = Fixture::named("Results-2048-9000.csv").ingest_into(&store);
    let mut written = Written(&store, Vec::new());
    for run in 0..18_i64 {
        let start = START + run * 3_600_000;
        let elapsed = if run < 9 { 100 } else { 130 };
        let (file, cpu) =
            (store.file("run.csv", log(start, elapsed, run)), store.file("cpu.csv", readings(start)));
        let tag = format!("commit=c{}", run / 3);
        let key = ["--framework", "go", "--test", "t", "--append-repeat", "--tag", &tag];
        written.json(&[&["ingest", &file, &cpu], &key[..]].concat());
    }
    let commits = ["--framework", "go", "--tag", "commit=c0", "--tag", "commit=c4"];
    written.json(&[&["compare", "--test", "t"], &commits[..]].concat());
    written.json(&["trend", "--test", "t", "--by", "tag:commit"]);
    for run in 0..16_i64 {
        let file = store.file("run.csv", log(START + run * 3_600_000, 100 + 2 * run, run));
        store.run(&["ingest", &file, "--framework", "go", "--test", "drift", "--append-repeat"]).said();
    }
    written.json(&["trend", "--test", "drift", "--by", "run"]);
    written.json(&["plan", "--test", "t", "--by", "tag:commit", "--change", "3%"]);
    let baseline = ["--baseline", "go_t#1", "--baseline", "go_t#2", "--baseline", "go_t#3"];
    let rules =
        ["p95 not worse than baseline by 5%", "mean < baseline * 1.002", "p95 < 1ms for 3s", "series a < 1"];
    written.json(&[&["check", "go_t#4"], &rules[..], &baseline].concat());
    written.json(&["diagnose", "--framework", &key.framework, "--test", &key.test]);
    let injectors = store.file("run.csv", log_of_injectors());
    store.run(&["ingest", &injectors, "--framework", "go", "--test", "injectors"]).said();
    written.json(&["diagnose", "go_injectors"]);
    let report = ["report", "--test", &key.test, "--table", "json", "--within", "100ms", "--apdex", "100ms"];
    written.take(&store.run(&[&report[..], &["--out", "charts", "--format", "svg"]].concat()), &report);
    written.json(&["list", "--times"]);
    let steps = store
        .file("steps.csv", super::capacity::log(&[(10, 60, 0), (20, 60, 0), (30, 60, 10), (40, 12, 50)]));
    store.run(&["ingest", &steps, "--framework", "go", "--test", "steps"]).said();
    let slo = ["--slo", "within 200ms >= 99%"];
    written.json(&[&["capacity", "go_steps"], &slo[..]].concat());
    written.json(&[&["capacity", "go_steps", "--by-label"], &slo[..]].concat());
    let sides = [0, 12].map(|harm| super::alternate::command(harm, false));
    let flags = ["--log", "log-*.csv", "--pairs", "3", "--format", "json"];
    written.take(&super::alternate::alternate(&Store::embedded(), &flags, &sides[0], &sides[1]), &flags);
    written.1
}

/// What is said of what is stored, and of what is done to it.
fn of_stores() -> Vec<Value> {
    let store = Store::embedded();
    let mut written = Written(&store, Vec::new());
    let (file, cpu) = (store.file("run.csv", log(START, 100, 1)), store.file("cpu.csv", readings(START)));
    let named = |test: &'static str| ["--framework", "go", "--test", test];
    let origin = START.to_string();
    for part in ["1/2", "2/2"] {
        let log = store.file("part.csv", log(START + i64::from(part == "2/2") * 7, 100, 1));
        written.json(&[&["ingest", &log, "--part", part, "--origin", &origin], &named("p")[..]].concat());
    }
    written.json(&["merge", "go_p", "--parts", "2"]);
    store.run(&[&["ingest", &file, "--part", "1/2", "--origin", &origin], &named("q")[..]].concat()).said();
    written.json(&["drop", "go_q", "--part", "1"]);
    written.json(&[&["watch", &file, "--idle-end", "1s"], &named("w")[..]].concat());
    for (name, run) in [("go_mix_r1.csv", 1), ("go_mix_r2.csv", 2), ("notes.csv", 3)] {
        store.file(&format!("night/{name}"), log(START + run * 3_600_000, 100, run));
    }
    store.file("night/go_mix_r1.cpu.csv", readings(START + 3_600_000));
    written.json(&["ingest", "night", "--name", "{framework}_{test}_r{repeat}.csv"]);
    written.json(&["attach-cpu", "go_w", &cpu]);
    written.json(&["attach-series", "go_w", "--series", &format!("memory={cpu}"), "--unit", "bytes"]);
    store.run(&["export", "go_mix#1", "--what", "counts", "-o", "packed.zip"]).said();
    written.json(&["inspect", "packed.zip"]);
    written.json(&["drop", "go_mix#2", "--dry-run"]);
    written.json(&["drop", "go_mix#1", "--yes"]);
    written.json(&["ingest", "packed.zip"]);
    written.json(&["ingest", "packed.zip"]);
    written.json(&["rename", "go_w", "--test", "x"]);
    ingest_points(&store);
    written.json(&["copy", "--to", "other"]);
    written.json(&["copy", "--to", "other"]);
    written.json(&["drop", "--points", "--test", "/hello", "--yes"]);
    written.json(&["migrate"]);
    written.json(&["verify"]);
    for run in std::fs::read_dir(store.folder.path().join("store/runs/go+x")).unwrap() {
        let seconds = run.unwrap().path().join("seconds.parquet");
        if seconds.exists() {
            std::fs::write(seconds, "nothing").unwrap();
        }
    }
    written.json(&["verify"]);
    written.json(&["repair", "--yes"]);
    written.1
}

/// The path of an output of a load tool.
fn output(name: &str) -> String {
    fixture(&format!("other/{name}")).to_str().unwrap().to_owned()
}

fn ingest_points(store: &Store) {
    store.run(&["ingest", &output("wrk/sweep"), "--name", "{framework}_c{concurrency}_r{repeat}.txt"]).said();
}

/// What is said of the points of load tools.
fn of_points() -> Vec<Value> {
    let store = Store::embedded();
    let mut written = Written(&store, Vec::new());
    ingest_points(&store);
    written.json(&["compare", "alpha@c32", "beta@c32", "--test", "/hello"]);
    written.json(&["sweep", "--test", "/hello"]);
    written.json(&["sweep", "--test", "/hello", "--at", "c32"]);
    let workers = output("wrk/workers");
    let tiny = [workers.as_str(), "--name", "result_w{workers}_{repeat}.log", "--framework", "tiny"];
    written.json(&[&["inspect"], &tiny[..]].concat());
    written.json(&[&["ingest"], &tiny[..]].concat());
    written.json(&["sweep", "--test", "/json", "--by", "workers"]);
    written.json(&["sweep", "--test", "/json", "--at", "c32"]);
    let (ladder, memory) = (output("wrk/ladder.log"), format!("memory={}", output("wrk/ladder-memory.csv")));
    let ladder = [ladder.as_str(), "--framework", "vapor", "--series", &memory, "--unit", "bytes"];
    written.json(&[&["sweep"], &ladder[..]].concat());
    written.json(&[&["ingest"], &ladder[..]].concat());
    let others = [
        "ab/drop-abort.txt",
        "wrk/http500.txt",
        "wrk/timeouts-2s.txt",
        "oha/failures-json.out",
        "hey/clean-summary.out",
    ];
    let others = others.map(output);
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let named = ["--framework", "f", "--test", "t", "--concurrency", "3"];
    written.json(&[&["inspect"], &others[..], &named].concat());
    written.json(&[&["inspect"], &others[4..]].concat());
    written.json(&[&["ingest"], &others[..], &named].concat());
    written.json(&["sweep", "--test", "t"]);
    written.json(&["list", "--points"]);
    written.1
}

/// What an inspection says of logs.
fn of_logs() -> Vec<Value> {
    let store = Store::embedded();
    let mut written = Written(&store, Vec::new());
    let at = |name: &str| fixture(name).to_str().unwrap().to_owned();
    let cpu = store.file("cpu.csv", readings(START));
    let memory = format!("memory={}", store.file("memory.csv", readings(START)));
    let plain = log(START, 100, 1);
    let file = store.file("run.csv", &plain);
    written.json(&["inspect", &file, &cpu, "--series", &memory, "--unit", "bytes"]);
    // A record that is none, a header in the midst, and readings with a gap.
    let header = plain.lines().next().unwrap();
    let mut lines: Vec<&str> = plain.lines().collect();
    lines[10] = "x,y,z";
    lines.insert(20, header);
    let odd = store.file("odd.zip", zip_of("odd.csv", &(lines.join("\n") + "\n")));
    let late = store.file("late.csv", late_readings(0..=40));
    let gap = store.file("gap.zip", zip_of("cpu.csv", &late_readings((0..=10).chain(35..=40))));
    for (log, cpu) in [(&file, &late), (&odd, &gap)] {
        written.json(&["inspect", log, cpu, "--series", &format!("memory={cpu}"), "--unit", "bytes"]);
    }
    written.json(&["inspect", &odd, "--strict"]);
    written.json(&["inspect", &at("Results-mix-8181.datefmt.csv.zip")]);
    let named = ["--framework", "go", "--test", "t"];
    written.json(&[&["inspect", &output("k6/metrics.csv.gz")], &named[..]].concat());
    let zip = std::fs::read(fixture("Results-flaky-8181.csv.zip")).unwrap();
    let cut = store.file("cut.zip", &zip[..zip.len() / 2]);
    let gzip = std::fs::read(fixture("other/k6/metrics.csv.gz")).unwrap();
    let cut_stream = store.file("cut.csv.gz", &gzip[..gzip.len() / 2]);
    for cut in [&cut, &cut_stream] {
        written.json(&[&["inspect", cut, "--salvage"], &named[..]].concat());
    }
    written.1
}

#[test]
fn json_of_every_command_is_what_the_reference_says() {
    let schemas = schemas();
    let mut seen: BTreeMap<&str, Seen<'_>> = BTreeMap::new();
    for (schema, fields) in &schemas {
        let (found, faults) = (BTreeMap::new(), BTreeSet::new());
        seen.insert(schema, Seen { schema, fields, found, faults });
    }
    for document in [of_runs(), of_stores(), of_points(), of_logs()].concat() {
        let schema = document["schema"].as_str().unwrap_or_else(|| panic!("no schema in {document}"));
        let seen = seen.get_mut(schema).unwrap_or_else(|| panic!("{schema} is not in the page"));
        match document["rows"].as_array() {
            Some(rows) => {
                assert_eq!(document.as_object().unwrap().len(), 2, "{schema} has more than its rows");
                rows.iter().for_each(|row| seen.look_at_row(row));
            }
            None => {
                let mut document = document.clone();
                document.as_object_mut().unwrap().remove("schema");
                seen.look_at_row(&document);
            }
        }
    }
    let faults: Vec<String> = seen.into_values().flat_map(Seen::end).collect();
    assert!(faults.is_empty(), "docs/reference/json.md and the commands differ:\n{}", faults.join("\n"));
}
