//! Values made of a fuzzer's bytes, and what must hold of packed cells.

mod cells;
mod taker;

pub use self::cells::{cell, cells};
pub use self::taker::Taker;
