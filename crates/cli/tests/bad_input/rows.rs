//! Runs the rows of the table.

use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use crate::outcome::{happens, outcome};
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

#[test]
fn what_is_no_log_is_refused() {
    check("files", &Store::each(), happens);
}

#[test]
fn zips_are_not_trusted() {
    check("zips", &Store::each(), happens);
}

#[test]
fn a_cut_zip_is_refused_wherever_it_is_cut() {
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
fn a_bomb_takes_no_memory() {
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
