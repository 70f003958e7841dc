//! Flags of views: which seconds, labels and percentiles, and goals for response times.

use clap::Args;
use perfpipe_analyze::{Goal, Phase, View};

use super::cpu::CpuJoinArgs;
use super::reading::InjectorsArgs;
use super::values::choice;
use crate::args::values;

/// Flags that select seconds and requests, and the percentiles to compute.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Percentiles to compute, in percent (as SQL's percentile_cont) [default: 25,50,75,95]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) percentiles: Option<Vec<f64>>,
}

impl ViewArgs {
    /// Returns the percentiles, by default those of [`View::default`].
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        self.percentiles.clone().unwrap_or_else(|| View::default().percentiles)
    }
}

/// Flags that select seconds and requests.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ScopeArgs {
    /// First second to include, counted from 0: 60, 1:00 or 1m
    #[arg(long, value_name = "TIME", value_parser = values::seconds, allow_negative_numbers = true)]
    pub(crate) from: Option<u32>,
    /// Last second to include: 90, 1:30 or 1m30s
    #[arg(long, value_name = "TIME", value_parser = values::seconds, allow_negative_numbers = true)]
    pub(crate) to: Option<u32>,
    /// Include only the seconds of one phase of the load
    #[arg(long, value_parser = choice(&Phase::ALL), conflicts_with_all = ["from", "to"])]
    pub(crate) phase: Option<Phase>,
    /// Include only requests with this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Count the records of transaction controllers as requests
    #[arg(long)]
    pub(crate) transactions: bool,
    /// Include failures in averages and percentiles
    #[arg(long)]
    pub(crate) include_failures: bool,
    /// Leave out sub-samples (Page-0, Page-1 of Page), which JMeter writes as separate records
    #[arg(long)]
    pub(crate) top_level: bool,
    #[command(flatten)]
    pub(crate) injectors: InjectorsArgs,
    #[command(flatten)]
    pub(crate) cpu: CpuJoinArgs,
}

impl ScopeArgs {
    /// Returns the flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            ("--from", self.from.is_some()),
            ("--to", self.to.is_some()),
            ("--phase", self.phase.is_some()),
            ("--label", self.label.is_some()),
            ("--transactions", self.transactions),
            ("--include-failures", self.include_failures),
            ("--top-level", self.top_level),
            ("--injectors", self.injectors.injectors.is_some()),
            ("--cpu-offset", self.cpu.cpu_offset.is_some()),
            ("--cpu-lookback", self.cpu.cpu_lookback.is_some()),
        ]
        .into_iter()
        .filter_map(|(flag, given)| given.then_some(flag))
    }
}

/// Goals for response times.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct GoalArgs {
    /// Add the percentage of all requests that succeed within a time: 200ms, 1.5s; repeatable
    #[arg(long, value_name = "TIME", value_parser = Goal::within)]
    pub(crate) within: Vec<Goal>,
    /// Add the Apdex for a threshold T (Apdex Technical Specification 1.1): 500ms; repeatable
    #[arg(long, value_name = "TIME", value_parser = Goal::apdex)]
    pub(crate) apdex: Vec<Goal>,
}

impl GoalArgs {
    /// Returns all goals.
    pub(crate) fn goals(&self) -> Vec<Goal> {
        [&self.within[..], &self.apdex].concat()
    }
}
