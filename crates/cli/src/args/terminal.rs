//! Flags on what a terminal shows.

use clap::{Args, ValueEnum};

/// How output looks on a terminal.
#[derive(Debug, Default, Clone, Copy, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct TerminalArgs {
    /// Colour verdicts; auto colours them on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Print tables with all columns and rows, however narrow the terminal is
    #[arg(long, global = true)]
    pub(crate) wide: bool,
    /// Print no notes and no progress on standard error, only warnings and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// When output is coloured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
