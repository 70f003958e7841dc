//! Flags on the style of pages.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use perfpipe_plot::{ColorBy, PNG_SCALES, Palette, Paper, Style, Times};

use super::cpu::CoresArgs;
use super::figure::FigureArgs;
use super::values::choice;

/// The usual scale of PNG pages, in pixels per point.
const PNG_SCALE: f64 = 2.0;

/// The sheets that pages are drawn on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct SheetArgs {
    /// Pixels per point of PNG pages, 0.5 to 8 [default: 2, and of a report's figures 300 dots per inch]
    #[arg(long, value_name = "N", value_parser = png_scale)]
    pub(crate) scale: Option<f64>,
    /// Paper size [default: a4]
    #[arg(long, value_parser = choice(Paper::ALL))]
    pub(crate) paper: Option<Paper>,
    /// Draw response times on a logarithmic axis
    #[arg(long)]
    pub(crate) log_scale: bool,
    /// Fonts for characters that DejaVu Sans lacks, in PDF and PNG pages: a font file, a folder, `system` or `none`
    /// [default: PERFPIPE_FONTS, if set, or system]
    #[arg(long, value_name = "FONTS")]
    pub(crate) fonts: Option<PathBuf>,
}

/// Flags for the charts on the pages of runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct ChartArgs {
    /// Measure that the colours show [default: load]
    #[arg(long, value_name = "MEASURE", value_parser = choice(ColorBy::ALL))]
    pub(crate) color_by: Option<ColorBy>,
    /// Colour scale [default: original, and of a report's figures blues]
    #[arg(long, value_parser = choice(Palette::ALL))]
    pub(crate) palette: Option<Palette>,
    /// Times on the axis of a run's page: since its start, or the time of day in --time-zone [default: elapsed]
    #[arg(long, value_name = "TIMES", value_parser = choice(Times::ALL))]
    pub(crate) axis: Option<Times>,
    /// Top of the CPU axis, in percent of one core [default: from the data]
    #[arg(long, value_name = "PERCENT", conflicts_with = "cores")]
    pub(crate) cpu_max: Option<f64>,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
}

/// Formats of pages that come beside what a command is about.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct PageFormatArgs {
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) page_format: Option<Vec<PageFormat>>,
}

/// Pages of lines, drawn beside a table.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct LinePagesArgs {
    /// Draw pages into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_parser = PageFormat::of_pages(), value_delimiter = ',', value_name = "LIST")]
    pub(crate) page_format: Option<Vec<PageFormat>>,
    #[command(flatten)]
    pub(crate) sheet: SheetArgs,
}

impl LinePagesArgs {
    /// Returns all flags on the pages.
    pub(crate) fn options(&self) -> PageOptions<'_> {
        PageOptions {
            flag: "--page-format",
            format: self.page_format.as_deref(),
            sheet: &self.sheet,
            charts: None,
            one_file: false,
            time_zone: None,
            figures: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    Svg,
    Pdf,
    Png,
    /// The whole report in one file
    Html,
}

impl PageFormat {
    /// Returns the parser where pages have no report in one file. The help leaves `html` out, but it is parsed, so that
    /// the command can say what to do instead.
    pub(crate) fn of_pages() -> impl TypedValueParser<Value = Self> {
        let shown = Self::value_variants()
            .iter()
            .filter_map(|format| Some(format.to_possible_value()?.hide(*format == Self::Html)));
        PossibleValuesParser::new(shown).try_map(|name| Self::from_str(&name, false))
    }
}

/// All flags on the pages of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOptions<'a> {
    /// The name of the flag for their formats.
    pub(crate) flag: &'static str,
    pub(crate) format: Option<&'a [PageFormat]>,
    pub(crate) sheet: &'a SheetArgs,
    /// The flags on charts; `None` if only lines are drawn, which have no such choices.
    pub(crate) charts: Option<&'a ChartArgs>,
    /// True if the PDF pages are one document.
    pub(crate) one_file: bool,
    /// The name of the time zone for the time of day.
    pub(crate) time_zone: Option<&'a str>,
    /// The flags on single figures; `None` if the command draws none.
    pub(crate) figures: Option<&'a FigureArgs>,
}

impl<'a> PageOptions<'a> {
    /// Returns the formats to write.
    pub(crate) fn formats(&self) -> &'a [PageFormat] {
        self.format.unwrap_or(&[PageFormat::Svg, PageFormat::Pdf])
    }

    /// Returns true if the single-file report is among the formats.
    pub(crate) fn wants_html(&self) -> bool {
        self.formats().contains(&PageFormat::Html)
    }

    /// Returns true if any of the formats has one file per page.
    pub(crate) fn wants_pages(&self) -> bool {
        self.formats().iter().any(|format| *format != PageFormat::Html)
    }

    /// Returns true if single figures are drawn instead of pages.
    pub(crate) fn wants_figures(&self) -> bool {
        self.figures.is_some_and(|args| !args.figure.is_empty())
    }

    /// Returns the pixels per point of PNG pages.
    pub(crate) fn png_scale(&self) -> f64 {
        let of_figures = || Some(self.figures?.size()?.png_scale());
        self.sheet.scale.or_else(of_figures).unwrap_or(PNG_SCALE)
    }

    /// Returns the style of the pages.
    pub(crate) fn style(&self) -> Style {
        let style = Style::default()
            .with_paper(self.sheet.paper.unwrap_or_default())
            .with_log_scale(self.sheet.log_scale);
        let Some(charts) = self.charts else { return style };
        let times = charts.axis.unwrap_or_default();
        let usual = if self.wants_figures() { Palette::Blues } else { Palette::default() };
        // A command refuses a zone that does not exist before it draws.
        let zone = self.time_zone.filter(|_| times == Times::Clock).and_then(|zone| zone.parse().ok());
        style
            .with_color_by(charts.color_by.unwrap_or_default())
            .with_palette(charts.palette.unwrap_or(usual))
            .with_cpu_max(charts.cpu_max)
            .with_cores(charts.cores.cores)
            .with_times(times)
            .with_time_zone(zone.unwrap_or_default())
    }

    /// Returns the names of the flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let SheetArgs { scale, paper, log_scale, fonts } = self.sheet;
        let of_charts = self.charts.map(|charts| {
            let ChartArgs { color_by, palette, axis, cpu_max, cores } = charts;
            [
                ("--color-by", color_by.is_some()),
                ("--palette", palette.is_some()),
                ("--axis", axis.is_some()),
                ("--cpu-max", cpu_max.is_some()),
                ("--cores", cores.cores.is_some()),
            ]
        });
        let of_sheets = [
            (self.flag, self.format.is_some()),
            ("--scale", scale.is_some()),
            ("--paper", paper.is_some()),
            ("--log-scale", *log_scale),
            ("--fonts", fonts.is_some()),
        ];
        let one_file = self.one_file.then_some("--one-file");
        let all = of_sheets.into_iter().chain(of_charts.into_iter().flatten());
        all.filter_map(|(flag, given)| given.then_some(flag)).chain(one_file)
    }
}

/// Parses a scale that PNG pages can have.
fn png_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| PNG_SCALES.contains(scale));
    scale.ok_or_else(|| format!("not a number from {} to {}", PNG_SCALES.start(), PNG_SCALES.end()))
}
