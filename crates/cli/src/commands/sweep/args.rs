//! The flags of `perfpipe sweep`.

use clap::{Args, ValueEnum};

use crate::args::{LinePagesArgs, PageOptions, ReportOutputArgs};

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("Draw the pages of the sweep into this folder")))]
#[command(after_help = "Examples:\n  \
    perfpipe sweep --test /hello\n  \
    perfpipe sweep --test /json --by workers --tool wrk --format md\n  \
    perfpipe sweep --test /hello --out charts --page-format png\n  \
    perfpipe sweep --test /hello --format html -o sweep.html\n\n\
    Over repeats, throughput is the median with the least and the greatest, failures are the maximum, and the other \
    figures are medians. c/X is concurrency by answers per second: no mean of a closed loop is greater.")]
pub(crate) struct SweepArgs {
    /// Test whose points are meant
    #[arg(long, value_name = "NAME")]
    pub(crate) test: String,
    /// Only this framework; repeatable [default: all of the test]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Vec<String>,
    /// Only this load tool; repeatable [default: all, each for itself]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// What the sweep goes by [default: workers if they vary and concurrency does not, else concurrency]
    #[arg(long, value_enum)]
    pub(crate) by: Option<Axis>,
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
