//! Runs the rows of the table.

use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::inputs::input;
use crate::outcome::{check_safe, given, happens, outcome};
use crate::support::*;
use crate::table::{rows as table, update, updating};

/// Whether the tests are run by root, who may read everything.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Checks all rows of a group in these stores.
fn check(group: &str, stores: &[Store], happens: impl Fn(&Store, &Value, &str) -> Value) {
    let mut wrong = Vec::new();
    for row in table().iter().filter(|row| row["group"] == group) {
        for (way, expected) in row["happens"].as_object().unwrap() {
            if way == "unreadable file" && is_root() {
                continue;
            }
            for store in stores {
                // What is refused comes to no store, so that one kind is enough.
                if expected["exit"] != 0 && store.flag != stores[0].flag {
                    continue;
                }
                // What fails with a panic is told with the others.
                let tried = catch_unwind(AssertUnwindSafe(|| happens(store, row, way)));
                let Ok(happened) = tried else {
                    wrong.push(format!("{} ({way}, {})", row["input"], store.flag[0]));
                    continue;
                };
                if updating() {
                    update(row, way, &happened);
                } else if happened != *expected {
                    let kind = &store.flag[0];
                    wrong.push(format!("{} ({way}, {kind})\nis  {happened}\nnot {expected}", row["input"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What an inspection says of each row is what the table says of an ingest, as far as its sample goes.
#[test]
fn inspection_says_what_an_ingest_does() {
    let store = Store::embedded();
    let mut wholes = 0;
    for row in table().iter().filter(|row| row["group"] != "cuts") {
        for (way, expected) in row["happens"].as_object().unwrap() {
            if !["file", "pipe"].contains(&way.as_str()) {
                continue;
            }
            let what = format!("{} ({way})", row["input"]);
            let done = given(&store, row, way, &input(text(row, "input")), &["inspect", "--format", "json"]);
            check_safe(&done.err);
            assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
            let found: Value = serde_json::from_slice(&done.out).unwrap_or_default();
            if done.code != Some(0) {
                let message = text(expected, "message");
                assert!(done.err.contains(message), "{what}\nis  {}\nnot {message}", done.err);
                assert!(done.err.contains(text(expected, "remedy")), "{what}: {}", done.err);
                assert_eq!(json!(done.code), expected["exit"], "{what}");
            } else if found["whole"] == true {
                wholes += 1;
                assert_eq!(expected["exit"], 0, "{what}: {found}");
                assert_eq!(found["records_estimate"], expected["records"], "{what}");
                assert_eq!(found["transactions"], expected["transactions"], "{what}");
                let rejects = expected["rejects"].as_array().unwrap();
                assert_eq!(found["rejects"], rejects.len(), "{what}");
                let told = found["first_rejects"].as_array().unwrap().iter().map(|reject| {
                    let place = format!("line {}, byte {}", reject["line"], reject["byte"]);
                    format!("{place}: {}: {}", text(reject, "code"), text(reject, "reason"))
                });
                assert_eq!(told.collect::<Vec<_>>(), rejects[..rejects.len().min(5)], "{what}");
            }
        }
    }
    assert!(wholes > 60, "only {wholes} rows are accepted");
    assert!(!std::path::Path::new(store.place()).exists(), "an inspection made a store");
}

#[test]
fn rows_that_are_no_log_are_refused() {
    check("files", &Store::each(), happens);
}

#[test]
fn zips_are_not_trusted() {
    check("zips", &Store::each(), happens);
}

#[test]
fn cut_zip_is_refused_wherever_it_is_cut() {
    check("cuts", &[Store::embedded()], |store, row, way| {
        let whole = std::fs::read(fixture(text(row, "input"))).unwrap();
        let mut cuts = (1000..whole.len()).step_by(1000);
        let first = outcome(store, row, way, &whole[..cuts.next().unwrap()]);
        for cut in cuts {
            assert_eq!(outcome(store, row, way, &whole[..cut]), first, "cut at {cut}");
        }
        first
    });
}

#[test]
fn bomb_takes_no_memory() {
    check("bombs", &Store::each(), happens);
}

#[test]
fn bad_records_are_rejected_one_by_one() {
    check("logs", &Store::each(), happens);
}

#[test]
fn cpu_exports_are_read_or_refused() {
    check("cpu", &Store::each(), happens);
}
