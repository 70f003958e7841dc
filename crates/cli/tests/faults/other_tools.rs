//! Logs and summaries of other load tools with bits flipped, cut, with ranges zeroed, repeated and moved. They have no
//! checksum, so another figure may be stored; but it is a whole run or an error that says so, and never a panic.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use crate::corrupted::corrupted;
use crate::random::Random;
use crate::support::*;
use crate::trial::{TOLD, exports, ingested, start};

/// The variants that are tried.
const VARIANTS: usize = 1500;

#[test]
#[ignore = "takes minutes"]
fn corrupted_outputs_of_other_tools() {
    let store = Store::embedded();
    let tools = tools(&fixture("other"));
    for tool in ["gatling", "h2load", "hey", "jmeter", "k6", "locust", "oha", "vegeta", "wrk"] {
        assert!(tools.iter().any(|(name, _)| name == tool), "no output of {tool}");
    }
    let earlier_log = fixture("crlf.csv").display().to_string();
    let earlier = ingested(&store, &earlier_log);
    let mut random = Random::new(5);
    let mut tally: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut of_tools: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for number in 0..VARIANTS {
        // Each tool alike, however many outputs of it there are.
        let one = |random: &mut Random| {
            let (tool, outputs) = &tools[random.below(tools.len() as u64) as usize];
            (tool, &outputs[random.below(outputs.len() as u64) as usize])
        };
        let ((tool, (name, bytes)), (_, (_, other))) = (one(&mut random), one(&mut random));
        let (kind, bytes) = corrupted(bytes, other, &mut random);
        let path = store.file(name, &bytes);
        let Done { code, err: told, .. } = finish(start(&store, &path, false));
        let about = format!("variant {number}, {kind} of {name}: {told}");
        assert!(told.len() < 20_000 && !told.contains("panicked"), "{about}");
        match code {
            Some(0) => {
                assert_eq!(exports(&store).len(), earlier.len(), "{about}");
                store.run(&["export", "--what", "points"]);
            }
            Some(1 | 3) => {
                assert!(told.starts_with("perfpipe: ") && told.trim_end().lines().count() >= 2, "{about}");
            }
            _ => panic!("exit code {code:?}: {about}"),
        }
        if number % 20 == 0 {
            store.run(&["verify"]).text();
            assert!(ingested(&store, &earlier_log) == earlier, "{about}");
        }
        let code = format!("exit code {}", code.unwrap());
        *of_tools.entry((tool, code.clone())).or_default() += 1;
        *tally.entry((kind, code)).or_default() += 1;
    }
    assert_eq!(store.leftovers(), Vec::<String>::new());
    eprintln!("{VARIANTS} corrupted outputs of {} tools, {}:", tools.len(), TOLD[1]);
    let all = tally.iter().chain(&of_tools);
    all.for_each(|((of, code), times)| eprintln!("{times:>6}  {of}, {code}"));
}

/// An output: its name and its bytes.
type Output = (String, Vec<u8>);

/// The tools that have a folder, with their outputs.
fn tools(folder: &Path) -> Vec<(String, Vec<Output>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.is_dir());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut tools: Vec<_> = folders.map(|path| (name(&path), outputs(&path))).collect();
    tools.sort();
    tools
}

/// The outputs in a folder and those in it, unpacked. Readings of the server are no outputs of a tool.
fn outputs(folder: &Path) -> Vec<Output> {
    let mut outputs = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            outputs.extend(self::outputs(&path));
        } else if !name.ends_with(".md") && !name.ends_with("-memory.csv") {
            let packed = std::fs::read(&path).unwrap();
            let mut bytes = Vec::new();
            match name.strip_suffix(".gz") {
                Some(_) => drop(flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap()),
                None => bytes = packed,
            }
            outputs.push((name.trim_end_matches(".gz").to_owned(), bytes));
        }
    }
    outputs.sort();
    outputs
}
