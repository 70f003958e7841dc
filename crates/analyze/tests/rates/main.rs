//! How often answers are wrong: runs of simulated systems whose truth is known, and what is said of them.
//!
//! The short trials run with all other tests. The whole ones print the tables of `docs/rates.md`:
//! `.ci/long truth`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it should be"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "trials print their tables")]

mod capacity;
mod changes;
mod compare;
mod diagnose;
mod dice;
mod failures;
mod gate;
mod league;
mod load;
mod pairs;
mod plan;
mod repeats;
mod share;
mod system;
