//! The flags of `perfpipe sweep`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{LinePagesArgs, PageOptions, PointArgs, ReportOutputArgs, SeriesArgs};

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("Draw the pages of the sweep into this folder")))]
#[command(after_help = "Examples:\n  \
    perfpipe sweep --test /hello\n  \
    perfpipe sweep --test /json --by workers --tool wrk --format md\n  \
    perfpipe sweep --test /hello --out charts --page-format png\n  \
    perfpipe sweep --test /hello --at 64\n  \
    perfpipe sweep --test /hello --format html -o sweep.html\n  \
    perfpipe sweep results --name 'result_w{workers}_{repeat}.log' --framework crossbar --out charts\n  \
    perfpipe sweep ladder.log --framework vapor --series memory=memory.csv --unit bytes --out charts\n\n\
    Over repeats, throughput is the median with the least and the greatest, failures are the maximum, and the other \
    figures are medians. c/X is concurrency ÷ answers per second: no mean latency of a closed loop is greater.")]
pub(crate) struct SweepArgs {
    /// Outputs of load tools or folders of them, to look at without a store; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Test whose points are shown; for FILEs [default: all tests]
    #[arg(long, value_name = "NAME", required_unless_present = "files")]
    pub(crate) test: Option<String>,
    /// Only this framework; repeatable [default: all of the test]. For FILEs without a framework, its name
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Vec<String>,
    /// TOML file that names the frameworks of FILEs by port, as in 8181 = "perfectnio"
    #[arg(long, value_name = "FILE", requires = "files")]
    pub(crate) frameworks: Option<PathBuf>,
    /// Only this load tool; repeatable [default: all, each separately]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// Axis of the sweep [default: workers if they vary and concurrency does not, else concurrency]
    #[arg(long, value_enum)]
    pub(crate) by: Option<Axis>,
    /// Rank the frameworks at this concurrency instead: 64, or c64
    #[arg(long, value_name = "CONCURRENCY", value_parser = level, conflicts_with_all = ["by", "out"])]
    pub(crate) at: Option<u32>,
    #[command(flatten)]
    pub(crate) points: PointArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    pub(crate) output: ReportOutputArgs,
    #[command(flatten)]
    pub(crate) drawn: LinePagesArgs,
}

impl SweepArgs {
    /// Returns all flags on the pages.
    pub(crate) fn pages(&self) -> PageOptions<'_> {
        self.drawn.options()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// Connections or users of the tool
    Concurrency,
    /// Workers of the system under test
    Workers,
}

/// Reads a concurrency, as in `64` and `c64`.
fn level(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('c').unwrap_or(text).parse().ok().filter(|level| *level > 0);
    number.ok_or_else(|| "not a concurrency, as in 64 or c64".to_owned())
}
