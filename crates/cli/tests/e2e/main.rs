//! The binary from end to end: real files in, figures and pages out, in both stores.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod attach;
mod campaigns;
mod changing;
mod check;
mod chromium;
mod compare;
mod copies;
mod cpu;
mod damaged;
mod diagnose;
mod disk;
mod docs;
mod failures;
mod fixtures;
mod flags;
mod goals;
mod gone;
mod help;
mod hostile;
mod html;
mod injectors;
mod inspect;
mod interchange;
mod keys;
mod kills;
mod late;
mod layers;
mod lost;
mod migrate;
mod mount;
mod names;
mod odd;
mod old;
mod outputs;
mod packings;
mod pages;
mod parquet;
mod phases;
mod pipes;
mod places;
mod pooler;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
mod proxy;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod races;
mod repeats;
mod reports;
mod roles;
mod salvage;
mod same;
mod secrets;
mod server;
mod signals;
mod sql;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod steps;
mod stores;
mod support;
mod sweep;
mod together;
mod top_level;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod traced;
mod verify;
#[allow(dead_code, reason = "shared with the tests of the inputs, which use all of it")]
#[path = "../../../ingest/tests/inputs/zips.rs"]
mod zips;
