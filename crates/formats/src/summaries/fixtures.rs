//! The real outputs of tools among the fixtures.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "for tests"
)]

use std::path::PathBuf;

use super::sections;
use super::walk::{FoundSection, FoundSections};

/// The path of an output.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/other").join(name)
}

/// The sections of an output.
pub fn read(name: &str) -> FoundSections {
    sections(&std::fs::read(path(name)).unwrap())
}

/// The only section of an output.
pub fn only(name: &str) -> FoundSection {
    let mut found = read(name);
    assert_eq!(found.sections.len(), 1, "{name}: {:?}", found.sections);
    found.sections.remove(0)
}

/// One real output of each tool and form.
pub const FORMS: [&str; 26] = [
    "ab/http500.txt",
    "ab/timeout-r.txt",
    "artillery/report.json",
    "autocannon/failures.out",
    "bombardier/clean.out",
    "bombardier/plain.out",
    "fortio/failures.json",
    "h2load/failures.out",
    "hey/failures-summary.out",
    "k6/handleSummary.json",
    "k6/summary-export.json",
    "locust/run.json",
    "locust/run_stats.csv",
    "locust/run_stats_history.csv",
    "oha/failures-json.out",
    "oha/failures-text.out",
    "siege/failures.out",
    "siege/siege.log",
    "vegeta/report.json",
    "vegeta/report.text",
    "weighttp/failures.out",
    "wrk/dump.txt",
    "wrk/ladder.log",
    "wrk/plain-no-latency.txt",
    "wrk2/clean.out",
    "wrk/workers/result_w1_1.log",
];
