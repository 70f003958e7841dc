//! The facts that `fixtures/facts.json` states, recounted by the slow reader from the files themselves.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helper fails by panicking")]

mod oracle;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use oracle::{OracleRun, OracleSample, OracleSecond, OracleView, percentile, read_cpu};
use serde::{Deserialize, Serialize};

/// What is known of one log. Times in ms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    file: String,
    /// Size of the unpacked log.
    bytes: u64,
    records: u64,
    successes: u64,
    failures: u64,
    transactions: u64,
    rejects: u64,
    /// The smallest and the largest timeStamp of all accepted records, epoch ms.
    t0_ms: i64,
    last_ms: i64,
    /// Seconds of the run from t0 to the last, and how many of them have a request.
    seconds: u64,
    seconds_with_requests: u64,
    /// Calendar seconds with an accepted record.
    epoch_seconds: u64,
    /// Over all requests: min, max, mean and percentiles as percentile_cont.
    elapsed: BTreeMap<String, f64>,
    sum_bytes: i64,
    sum_sent_bytes: i64,
    max_all_threads: i64,
    /// The injectors that the log itself tells apart.
    injectors: Vec<String>,
    /// Requests, and transactions, by label.
    labels: BTreeMap<String, LabelFacts>,
    /// Requests by response code.
    codes: BTreeMap<String, u64>,
    cpu: Option<CpuFacts>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct LabelFacts {
    successes: u64,
    failures: u64,
    transactions: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CpuFacts {
    file: String,
    samples: u64,
    first_clock: i64,
    last_clock: i64,
    min: f64,
    max: f64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn stated() -> Vec<Facts> {
    serde_json::from_slice(&std::fs::read(folder().join("facts.json")).unwrap()).unwrap()
}

/// All the forms in which a fixture is there: plain, zipped, or both.
fn forms(name: &str) -> Vec<Vec<u8>> {
    let plain = std::fs::read(folder().join(name)).ok();
    let zipped = std::fs::read(folder().join(format!("{name}.zip"))).ok().map(|bytes| {
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(zip.len(), 1);
        let mut member = zip.by_index(0).unwrap();
        assert_eq!(member.name().unwrap(), name);
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).unwrap();
        bytes
    });
    plain.into_iter().chain(zipped).collect()
}

/// The one content of a fixture, whatever its forms.
fn content(name: &str) -> Vec<u8> {
    let forms = forms(name);
    assert!(forms.windows(2).all(|pair| pair[0] == pair[1]), "{name} and its zip differ");
    forms.into_iter().next().unwrap_or_else(|| panic!("{name} is missing"))
}

fn counted(stated: &Facts) -> Facts {
    let bytes = content(&stated.file);
    let run = OracleRun::read(&[&bytes]);
    let requests: Vec<&OracleSample> = run.samples.iter().filter(|s| !s.transaction).collect();
    let (t0_ms, last_ms) = (run.t0_ms(), run.last_ms());
    let distinct = |keys: &mut dyn Iterator<Item = i64>| keys.collect::<BTreeSet<_>>().len() as u64;
    let successes = requests.iter().filter(|s| s.success).count();
    Facts {
        file: stated.file.clone(),
        bytes: bytes.len() as u64,
        records: (run.samples.len() + run.rejects.len()) as u64,
        successes: successes as u64,
        failures: (requests.len() - successes) as u64,
        transactions: (run.samples.len() - requests.len()) as u64,
        rejects: run.rejects.len() as u64,
        t0_ms,
        last_ms,
        seconds: ((last_ms - t0_ms) / 1000 + 1) as u64,
        seconds_with_requests: distinct(&mut requests.iter().map(|s| (s.timestamp_ms - t0_ms) / 1000)),
        epoch_seconds: distinct(&mut run.samples.iter().map(|s| s.timestamp_ms.div_euclid(1000))),
        elapsed: elapsed(&requests),
        sum_bytes: requests.iter().filter_map(|s| s.bytes).sum(),
        sum_sent_bytes: requests.iter().filter_map(|s| s.sent_bytes).sum(),
        max_all_threads: requests.iter().filter_map(|s| s.all_threads).max().unwrap(),
        injectors: run.injectors().into_iter().map(String::from).collect(),
        labels: labels(&run.samples),
        codes: codes(&requests),
        cpu: stated.cpu.as_ref().map(|cpu| cpu_facts(&cpu.file)),
    }
}

fn elapsed(requests: &[&OracleSample]) -> BTreeMap<String, f64> {
    let mut sorted: Vec<i64> = requests.iter().map(|s| s.elapsed).collect();
    sorted.sort_unstable();
    let mean = sorted.iter().sum::<i64>() as f64 / sorted.len() as f64;
    let mut facts = BTreeMap::from([("mean".to_owned(), mean)]);
    facts.insert("min".into(), sorted[0] as f64);
    facts.insert("max".into(), sorted[sorted.len() - 1] as f64);
    for p in [25, 50, 75, 90, 95, 99] {
        facts.insert(format!("p{p}"), percentile(&sorted, f64::from(p) / 100.0).unwrap());
    }
    facts
}

fn labels(samples: &[OracleSample]) -> BTreeMap<String, LabelFacts> {
    let mut labels: BTreeMap<String, LabelFacts> = BTreeMap::new();
    for sample in samples {
        let label = labels.entry(sample.label.clone().unwrap()).or_default();
        match (sample.transaction, sample.success) {
            (true, _) => label.transactions += 1,
            (false, true) => label.successes += 1,
            (false, false) => label.failures += 1,
        }
    }
    labels
}

fn codes(requests: &[&OracleSample]) -> BTreeMap<String, u64> {
    let mut codes = BTreeMap::new();
    for request in requests {
        *codes.entry(request.response_code.clone().unwrap()).or_default() += 1;
    }
    codes
}

fn cpu_facts(name: &str) -> CpuFacts {
    let readings = read_cpu(&content(name));
    let values = || readings.values().copied();
    CpuFacts {
        file: name.into(),
        samples: readings.len() as u64,
        first_clock: *readings.keys().next().unwrap(),
        last_clock: *readings.keys().next_back().unwrap(),
        min: values().fold(f64::INFINITY, f64::min),
        max: values().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// With sums and percentiles cut to nine digits, so that the order of additions does not matter.
fn rounded(mut facts: Facts) -> Facts {
    for value in facts.elapsed.values_mut() {
        *value = (*value * 1e9).round() / 1e9;
    }
    facts
}

#[test]
fn every_stated_fact_is_what_the_slow_reader_counts() {
    for facts in stated() {
        let counted = counted(&facts);
        let as_json = serde_json::to_string_pretty(&counted).unwrap();
        assert_eq!(
            rounded(counted),
            rounded(facts),
            "recounted, for facts.json if the file is right:\n{as_json}"
        );
    }
}

#[test]
fn every_file_of_the_folder_has_its_facts_and_is_told_of_in_the_readme() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let facts = stated();
    let known: Vec<&str> = facts
        .iter()
        .flat_map(|f| [Some(f.file.as_str()), f.cpu.as_ref().map(|c| c.file.as_str())])
        .flatten()
        .collect();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            // A folder has a table of its own.
            assert!(readme.contains(&format!("{name}/")), "{name} is not in the README");
            continue;
        }
        let unpacked = name.strip_suffix(".zip").unwrap_or(&name);
        if name != "README.md" && name != "facts.json" {
            assert!(known.contains(&unpacked), "{name} has no facts");
            assert!(readme.contains(unpacked), "{name} is not in the README");
        }
    }
}

