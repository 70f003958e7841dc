//! `perfpipe sweep`: the points of a test by concurrency or workers, as table and pages.

mod args;
mod pages;

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::points::{SweepBy, level_table, levels};
use perfpipe_ingest::points::Point;
use perfpipe_plot::Figures;

pub(crate) use self::args::{Axis, SweepArgs};
use crate::args::{ReportFormat, StoreArgs};
use crate::input::left_out::LeftOut;
use crate::input::{idle_flags, points, store};
use crate::output::pages::Pages;
use crate::output::terminal::write_table;
use crate::output::{Output, note, page_folder};

/// Prints the levels of a test, and draws them.
pub(crate) async fn run(args: &SweepArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_line_pages(&args.drawn, args.output.format == ReportFormat::Html)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let all = points::with_runs(&store, &args.test, &mut left_out).await?;
    let chosen = points::among(&all, &args.test, &args.framework, &args.tool)?;
    args.drawn.out.as_deref().map(page_folder).transpose()?;
    let by = match args.by {
        Some(Axis::Concurrency) => SweepBy::Concurrency,
        Some(Axis::Workers) => SweepBy::Workers,
        None => natural(&chosen),
    };
    let levels = levels(&chosen, by);
    let written =
        args.drawn.out.as_deref().map(|out| pages::draw(args, out, &all, (&levels, by))).transpose()?;
    let mut output = Output::open(args.output.file.output.as_deref())?;
    let table = level_table(&levels, by);
    match args.output.format {
        ReportFormat::Table(format) => write_table(&table, format, &mut output)?,
        ReportFormat::Html => {
            let style = args.pages().style();
            let mut report = Figures::new(format!("{} by {}", args.test, pages::word(by)), &table);
            report.pages.extend(pages::all(&args.test, &levels, by, &style));
            output.write_all(report.html(&style)?.as_bytes())?;
        }
    }
    output.finish()?;
    tell(&chosen);
    written.into_iter().for_each(Pages::print_notes);
    left_out.end()
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
