//! The style of pages: paper, colours and axes.

use perfpipe_model::run::TimeZone;

use crate::text::fonts::{FallbackFont, Fonts};

/// The style of pages. The `with_` methods change single choices; those that take an `Option` also take its value.
///
/// ```
/// use perfpipe_plot::{Palette, Style};
///
/// let style = Style::default().with_palette(Palette::Viridis).with_cores(64);
/// assert_eq!((style.palette, style.cores), (Palette::Viridis, Some(64)));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Style {
    /// The paper format.
    pub paper: Paper,
    /// The measure that the bars and lines of a run's page are coloured by.
    pub color_by: ColorBy,
    /// The palette of the measure.
    pub palette: Palette,
    /// The top of the CPU axis, in percent of one core; `None` lets the data decide.
    pub cpu_max: Option<f64>,
    /// The number of the server's cores: without `cpu_max`, the CPU axis ends at 100 % for each core.
    pub cores: Option<u32>,
    /// The times on the axis of a run's page.
    pub times: Times,
    /// The time zone of [`Times::Clock`].
    pub time_zone: TimeZone,
    /// True if the axes of response times are logarithmic.
    pub log_scale: bool,
    /// The fonts for characters that the shipped one lacks, the best first. A character that no font has is drawn as its
    /// code point, as in `<U+914D>`. An SVG has all texts as they are, and the viewer chooses the fonts.
    pub fallback_fonts: Vec<FallbackFont>,
}

impl Style {
    /// Sets the paper format.
    #[must_use]
    pub fn with_paper(mut self, paper: Paper) -> Self {
        self.paper = paper;
        self
    }

    /// Sets the measure that a run's page is coloured by.
    #[must_use]
    pub fn with_color_by(mut self, color_by: ColorBy) -> Self {
        self.color_by = color_by;
        self
    }

    /// Sets the palette of the measure.
    #[must_use]
    pub fn with_palette(mut self, palette: Palette) -> Self {
        self.palette = palette;
        self
    }

    /// Sets the top of the CPU axis, in percent of one core; `None` lets the data decide.
    #[must_use]
    pub fn with_cpu_max(mut self, cpu_max: impl Into<Option<f64>>) -> Self {
        self.cpu_max = cpu_max.into();
        self
    }

    /// Sets the number of the server's cores; `None` if it is not known.
    #[must_use]
    pub fn with_cores(mut self, cores: impl Into<Option<u32>>) -> Self {
        self.cores = cores.into();
        self
    }

    /// Sets the times on the axis of a run's page.
    #[must_use]
    pub fn with_times(mut self, times: Times) -> Self {
        self.times = times;
        self
    }

    /// Sets the time zone of [`Times::Clock`].
    #[must_use]
    pub fn with_time_zone(mut self, time_zone: TimeZone) -> Self {
        self.time_zone = time_zone;
        self
    }

    /// Sets whether the axes of response times are logarithmic.
    #[must_use]
    pub fn with_log_scale(mut self, log_scale: bool) -> Self {
        self.log_scale = log_scale;
        self
    }

    /// Sets the fonts for characters that the shipped one lacks, the best first.
    #[must_use]
    pub fn with_fallback_fonts(mut self, fonts: impl Into<Vec<FallbackFont>>) -> Self {
        self.fallback_fonts = fonts.into();
        self
    }

    /// Returns the fonts of a page.
    pub(crate) fn fonts(&self) -> Fonts {
        Fonts(self.fallback_fonts.clone().into())
    }

    /// Returns the requested top of the CPU axis, in percent of one core, if it is valid.
    pub(crate) fn cpu_top(&self) -> Option<f64> {
        self.cpu_max
            .or(self.cores.map(|cores| f64::from(cores) * 100.0))
            .filter(|top| top.is_finite() && *top > 0.0)
    }
}

/// A paper format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Paper {
    /// 210 × 297 mm.
    #[default]
    A4,
    /// 8.5 × 11 inches.
    Letter,
}

impl Paper {
    /// Both formats.
    pub const ALL: &[Self] = &[Self::A4, Self::Letter];

    /// Returns the name of the format: `a4` or `letter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::A4 => "a4",
            Self::Letter => "letter",
        }
    }

    /// Returns width and height in portrait format, in points of 1/72 inch.
    pub(crate) fn portrait(self) -> (f64, f64) {
        match self {
            Self::A4 => (595.28, 841.89),
            Self::Letter => (612.0, 792.0),
        }
    }

    /// Returns width and height in landscape format, in points.
    pub(crate) fn landscape(self) -> (f64, f64) {
        let (width, height) = self.portrait();
        (height, width)
    }
}

/// The measure that a run's page is coloured by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColorBy {
    /// The load: active client threads over all injectors.
    #[default]
    Load,
    /// The CPU.
    Cpu,
    /// Successes per second.
    Throughput,
}

/// The times on the axis of a run's page. Pages of several runs have the time since the start of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Times {
    /// The time since the start of the run.
    #[default]
    Elapsed,
    /// The time of day, as clocks showed it during the test, in [`Style::time_zone`].
    Clock,
}

impl Times {
    /// Both kinds of times.
    pub const ALL: &[Self] = &[Self::Elapsed, Self::Clock];

    /// Returns the name of the times: `elapsed` or `clock`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elapsed => "elapsed",
            Self::Clock => "clock",
        }
    }
}

/// The colours of a measure, from its smallest value to its largest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Palette {
    /// Purple, blue, cyan, green, yellow, orange, red.
    #[default]
    Original,
    /// Viridis: from dark purple over green to yellow, with increasing lightness, so that it works for any colour
    /// vision.
    Viridis,
    /// From light to dark blue: readable in grey too, and the colours of single figures unless others are chosen.
    Blues,
}

impl ColorBy {
    /// All measures.
    pub const ALL: &[Self] = &[Self::Load, Self::Cpu, Self::Throughput];

    /// Returns the name of the measure: `load`, `cpu` or `throughput`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Cpu => "cpu",
            Self::Throughput => "throughput",
        }
    }

    /// Returns the title of the colour bar.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Load => "Load (active threads)",
            Self::Cpu => "CPU utilisation (%)",
            Self::Throughput => "Successes per second",
        }
    }

    /// Returns the name of the measure within a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Cpu => "CPU",
            Self::Throughput => "throughput",
        }
    }
}

impl Palette {
    /// All palettes.
    pub const ALL: &[Self] = &[Self::Original, Self::Viridis, Self::Blues];

    /// Returns the name of the palette: `original`, `viridis` or `blues`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Viridis => "viridis",
            Self::Blues => "blues",
        }
    }
}
