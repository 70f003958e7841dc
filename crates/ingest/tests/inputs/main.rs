//! Input files of every form, real and made, whole and damaged, by name and by pipe.

// clippy.toml allows these in #[test] functions, but not in their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cpu;
mod damage;
mod files;
mod given_up;
mod joined;
mod odd;
mod pipes;
mod real;
mod salvage;
mod support;
mod zips;
