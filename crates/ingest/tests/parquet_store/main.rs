//! The embedded store: what is stored comes back, runs take each other's place whole, and damaged files give
//! an error.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails by panicking"
)]

mod counts;
mod crash;
mod damage;
mod example;
mod folder;
#[path = "../support/read_back.rs"]
mod read_back;
mod replace;
mod round_trip;
#[path = "../support/whole_run.rs"]
mod whole_run;
