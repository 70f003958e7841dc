//! Parsers for the values of flags.

pub(crate) mod choice;
pub(crate) mod duration;
pub(crate) mod part;
pub(super) mod size;
pub(crate) mod tag;
