//! The binary from end to end: real files in, figures and pages out, in both stores.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod campaigns;
mod commands;
mod database;
mod exports;
mod ingest;
mod interruptions;
mod lake;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
mod reports;
mod repository;
mod stores;
mod support;
mod tools;
mod watching;
#[allow(dead_code, reason = "shared with the tests of the inputs, which use all of it")]
#[path = "../../../ingest/tests/inputs/zips.rs"]
mod zips;
