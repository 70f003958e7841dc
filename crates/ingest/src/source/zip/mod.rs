//! Reads zips by their directory, from a pipe, and without a directory.

pub(crate) mod directory;
pub(crate) mod header;
pub(crate) mod member;
pub(crate) mod pipe;
pub(crate) mod recover;
