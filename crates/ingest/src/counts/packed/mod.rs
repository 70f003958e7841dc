//! Packed cells, ascending by key, in pieces that are in memory or, beyond a budget, in a temporary file.
//!
//! A [`Gatherer`] takes cells in any order and gives them back ascending; what does not fit into its room goes to the
//! file as a sorted [`Run`]. A cell can be in several parts, which are added when they are read.

mod chunk;
mod gather;
mod merge;
mod run;
mod spill;

pub(crate) use self::chunk::Packer;
pub(crate) use self::gather::{Gatherer, collect};
pub(crate) use self::merge::{CellResult, Merged};
pub(crate) use self::run::Run;
pub(crate) use self::spill::Spill;
