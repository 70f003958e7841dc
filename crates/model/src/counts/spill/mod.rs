//! Packed cells, ascending by key, in chunks that are kept in memory or, beyond a budget, in a temporary file.
//!
//! A [`Gatherer`] receives cells in any order and returns them in ascending order. It writes what exceeds its memory to
//! the file, as a sorted [`CellRun`]. A cell may arrive in several parts, which are added up when they are read.

mod file;
mod gather;
mod merge;
mod sorted_run;

pub use self::file::SpillFile;
pub use self::gather::{Gatherer, OrderedCells, collect};
pub use self::merge::{CellResult, CellSource, MergedCells, opened};
pub use self::sorted_run::{CellRun, ChunkPacker};
