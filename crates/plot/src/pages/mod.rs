//! The kinds of pages: their charts, their texts and their layout.

pub(crate) mod changes;
pub(crate) mod chosen;
mod comparison;
pub(crate) mod footer;
mod levels;
pub(crate) mod page;
pub(crate) mod run;
pub(crate) mod sheet;
pub(crate) mod stack;
pub(crate) mod sweep;
pub(crate) mod test;
mod trend;
