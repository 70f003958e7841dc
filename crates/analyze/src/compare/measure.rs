//! What is compared: the parts of a run, and the figures of each.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::format::Unit;
use crate::stats::percentile::column_name;
use crate::view::View;
use crate::view::phases::Phase;

/// The part of a run that figures are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Part {
    /// The whole run.
    Run,
    /// The run's hold, compared too if all runs have a hold and other seconds.
    Hold,
    /// The seconds before the hold, if they were chosen.
    Ramp,
    /// The seconds after the hold, if they were chosen.
    Tail,
    /// The seconds between two that were chosen.
    Window,
}

impl Part {
    /// Returns the part's name in tables: `run`, `hold`, `ramp`, `tail` or `window`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Hold => "hold",
            Self::Ramp => "ramp",
            Self::Tail => "tail",
            Self::Window => "window",
        }
    }

    /// Returns what a view leaves of this part: of the whole run, the seconds that were chosen.
    pub(super) fn within(self, view: &View) -> Self {
        match (self, view.phase) {
            (Self::Run, Some(Phase::Hold)) => Self::Hold,
            (Self::Run, Some(Phase::Ramp)) => Self::Ramp,
            (Self::Run, Some(Phase::Tail)) => Self::Tail,
            (Self::Run, None) if view.from.is_some() || view.to.is_some() => Self::Window,
            (part, _) => part,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A figure that is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Measure {
    /// Successes per second.
    Throughput,
    /// Failures in percent of all requests.
    FailuresPercent,
    /// The mean CPU, in percent of one core.
    CpuMean,
    /// The mean elapsed time.
    ElapsedMean,
    /// A percentile of elapsed, in percent.
    Percentile(f64),
    /// The mean of a series of the server other than its CPU.
    SeriesMean(Arc<SeriesKey>),
    /// The greatest value of such a series.
    SeriesMax(Arc<SeriesKey>),
}

/// A series of the server, by its name and its unit: values in different units are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SeriesKey {
    /// Its name.
    pub name: String,
    /// The unit of its values, as given at the ingest.
    pub unit: String,
}

/// Whether an increase of a figure is good or bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Growth {
    Good,
    Bad,
    Neither,
}

impl Measure {
    /// Returns the figure's column name in the summary, as in `throughput` and `p95`; of a series, how rules name it, as
    /// in `series memory` and `series_max memory`.
    pub fn column(&self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::FailuresPercent => "failures_percent".to_owned(),
            Self::CpuMean => "cpu_mean".to_owned(),
            Self::ElapsedMean => "elapsed_mean".to_owned(),
            Self::Percentile(percent) => column_name(*percent),
            Self::SeriesMean(series) => format!("series {}", series.name),
            Self::SeriesMax(series) => format!("series_max {}", series.name),
        }
    }

    /// Returns the name of the figure's unit.
    pub fn unit(&self) -> &str {
        match self {
            Self::Throughput => Unit::PerSecond.name(),
            Self::FailuresPercent | Self::CpuMean => Unit::Percent.name(),
            Self::ElapsedMean | Self::Percentile(_) => Unit::Milliseconds.name(),
            Self::SeriesMean(series) | Self::SeriesMax(series) => &series.unit,
        }
    }

    /// Returns the series that the figure is of; `None` for figures that all runs have.
    pub fn series(&self) -> Option<&SeriesKey> {
        match self {
            Self::SeriesMean(series) | Self::SeriesMax(series) => Some(series),
            _ => None,
        }
    }

    /// Returns true if more of the figure is better, false if less is; `None` if neither is.
    pub fn more_is_better(&self) -> Option<bool> {
        match self.growth() {
            Growth::Good => Some(true),
            Growth::Bad => Some(false),
            Growth::Neither => None,
        }
    }

    pub(super) fn growth(&self) -> Growth {
        match self {
            Self::Throughput => Growth::Good,
            Self::CpuMean | Self::SeriesMean(_) | Self::SeriesMax(_) => Growth::Neither,
            Self::FailuresPercent | Self::ElapsedMean | Self::Percentile(_) => Growth::Bad,
        }
    }

    /// Returns true if slow noise in the figure is the server's, and so affects all request figures. Failures come in
    /// bursts of their own, and readings of the CPU and of other series have the memory of the tool that took them.
    pub(super) fn is_of_server(&self) -> bool {
        !matches!(self, Self::FailuresPercent | Self::CpuMean | Self::SeriesMean(_) | Self::SeriesMax(_))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.column())
    }
}
