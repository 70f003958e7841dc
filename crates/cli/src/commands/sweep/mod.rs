//! `perfpipe sweep`: the points of a test by concurrency or workers.

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::points::{SweepBy, level_table, levels};
use perfpipe_ingest::points::Point;

use crate::args::{OutputArgs, StoreArgs};
use crate::input::{points, store};
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe sweep --test /hello\n  \
    perfpipe sweep --test /json --by workers --tool wrk --format md\n\n\
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
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// Connections or users of the tool
    Concurrency,
    /// Workers of the system under test
    Workers,
}

/// Prints the levels of a test.
pub(crate) async fn run(args: &SweepArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let chosen = points::of_test(&store, &args.test, &args.framework, &args.tool).await?;
    let by = match args.by {
        Some(Axis::Concurrency) => SweepBy::Concurrency,
        Some(Axis::Workers) => SweepBy::Workers,
        None => natural(&chosen),
    };
    let levels = levels(&chosen, by);
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&level_table(&levels, by), args.output.format, &mut output)?;
    output.finish()?;
    tell(&chosen);
    Ok(())
}

/// Returns what varies.
fn natural(points: &[Point]) -> SweepBy {
    let varies = |value: fn(&Point) -> Option<u32>| {
        let mut values = points.iter().map(value);
        let first = values.next().flatten();
        values.any(|value| value != first)
    };
    match varies(|point| point.key.workers) && !varies(|point| point.key.concurrency) {
        true => SweepBy::Workers,
        false => SweepBy::Concurrency,
    }
}

/// Tells what must be known of the figures.
fn tell(points: &[Point]) {
    let count = |part: &str| {
        points.iter().filter(|point| point.figures.notes.iter().any(|note| note.contains(part))).count()
    };
    let impossible = count("is above c/X");
    if impossible > 0 {
        note(&format!(
            "the printed means of {impossible} of {} points are above c/X, which no closed loop can have",
            points.len()
        ));
    }
    let late = count("time-outs are in no latency");
    if late > 0 {
        note(&format!(
            "the latencies of {late} of {} points leave out requests that timed out",
            points.len()
        ));
    }
}
