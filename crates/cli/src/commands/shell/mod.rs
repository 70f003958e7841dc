//! What a shell is given: help, completions and manual pages.

pub(crate) mod completions;
pub(crate) mod help;
pub(crate) mod man;
