//! Finds the sections of a text: which tool wrote which lines.

pub(crate) mod command;
pub(crate) mod found;
pub(crate) mod lines;
pub(crate) mod section;
pub(crate) mod unwrapped;
pub(crate) mod walk;
