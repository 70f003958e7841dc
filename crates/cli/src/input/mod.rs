//! Interpretation of flags: stores, runs, views, and flags without effect.

pub(crate) mod file_names;
pub(crate) mod idle_flags;
pub(crate) mod left_out;
pub(crate) mod point_name;
pub(crate) mod points;
pub(crate) mod ports;
pub(crate) mod readings;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod store;
pub(crate) mod summaries;
pub(crate) mod versions;
pub(crate) mod view;

use std::path::Path;

use crate::error::CliError;

/// Reads a file that a flag names.
pub(crate) fn text_of(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| {
        CliError::refused(format!("can't read {}: {error}", path.display()), "Check the name and its folder.")
    })
}
