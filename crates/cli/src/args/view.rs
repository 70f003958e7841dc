//! What of a run is looked at.

use clap::{Args, ValueEnum};
use perfpipe_analyze::View;

use super::cpu::CpuArgs;

/// What of a run is looked at, and the percentiles computed of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Percentiles, in percent (percentile_cont) [default: 25,50,75,95]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) percentiles: Option<Vec<f64>>,
}

impl ViewArgs {
    /// The percentiles, by default those that the figures of a run have.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        self.percentiles.clone().unwrap_or_else(|| View::default().percentiles)
    }
}

/// What of a run is looked at.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ScopeArgs {
    /// First second, from 0
    #[arg(long, value_name = "SECOND")]
    pub(crate) from: Option<u32>,
    /// Last second
    #[arg(long, value_name = "SECOND")]
    pub(crate) to: Option<u32>,
    /// Only the seconds of a phase, found from the load
    #[arg(long, value_enum, conflicts_with_all = ["from", "to"])]
    pub(crate) phase: Option<PhaseArg>,
    /// Only requests of this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Count transaction controllers' own records as requests
    #[arg(long)]
    pub(crate) transactions: bool,
    /// Take averages and percentiles over failures too
    #[arg(long)]
    pub(crate) include_failures: bool,
    /// Leave out sub-samples (Page-0, Page-1 of Page), which JMeter writes as records of their own
    #[arg(long)]
    pub(crate) top_level: bool,
    /// Injectors that sent the load, where the log can't tell them apart [default: as told at ingest, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) injectors: Option<u32>,
    #[command(flatten)]
    pub(crate) cpu: CpuArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PhaseArg {
    /// The load climbs
    Ramp,
    /// The load is level at its peak
    Hold,
    /// What comes after the hold
    Tail,
}
