//! Flags on single figures, which stand in a paper.

use std::path::Path;

use clap::Args;
use perfpipe_plot::{FigureSize, LoadFigure, RunFigure, TestFigure};

use super::style::PageFormat;
use super::values::{Choice, choice};

/// The width of a figure whose size is not given: that of a column in most journals.
const USUAL: &str = "84mm";

/// A figure by its name: of each run, over time or by its load, or of all frameworks of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FigureChoice {
    Run(RunFigure),
    Load(LoadFigure),
    Test(TestFigure),
}

impl FigureChoice {
    /// All figures.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Run(RunFigure::Requests),
        Self::Run(RunFigure::Response),
        Self::Run(RunFigure::Cpu),
        Self::Run(RunFigure::Load),
        Self::Run(RunFigure::Failures),
        Self::Load(LoadFigure::Throughput),
        Self::Load(LoadFigure::Response),
        Self::Load(LoadFigure::Cpu),
        Self::Test(TestFigure::Overview),
        Self::Test(TestFigure::OverviewResponse),
        Self::Test(TestFigure::OverviewCpu),
    ];
}

impl Choice for FigureChoice {
    fn name(self) -> &'static str {
        match self {
            Self::Run(figure) => figure.name(),
            Self::Load(figure) => figure.name(),
            Self::Test(figure) => figure.name(),
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Run(RunFigure::Requests) => "Requests per second of each run",
            Self::Run(RunFigure::Response) => "Response times by percentile of each run",
            Self::Run(RunFigure::Cpu) => "CPU of each run",
            Self::Run(RunFigure::Load) => "Active threads of each run",
            Self::Run(RunFigure::Failures) => "Failures per second of each run",
            Self::Load(LoadFigure::Throughput) => "Throughput of each run by its load, with the knee",
            Self::Load(LoadFigure::Response) => "Response times of each run by its load",
            Self::Load(LoadFigure::Cpu) => "CPU of each run by its load",
            Self::Test(TestFigure::Overview) => "Throughput of all frameworks",
            Self::Test(TestFigure::OverviewResponse) => "p95 of all frameworks",
            Self::Test(TestFigure::OverviewCpu) => "CPU of all frameworks",
            _ => "",
        }
    }
}

/// Single figures instead of pages.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct FigureArgs {
    /// Draw single figures for a paper instead of pages; `requests,response` draws both
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choice(FigureChoice::ALL))]
    pub(crate) figure: Vec<FigureChoice>,
    /// Width, or width and height, of a --figure: 84mm, 84x60mm, 3.5in, 1200x675px [default: 84mm]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) size: Option<FigureSize>,
}

impl FigureArgs {
    /// Returns the chosen figures, each once, in the order in which they are listed.
    pub(crate) fn chosen(&self) -> Vec<FigureChoice> {
        FigureChoice::ALL.iter().copied().filter(|figure| self.figure.contains(figure)).collect()
    }

    /// Returns true if a figure shows runs by their load.
    pub(crate) fn is_by_load(&self) -> bool {
        self.figure.iter().any(|figure| matches!(figure, FigureChoice::Load(_)))
    }

    /// Returns the size of the figures, if any are drawn.
    pub(crate) fn size(&self) -> Option<FigureSize> {
        if self.figure.is_empty() { None } else { self.size.clone().or_else(|| USUAL.parse().ok()) }
    }

    /// Returns the format that the name of a file says.
    pub(crate) fn format_of(file: &Path) -> Option<&'static [PageFormat]> {
        let formats: [(&str, &'static [PageFormat]); 4] = [
            ("svg", &[PageFormat::Svg]),
            ("pdf", &[PageFormat::Pdf]),
            ("png", &[PageFormat::Png]),
            ("html", &[PageFormat::Html]),
        ];
        let ending = file.extension()?.to_str()?.to_lowercase();
        formats.into_iter().find_map(|(name, format)| (name == ending).then_some(format))
    }
}

/// Parses the size of a figure.
fn size(text: &str) -> Result<FigureSize, String> {
    text.parse().map_err(|error: perfpipe_plot::Error| {
        let remedy = error.remedy().map(|remedy| format!(". {remedy}"));
        format!("{error}{}", remedy.unwrap_or_default())
    })
}
