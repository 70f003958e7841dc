//! Packed cells, ascending by key, in pieces that are in memory or, beyond a budget, in a temporary file.
//!
//! A [`Gatherer`] takes cells in any order and gives them back ascending; what does not fit into its room goes to the
//! file as a sorted [`Run`]. A cell can be in several parts, which are added when they are read.

mod chunk;
mod gather;
mod merge;
mod run;
mod spill;

pub(crate) use chunk::Packer;
pub(crate) use gather::{Gatherer, collect};
pub(crate) use merge::{CellResult, Merged};
pub(crate) use run::Run;
pub(crate) use spill::Spill;
