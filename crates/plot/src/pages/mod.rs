//! The pages: which charts each has, what it says in words, and how they share its room.

pub(crate) mod comparison;
pub(crate) mod footer;
pub(crate) mod page;
pub(crate) mod run;
pub(crate) mod sheet;
pub(crate) mod stack;
pub(crate) mod sweep;
pub(crate) mod test;