/// The per-second table of a fixture, by the slow reader.
fn seconds(facts: &Facts) -> Vec<OracleSecond> {
    let cpu = facts.cpu.as_ref().map(|cpu| read_cpu(&content(&cpu.file))).unwrap_or_default();
    OracleRun::read(&[&content(&facts.file)]).seconds(&cpu, &OracleView::default())
}

fn seconds_of(file: &str) -> Vec<OracleSecond> {
    seconds(&stated().into_iter().find(|facts| facts.file == file).unwrap())
}

#[test]
fn slow_readers_seconds_add_up_to_the_facts() {
    for facts in stated() {
        let seconds = seconds(&facts);
        assert_eq!(seconds.len() as u64, facts.seconds, "{}", facts.file);
        assert_eq!(seconds.iter().map(|s| s.successes).sum::<u64>(), facts.successes, "{}", facts.file);
        assert_eq!(seconds.iter().map(|s| s.failures).sum::<u64>(), facts.failures, "{}", facts.file);
        let busy = seconds.iter().filter(|s| s.successes + s.failures > 0).count();
        assert_eq!(busy as u64, facts.seconds_with_requests, "{}", facts.file);
    }
}

#[test]
fn seconds_of_an_outage_have_load_and_cpu_but_no_times() {
    for second in &seconds_of("outage.csv")[40..50] {
        assert_eq!((second.successes, second.elapsed, second.percentiles[1]), (0, None, None), "{second:?}");
        assert!(second.failures > 200 && second.load == Some(6.0) && second.cpu.is_some(), "{second:?}");
    }
}

#[test]
fn silent_seconds_have_rows_without_values() {
    for second in &seconds_of("two-headers.csv")[8..20] {
        assert_eq!(
            (second.successes, second.failures, second.load, second.cpu),
            (0, 0, None, None),
            "{second:?}"
        );
    }
}

#[test]
fn load_of_several_injectors_is_their_sum() {
    let held: Vec<f64> = seconds_of("distributed.csv")[7..18].iter().filter_map(|s| s.load).collect();
    assert_eq!(held, [9.0; 11]);
}

#[test]
fn slow_reader_rejects_what_is_no_record() {
    let good = "1000,7,a,200,OK,10.0.0.1-g 1-1,text,true,,5,6,1,1,http://h/x,3,0,0";
    let read = |lines: &[&str]| OracleRun::read(&[lines.join("\n").as_bytes()]);
    let bad = [
        "1000,7,a,200,OK,t,text,true,,5,6,1,1,u,3,0",
        "1000,7,a,200,OK,t,text,yes,,5,6,1,1,u,3,0,0",
        "1000,+7,a,200,OK,t,text,true,,5,6,1,1,u,3,0,0",
        "1000,2147483648,a,200,OK,t,text,true,,5,6,1,1,u,3,0,0",
        "1000,7,a,200,OK,t,text,true,,5.5,6,1,1,u,3,0,0",
        "604801001,7,a,200,OK,t,text,true,,5,6,1,1,u,3,0,0",
        "1000,7,\"a,200,OK,t,text,true,,5,6,1,1,u,3,0,0",
    ];
    for record in bad {
        let run = read(&[good, record]);
        assert_eq!((run.samples.len(), run.rejects.as_slice()), (1, &[2][..]), "{record}");
    }
    let run = read(&[good, "", oracle::DEFAULT_COLUMNS, "2000,7,a,200,OK,t-1:1099-g,text,TRUE,,,,,,u,,,"]);
    assert_eq!((run.samples.len(), run.rejects.len()), (2, 0));
    assert_eq!(run.injectors().into_iter().collect::<Vec<_>>(), ["10.0.0.1", "t-1:1099"]);
    assert_eq!((run.samples[1].success, run.samples[1].bytes), (true, None));
}
