//! How pages look.

use clap::{Args, ValueEnum};
use perfpipe_plot::{ColorBy, Palette, Paper, Style};

/// How pages look.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pages")]
pub(crate) struct StyleArgs {
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) format: Option<Vec<PageFormat>>,
    /// Pixels a point of PNG pages, 0.5 to 8 [default: 2]
    #[arg(long, value_name = "N", value_parser = png_scale)]
    pub(crate) scale: Option<f64>,
    /// Paper to lay pages out for [default: a4]
    #[arg(long, value_enum)]
    pub(crate) paper: Option<PaperArg>,
    /// What the colours stand for [default: load]
    #[arg(long, value_enum)]
    pub(crate) color_by: Option<ColorArg>,
    /// The colours themselves [default: original]
    #[arg(long, value_enum)]
    pub(crate) palette: Option<PaletteArg>,
    /// Top of the CPU axis, in percent of one core [default: from the data]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) cpu_max: Option<f64>,
    /// Cores of the server: the CPU axis goes to 100 for each
    #[arg(long, value_name = "N", conflicts_with = "cpu_max", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
}

impl StyleArgs {
    /// The formats of the pages.
    pub(crate) fn formats(&self) -> &[PageFormat] {
        self.format.as_deref().unwrap_or(&[PageFormat::Svg, PageFormat::Pdf])
    }

    /// Whether the one-file report is among the formats.
    pub(crate) fn wants_html(&self) -> bool {
        self.formats().contains(&PageFormat::Html)
    }
}

impl From<&StyleArgs> for Style {
    fn from(args: &StyleArgs) -> Self {
        Self {
            paper: match args.paper {
                None | Some(PaperArg::A4) => Paper::A4,
                Some(PaperArg::Letter) => Paper::Letter,
            },
            color_by: match args.color_by {
                None | Some(ColorArg::Load) => ColorBy::Load,
                Some(ColorArg::Cpu) => ColorBy::Cpu,
                Some(ColorArg::Throughput) => ColorBy::Throughput,
            },
            palette: match args.palette {
                None | Some(PaletteArg::Original) => Palette::Original,
                Some(PaletteArg::Viridis) => Palette::Viridis,
            },
            cpu_max: args.cpu_max,
            cores: args.cores,
        }
    }
}

/// A scale that PNG pages can have.
fn png_scale(text: &str) -> Result<f64, String> {
    let scales = perfpipe_plot::PNG_SCALES;
    let scale = text.parse().ok().filter(|scale| scales.contains(scale));
    scale.ok_or_else(|| format!("not a number from {} to {}", scales.start(), scales.end()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    Svg,
    Pdf,
    Png,
    /// The whole report in one file
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperArg {
    A4,
    Letter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaletteArg {
    /// Purple to red
    Original,
    /// Dark to light, for any colour vision
    Viridis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Load,
    Cpu,
    Throughput,
}
