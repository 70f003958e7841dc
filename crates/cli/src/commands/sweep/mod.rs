//! `perfpipe sweep`: the points of a test by concurrency or workers, as table and pages.

mod args;
mod files;
mod league;
mod pages;

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::points::{Fitted, Level, Scalability, SweepBy, level_table, levels};
use perfpipe_ingest::points::Point;
use perfpipe_plot::Figures;

pub(crate) use self::args::{Axis, SweepArgs};
use crate::args::{ReportFormat, StoreArgs};
use crate::commands::ingest::with_readings;
use crate::input::left_out::LeftOut;
use crate::input::{idle_flags, points, store};
use crate::output::pages::Pages;
use crate::output::terminal::write_table;
use crate::output::{Output, note, page_folder};

/// Prints the levels of a test, and draws them; of files, of each of their tests.
pub(crate) async fn run(args: &SweepArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_line_pages(&args.drawn, args.output.format() == ReportFormat::Html)?;
    let mut left_out = LeftOut::default();
    let all = match &args.test {
        _ if !args.files.is_empty() => with_readings(files::points(args).await?, &args.series).await?,
        Some(test) => {
            files::refuse_flags(args)?;
            points::with_runs(&store::existing(store).await?, test, &mut left_out).await?
        }
        None => Vec::new(),
    };
    let tests = match &args.test {
        Some(test) => vec![test.as_str()],
        None => files::tests(&all, args)?,
    };
    args.drawn.out.as_deref().map(page_folder).transpose()?;
    let mut output = Output::open(args.output.file.output.as_deref())?;
    for test in &tests {
        if tests.len() > 1 {
            writeln!(output, "{test}")?;
        }
        of_test(args, test, &all, &mut output)?;
    }
    output.finish()?;
    left_out.end()
}

/// Prints the levels of one test, and draws them. `all` are the points of all tests.
fn of_test(args: &SweepArgs, test: &str, all: &[Point], output: &mut Output) -> Result<()> {
    let frameworks = if files::is_name(args) { &[][..] } else { &args.framework };
    let chosen = points::among(all, test, frameworks, &args.tool)?;
    if let Some(at) = args.at {
        return league::print(&chosen, (test, at), args.output.format(), output);
    }
    let by = match args.by {
        Some(Axis::Concurrency) => SweepBy::Concurrency,
        Some(Axis::Workers) => SweepBy::Workers,
        None => natural(&chosen),
    };
    let levels = levels(&chosen, by);
    let written =
        args.drawn.out.as_deref().map(|out| pages::draw(args, test, out, all, (&levels, by))).transpose()?;
    let table = level_table(&levels, by);
    match args.output.format() {
        ReportFormat::Table(format) => write_table(&table, format, output)?,
        ReportFormat::Html => {
            let style = args.pages().style();
            let mut report = Figures::new(format!("{test} by {}", pages::word(by)), &table);
            report.pages.extend(pages::all(test, &levels, by, &style));
            output.write_all(report.html(&style)?.as_bytes())?;
        }
    }
    print_notes(test, &chosen);
    note_scalability(test, &levels, pages::word(by));
    written.into_iter().for_each(Pages::print_notes);
    Ok(())
}

/// Says how the throughput of each sweep grows with the load.
fn note_scalability(test: &str, levels: &[Level], load: &str) {
    let same = |one: &Level, next: &Level| {
        (&one.framework, &one.tool, one.other) == (&next.framework, &next.tool, next.other)
    };
    for sweep in levels.chunk_by(same) {
        if let Some((first, law)) = sweep.first().and_then(|level| Some((level, level.scalability?))) {
            let of = format!("{test}: {} by {}", first.framework, first.tool);
            note(&format!("{of}: {}", scalability(&law, load)));
        }
    }
}

/// Describes how throughput grows with the load.
fn scalability(law: &Scalability, load: &str) -> String {
    if law.is_straight() {
        return format!("the data do not bend: throughput grows with the {load}");
    }
    if !law.fits() {
        let off = format!("{:.0} %", 100.0 * law.deviation);
        return format!("throughput is {off} off the Universal Scalability Law, which does not describe it");
    }
    let percent = |of: Fitted| {
        let digits = if of.value.abs() < 0.001 { 4 } else { 2 };
        let shown = |share: f64| format!("{:.digits$}", 100.0 * share);
        format!("{} % ({} to {})", shown(of.value), shown(of.low), shown(of.high))
    };
    let (contention, coherency) = (percent(law.contention), percent(law.coherency));
    let peak = match law.peak {
        Some(peak) => {
            let most = law.throughput(peak.value);
            let Fitted { value, low, high, .. } = peak;
            format!("at most {most:.0}/s, at a {load} of {value:.0} ({low:.0} to {high:.0})")
        }
        None => "no peak is seen".to_owned(),
    };
    format!("{peak}; contention {contention}, coherency {coherency}")
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

/// Prints what must be known of the figures.
fn print_notes(test: &str, points: &[Point]) {
    let count = |part: &str| {
        points.iter().filter(|point| point.figures.notes.iter().any(|note| note.contains(part))).count()
    };
    let impossible = count("is above c/X");
    if impossible > 0 {
        note(&format!(
            "{test}: {impossible} of {} points: the tool's mean latency is impossibly high (above concurrency ÷ answers/s)",
            points.len()
        ));
    }
    // Earlier versions stored the first of these.
    let late = count("time-outs are in no latency") + count("time-outs are not in the latencies");
    if late > 0 {
        note(&format!(
            "{test}: the latencies of {late} of {} points leave out requests that timed out",
            points.len()
        ));
    }
}
