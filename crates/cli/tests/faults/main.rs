//! Longer trials: kills at random moments in either store, real zips and the outputs of other tools damaged in a
//! thousand ways, and random sequences of commands against a model. Ignored by default, but for a few of the sequences;
//! `cargo test --release --workspace --test faults -- --ignored --nocapture` runs them and prints tallies.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod corrupted;
mod killed;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod model;
mod other_tools;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
#[path = "../../../ingest/examples/generate/load/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the log generator, which uses all of it")]
mod random;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod sequences;
#[allow(dead_code, unused_imports, reason = "shared with the tests from end to end, which use all of it")]
#[path = "../e2e/support/mod.rs"]
mod support;
#[allow(dead_code, reason = "shared with the tests from end to end, which use all of it")]
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[path = "../e2e/tools/tracer.rs"]
mod tracer;
mod trial;
