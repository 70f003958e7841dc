//! The unit of the readings in a CPU export.

/// The unit of the readings in a CPU export. All that is stored and shown is in percent of one core, whatever the unit
/// of the export: a figure whose unit depended on an option would be misread, in SQL as well as in a rule of `check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuScale {
    /// 100 is one core, so a machine with 72 cores reaches 7200.
    #[default]
    PercentOfCore,
    /// 100 is the whole machine.
    PercentOfMachine {
        /// The number of cores.
        cores: u32,
    },
    /// 1 is the whole machine.
    Fraction {
        /// The number of cores.
        cores: u32,
    },
}

impl CpuScale {
    /// The factor from a reading to percent of one core.
    ///
    /// ```
    /// use perfpipe_ingest::series::CpuScale;
    /// assert_eq!(50.0 * CpuScale::PercentOfMachine { cores: 72 }.factor(), 3600.0);
    /// assert_eq!(0.5 * CpuScale::Fraction { cores: 72 }.factor(), 3600.0);
    /// assert_eq!(3600.0 * CpuScale::PercentOfCore.factor(), 3600.0);
    /// ```
    pub fn factor(self) -> f64 {
        match self {
            Self::PercentOfCore => 1.0,
            Self::PercentOfMachine { cores } => f64::from(cores),
            Self::Fraction { cores } => f64::from(cores) * 100.0,
        }
    }

    /// Its name, which is stored and never changes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PercentOfCore => "percent-of-core",
            Self::PercentOfMachine { .. } => "percent-of-machine",
            Self::Fraction { .. } => "fraction",
        }
    }

    /// The scale of this name on a machine with so many cores. `None` if there is none, or if it needs the cores.
    pub(super) fn named(name: &str, cores: Option<u32>) -> Option<Self> {
        let scales = [
            Some(Self::PercentOfCore),
            cores.map(|cores| Self::PercentOfMachine { cores }),
            cores.map(|cores| Self::Fraction { cores }),
        ];
        scales.into_iter().flatten().find(|scale| scale.name() == name)
    }

    /// The number of cores of the machine, if the scale says it.
    pub(super) fn cores(self) -> Option<u32> {
        match self {
            Self::PercentOfCore => None,
            Self::PercentOfMachine { cores } | Self::Fraction { cores } => Some(cores),
        }
    }
}
