//! How CPU readings are read and joined.

use clap::{Args, ValueEnum};

/// How CPU readings find their seconds.
#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    /// Seconds added to the clock of CPU readings
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) cpu_offset: Option<i64>,
    /// Seconds that a CPU reading may lie before the one it is joined to [default: 3, or as many as there are from one
    /// reading to the next; of a stored run, as at its ingest]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) cpu_lookback: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CpuScaleArg {
    /// 100 is one core
    PercentOfCore,
    /// 100 is the whole machine; needs --cores
    PercentOfMachine,
    /// 1 is the whole machine; needs --cores
    Fraction,
}
