//! The logs of other load tools: what is read of real ones, against figures reckoned by other programs.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod aiperf;
mod gatling;
mod h2load;
mod hlog;
mod jmeter;
mod k6;
mod since_begin;
mod support;
mod variants;
mod vegeta;
