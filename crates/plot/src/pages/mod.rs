//! The kinds of pages: their charts, their texts and their layout.

pub(crate) mod changes;
mod comparison;
mod contents;
pub(crate) mod figure;
pub(crate) mod footer;
mod levels;
pub(crate) mod page;
pub(crate) mod run;
pub(crate) mod sheet;
pub(crate) mod sweep;
pub(crate) mod test;
mod trend;
