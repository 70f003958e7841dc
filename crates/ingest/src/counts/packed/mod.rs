//! Packed cells, ascending by key, in chunks that are kept in memory or, beyond a budget, in a temporary file.
//!
//! A [`Gatherer`] takes cells in any order and returns them in ascending order. It writes what exceeds its memory to
//! the file, as a sorted [`Run`]. A cell may arrive in several parts, which are added up when they are read.

mod chunk;
mod gather;
mod merge;
mod ordered;
mod run;
mod spill;

pub(crate) use self::chunk::Packer;
pub(crate) use self::gather::{Gatherer, collect};
pub(crate) use self::merge::{CellResult, Merged, Source, opened};
pub(crate) use self::ordered::Ordered;
pub(crate) use self::run::Run;
pub(crate) use self::spill::Spill;
