//! Flags on the output of a table: file and format.

use std::path::PathBuf;

use clap::Args;
use perfpipe_analyze::table::Format;

use super::values::choice::choice;

/// Where the table that a command is about is printed, and how.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Output format
    #[arg(long, value_parser = choice(Format::ALL), default_value = "text")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) file: FileArgs,
}

/// The file that is written.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
