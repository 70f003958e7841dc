//! The choices of the reader of a page: paper, colours and fixed axes.

/// How pages are to look.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Style {
    /// The paper to lay pages out for.
    pub paper: Paper,
    /// What colours the bars and lines of a run's page.
    pub color_by: ColorBy,
    /// The colours that stand for the measure.
    pub palette: Palette,
    /// The top of the CPU axis, in percent of one core; the data decide where it is `None`.
    pub cpu_max: Option<f64>,
    /// Cores of the server: the CPU axis goes to 100 for each, where `cpu_max` is not given.
    pub cores: Option<u32>,
}

impl Style {
    /// The asked-for top of the CPU axis, if it is one.
    pub(crate) fn cpu_top(&self) -> Option<f64> {
        self.cpu_max
            .or(self.cores.map(|cores| f64::from(cores) * 100.0))
            .filter(|top| top.is_finite() && *top > 0.0)
    }
}

/// A paper format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Paper {
    /// 210 × 297 mm.
    #[default]
    A4,
    /// 8.5 × 11 inches.
    Letter,
}

impl Paper {
    /// Both formats.
    pub const ALL: [Self; 2] = [Self::A4, Self::Letter];

    /// The name of the format: `a4` or `letter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::A4 => "a4",
            Self::Letter => "letter",
        }
    }

    /// Width and height of the upright sheet, in points of 1/72 inch.
    pub(crate) fn portrait(self) -> (f64, f64) {
        match self {
            Self::A4 => (595.28, 841.89),
            Self::Letter => (612.0, 792.0),
        }
    }

    /// Width and height of the sheet laid on its side, in points.
    pub(crate) fn landscape(self) -> (f64, f64) {
        let (width, height) = self.portrait();
        (height, width)
    }
}

/// What the colours of a run's page stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ColorBy {
    /// Active client threads over all injectors.
    #[default]
    Load,
    /// CPU utilisation.
    Cpu,
    /// Successful requests per second.
    Throughput,
}

/// The colours that stand for a measure, from its least value to its greatest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Palette {
    /// Purple, blue, cyan, green, yellow, orange, red.
    #[default]
    Original,
    /// Viridis: from dark purple over green to yellow, ever lighter, so that eyes that see few colours read it too.
    Viridis,
}

impl ColorBy {
    /// All measures.
    pub const ALL: [Self; 3] = [Self::Load, Self::Cpu, Self::Throughput];

    /// The name of the measure: `load`, `cpu` or `throughput`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Cpu => "cpu",
            Self::Throughput => "throughput",
        }
    }

    /// What stands beside the colour bar.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Load => "Load (active threads)",
            Self::Cpu => "CPU utilisation (%)",
            Self::Throughput => "Successes per second",
        }
    }

    /// The measure in the middle of a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Cpu => "CPU",
            Self::Throughput => "throughput",
        }
    }
}

impl Palette {
    /// Both palettes.
    pub const ALL: [Self; 2] = [Self::Original, Self::Viridis];

    /// The name of the palette: `original` or `viridis`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Viridis => "viridis",
        }
    }
}
