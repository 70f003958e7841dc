//! Flags on output: where tables go, in which format, and how they look on a terminal.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use perfpipe_analyze::table::Format;

use super::values::{Choice, choice};

/// Where the table that a command is about is printed, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Output format [default: by the ending of the file, else text]
    #[arg(long = "format", id = "format", value_parser = choice(Format::ALL))]
    asked: Option<Format>,
    #[command(flatten)]
    pub(crate) file: FileArgs,
}

impl OutputArgs {
    /// Returns the format that is asked for, or that the file's ending names; otherwise text.
    pub(crate) fn format(&self) -> Format {
        self.asked.or_else(|| self.file.named(Format::ALL)).unwrap_or(Format::Text)
    }

    /// Returns true if what was done is reported by notes alone, as it is unless a file or another format is asked for.
    pub(crate) fn is_notes(&self) -> bool {
        self.format() == Format::Text && self.file.output.is_none()
    }
}

/// Where a table is printed, and how: also as a report of pages and the table.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportOutputArgs {
    /// Output format; html is one file with pages and the table [default: by the ending of the file, else text]
    #[arg(long = "format", id = "format", value_parser = choice(ReportFormat::ALL))]
    asked: Option<ReportFormat>,
    #[command(flatten)]
    pub(crate) file: FileArgs,
}

impl ReportOutputArgs {
    /// Returns the format that is asked for, or that the file's ending names; otherwise a table as text.
    pub(crate) fn format(&self) -> ReportFormat {
        let asked = self.asked.or_else(|| self.file.named(ReportFormat::ALL));
        asked.unwrap_or(ReportFormat::Table(Format::Text))
    }
}

/// Where a verdict is printed, and how: as a table, as a report of pages and the table, or as a comment on a pull request.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct VerdictOutputArgs {
    /// Output format; html is one file with pages and the table, pr is Markdown for a comment on a pull request: the
    /// verdict, and a short table [default: by the ending of the file, else text]
    #[arg(long = "format", id = "format", value_parser = choice(VerdictFormat::ALL))]
    asked: Option<VerdictFormat>,
    #[command(flatten)]
    pub(crate) file: FileArgs,
}

impl VerdictOutputArgs {
    /// Returns the format that is asked for, or that the file's ending names; otherwise a table as text.
    pub(crate) fn format(&self) -> VerdictFormat {
        let by_ending = || self.file.named(ReportFormat::ALL).unwrap_or(ReportFormat::Table(Format::Text));
        self.asked.unwrap_or_else(|| VerdictFormat::Report(by_ending()))
    }
}

/// A format of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictFormat {
    Report(ReportFormat),
    /// A comment on a pull request.
    Comment,
}

impl VerdictFormat {
    /// All formats.
    const ALL: &[Self] = &[
        Self::Report(ReportFormat::Table(Format::Text)),
        Self::Report(ReportFormat::Table(Format::Markdown)),
        Self::Report(ReportFormat::Table(Format::Csv)),
        Self::Report(ReportFormat::Table(Format::Json)),
        Self::Report(ReportFormat::Html),
        Self::Comment,
    ];

    /// Those of verdicts of which there are no pages.
    pub(crate) const WITHOUT_PAGES: &[Self] = &[
        Self::Report(ReportFormat::Table(Format::Text)),
        Self::Report(ReportFormat::Table(Format::Markdown)),
        Self::Report(ReportFormat::Table(Format::Csv)),
        Self::Report(ReportFormat::Table(Format::Json)),
        Self::Comment,
    ];
}

impl Choice for VerdictFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Report(format) => format.name(),
            Self::Comment => "pr",
        }
    }
}

/// A format of a table, or the report with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    Table(Format),
    Html,
}

impl ReportFormat {
    /// All formats.
    pub(crate) const ALL: &[Self] = &[
        Self::Table(Format::Text),
        Self::Table(Format::Markdown),
        Self::Table(Format::Csv),
        Self::Table(Format::Json),
        Self::Html,
    ];
}

impl Choice for ReportFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Table(format) => format.name(),
            Self::Html => "html",
        }
    }
}

/// The file that is written.
#[derive(Debug, Args, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct FileArgs {
    /// Write to this file, `-` for standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl FileArgs {
    /// Returns the one of these formats that the ending of the file names: `runs.json`, `runs.txt`.
    pub(crate) fn named<T: Choice>(&self, formats: &[T]) -> Option<T> {
        let ending = self.output.as_deref()?.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        let name = if ending == "txt" { "text" } else { ending.as_str() };
        formats.iter().copied().find(|format| format.name() == name)
    }
}

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
