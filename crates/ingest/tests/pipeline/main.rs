//! Logs read into stores and sinks, against the slow reader: whatever the sizes of blocks and windows, the
//! number of workers and the order of the logs, the result is the same.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test's helper fails by panicking"
)]

mod agreement;
mod expected;
mod injectors;
mod log;
mod memory;
#[path = "../oracle/mod.rs"]
mod oracle;
mod order;
mod origin;
mod parts;
#[path = "../support/postgres.rs"]
mod postgres;
#[path = "../support/read_back.rs"]
mod read_back;
mod rejects;
mod several;
mod support;
mod trial;
