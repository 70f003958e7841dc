//! A longer trial: kills at random moments in either store, and real zips damaged in a thousand ways. Ignored by
//! default; `cargo test --release -p perfpipe --test faults -- --ignored --nocapture` runs it and prints tallies.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod corrupted;
mod killed;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
#[path = "../../../ingest/examples/generate/load/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the log generator, which uses all of it")]
mod random;
#[allow(dead_code, reason = "shared with the tests from end to end, which use all of it")]
#[path = "../e2e/support.rs"]
mod support;
mod trial;
