//! Bad input: for each row of `fixtures/bad/table.json` the command is run, and does what the row says.
//!
//! `UPDATE_GOLDEN=1 cargo test --workspace --test bad_input` writes what happens into the table and its README: look at
//! it before keeping it.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod hostile;
mod inputs;
mod outcome;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
mod rows;
#[allow(dead_code, unused_imports, reason = "shared with the end-to-end tests, which use all of it")]
#[path = "../e2e/support/mod.rs"]
mod support;
mod table;
mod wild;
#[allow(dead_code, reason = "shared with the tests of the inputs, which use all of it")]
#[path = "../../../ingest/tests/inputs/zips.rs"]
mod zips;
