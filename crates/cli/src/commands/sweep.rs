//! `perfpipe sweep`: the points of a test by concurrency or workers, as table and pages.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::points::{
    Fitted, Level, Scalability, SweepBy, level_league, level_league_table, level_table, levels,
};
use perfpipe_analyze::table::Format;
use perfpipe_ingest::points::{Point, PointNames};
use perfpipe_ingest::{ErrorKind, IngestOptions, RunKey};
use perfpipe_plot::{Figures, Page, Style};

use super::ingest::with_readings;
use crate::args::{
    LinePagesArgs, PageOptions, PointArgs, ReportFormat, ReportOutputArgs, SeriesArgs, StoreArgs,
};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::summaries::{SummaryFile, find};
use crate::input::{idle_flags, points, store, summaries};
use crate::output::pages::{Pages, Subject, chosen_text, looks};
use crate::output::terminal::write_table;
use crate::output::{Output, fonts, note, page_folder};

/// Prints the levels of a test, and draws them; of files, of each of their tests.
pub(crate) async fn run(args: &SweepArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_line_pages(&args.drawn, args.output.format() == ReportFormat::Html)?;
    let mut left_out = LeftOut::default();
    let all = match &args.test {
        _ if !args.files.is_empty() => with_readings(points_of_files(args).await?, &args.series).await?,
        Some(test) => {
            refuse_flags(args)?;
            points::with_runs(&store::existing(store).await?, test, &mut left_out).await?
        }
        None => Vec::new(),
    };
    let tests = match &args.test {
        Some(test) => vec![test.as_str()],
        None => tests_of_points(&all, args)?,
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
    let frameworks = if is_name(args) { &[][..] } else { &args.framework };
    let chosen = points::among(all, test, frameworks, &args.tool)?;
    if let Some(at) = args.at {
        return print_league(&chosen, (test, at), args.output.format(), output);
    }
    let by = match args.by {
        Some(Axis::Concurrency) => SweepBy::Concurrency,
        Some(Axis::Workers) => SweepBy::Workers,
        None => natural(&chosen),
    };
    let levels = levels(&chosen, by);
    let written =
        args.drawn.out.as_deref().map(|out| draw_pages(args, test, out, all, (&levels, by))).transpose()?;
    let table = level_table(&levels, by);
    match args.output.format() {
        ReportFormat::Table(format) => write_table(&table, format, output)?,
        ReportFormat::Html => {
            let style = args.pages().style();
            let mut report = Figures::new(format!("{test} by {}", by_word(by)), &table);
            report.pages.extend(all_pages(test, &levels, by, &style));
            output.write_all(report.html().as_bytes())?;
        }
    }
    print_notes(test, &chosen);
    note_scalability(test, &levels, by_word(by));
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

/// Returns the points of the files.
///
/// # Errors
/// If no file is a summary, or the key of a section is not known.
async fn points_of_files(args: &SweepArgs) -> Result<Vec<Point>> {
    let files = find(&args.files).await?.files;
    if files.is_empty() {
        name_what_they_are(&args.files).await?;
        let problem = "no file is the summary of a load tool";
        let remedy = "Give what wrk, ab or another tool printed. Logs are read by `perfpipe ingest`; then \
                      `perfpipe sweep --test` shows their runs.";
        return Err(CliError::refused(problem, remedy).into());
    }
    let names = PointNames {
        framework: args.framework.first().filter(|_| is_name(args)).cloned(),
        ..summaries::names(&args.points, args.frameworks.as_deref())?
    };
    let of_outputs = summaries::named(&files, &names);
    let points = match &args.test {
        // Outputs that do not name their test are of the one that is given.
        Some(_) if of_outputs.is_err() && name_tests(&files) => return Err(mixed()),
        Some(test) if of_outputs.is_err() => {
            summaries::named(&files, &PointNames { test: Some(test.clone()), ..names })?
        }
        _ => of_outputs?,
    };
    files.iter().for_each(summaries::note_ignored);
    Ok(points)
}

/// Names the first file that is known to be no log, nor a summary in a form that is read.
///
/// # Errors
/// If there is such a file.
async fn name_what_they_are(files: &[PathBuf]) -> Result<()> {
    let files: Vec<PathBuf> = files.iter().filter(|path| path.is_file()).cloned().collect();
    match perfpipe_ingest::inspect(&files, &IngestOptions::default()).await {
        Err(error) if [ErrorKind::UnsupportedFormat, ErrorKind::Utf16].contains(&error.kind()) => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// Returns true if any output names its test.
fn name_tests(files: &[SummaryFile]) -> bool {
    files.iter().flat_map(|file| &file.found.sections).any(|section| section.url.is_some())
}

fn mixed() -> anyhow::Error {
    let problem = "some outputs have a URL and some have none; --test would give all of them the same test";
    CliError::usage(
        problem,
        "Show those without a URL in a separate command, or read the test from file names with --name.",
    )
    .into()
}

/// Returns true if `--framework` names the framework of files, since neither their names nor a file of ports do.
fn is_name(args: &SweepArgs) -> bool {
    let by_name = args.points.name.as_deref().is_some_and(|pattern| pattern.contains("{framework}"));
    !args.files.is_empty() && args.framework.len() == 1 && !by_name && args.frameworks.is_none()
}

/// Returns the tests of points.
///
/// # Errors
/// If there are several, and the format has room for one.
fn tests_of_points<'a>(points: &'a [Point], args: &SweepArgs) -> Result<Vec<&'a str>> {
    let tests: BTreeSet<&str> = points.iter().map(|point| point.key.test.as_str()).collect();
    let tests = Vec::from_iter(tests);
    let has_room = matches!(args.output.format(), ReportFormat::Table(Format::Text | Format::Markdown));
    if tests.len() > 1 && !has_room {
        let problem = format!("the files have {} tests, and this format has room for one", tests.len());
        return Err(CliError::usage(problem, format!("Choose one by --test: {}.", tests.join(", "))).into());
    }
    Ok(tests)
}

/// Refuses flags on files where there are none.
pub(super) fn refuse_flags(args: &SweepArgs) -> Result<()> {
    let series = (!args.series.series.is_empty()).then_some("--series");
    let name = args.points.name.as_ref().map(|_| "--name");
    let Some(flag) = name.or(args.points.of_summaries()).or(series) else { return Ok(()) };
    let problem = format!("{flag} is about the outputs of load tools, and no FILE is given");
    Err(CliError::usage(problem, "Leave it out, or name the files.").into())
}

/// Ranks the frameworks of a test at a concurrency.
///
/// # Errors
/// If there is no point at it.
fn print_league(
    points: &[Point],
    (test, at): (&str, u32),
    format: ReportFormat,
    output: &mut Output,
) -> Result<()> {
    let league = level_league(points, at);
    if league.is_empty() {
        return Err(missing(points, test, at).into());
    }
    let table = level_league_table(&league);
    match format {
        ReportFormat::Table(format) => write_table(&table, format, output)?,
        ReportFormat::Html => {
            let report = Figures::new(format!("{test} at concurrency {at}"), &table);
            output.write_all(report.html().as_bytes())?;
        }
    }
    let unranked = |row: &&perfpipe_analyze::points::LevelStanding| row.rank.is_none();
    let names: Vec<&str> = league.iter().filter(unranked).map(|row| row.level.framework.as_str()).collect();
    if !names.is_empty() {
        note(&format!("not ranked, with more than 1 % failures or no throughput: {}", names.join(", ")));
    }
    let tools: BTreeSet<&str> = league.iter().map(|row| row.level.tool.as_str()).collect();
    if tools.len() > 1 {
        note("each tool's points are ranked among themselves: tools measure the same server differently");
    }
    Ok(())
}

/// Says that there is no point at a concurrency, and at which there are some.
fn missing(points: &[Point], test: &str, at: u32) -> CliError {
    let levels: BTreeSet<u32> = points.iter().filter_map(|point| point.key.concurrency).collect();
    let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
    let remedy = match levels.as_slice() {
        [] => "Its points have no concurrency: give --concurrency at ingest.".to_owned(),
        levels => format!("There are points at {}.", levels.join(", ")),
    };
    CliError::refused(format!("there is no point of the test {test} at concurrency {at}"), remedy)
}

/// Draws the pages into a folder. `all` are the points of the store: names of files are unique among them.
fn draw_pages<'a>(
    args: &'a SweepArgs,
    test: &str,
    out: &'a Path,
    all: &[Point],
    (levels, by): (&[Level], SweepBy),
) -> Result<Pages<'a>> {
    let named = |point: &Point| RunKey::new(&point.key.framework, &point.key.test);
    let keys: Vec<RunKey> = all.iter().map(named).collect();
    let mut pages = Pages::new(out, args.pages(), &keys);
    let texts = levels.iter().flat_map(|level| [level.framework.as_str(), &level.tool]);
    let style = fonts::styled(&args.pages(), texts.chain([test]));
    let kind = [format!("by-{}", by_word(by))];
    let tools = args.tool.iter().map(|tool| chosen_text("tool", tool));
    let only = args.framework.iter().map(|framework| chosen_text("only", framework));
    let choices: Vec<String> = kind.iter().cloned().chain(only).chain(tools).collect();
    let page = Page::levels(test, levels, by, &style);
    pages.page(&page, Subject::Test(test), &choices)?;
    for sweep in levels.chunk_by(is_same_sweep) {
        let Some(first) = sweep.first() else { continue };
        let other = first.other.map(|other| format!("{}-{other}", other_word(by)));
        let choices: Vec<String> = kind
            .iter()
            .cloned()
            .chain([chosen_text("tool", &first.tool)])
            .chain(other)
            .chain(looks(&args.pages()))
            .collect();
        let page = Page::level_details(test, sweep, by, &style);
        pages.page(&page, Subject::Run(&RunKey::new(&first.framework, test)), &choices)?;
    }
    Ok(pages)
}

/// Returns the pages, that of all first.
fn all_pages(test: &str, levels: &[Level], by: SweepBy, style: &Style) -> Vec<Page> {
    let each = levels.chunk_by(is_same_sweep).map(|sweep| Page::level_details(test, sweep, by, style));
    std::iter::once(Page::levels(test, levels, by, style)).chain(each).collect()
}

fn is_same_sweep(a: &Level, b: &Level) -> bool {
    (&a.framework, &a.tool, a.other) == (&b.framework, &b.tool, b.other)
}

/// Returns what a sweep goes by.
fn by_word(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Workers => "workers",
        _ => "concurrency",
    }
}

/// Returns what is the same for all levels of a sweep.
fn other_word(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Workers => "concurrency",
        _ => "workers",
    }
}
