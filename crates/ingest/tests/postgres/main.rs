//! The Postgres store against a real server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod connections;
mod example;
mod failures;
mod locks;
mod replace;
mod round_trip;
mod schema;
mod striped;
#[path = "../support/postgres.rs"]
mod support;
#[path = "../support/whole_run.rs"]
mod whole_run;
