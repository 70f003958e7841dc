//! What a shell is given: completions and manual pages.

pub(crate) mod completions;
pub(crate) mod man;
