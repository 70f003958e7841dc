//! `perfpipe report`: draws the pages of a test's runs, and prints its league table.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args, ValueEnum};
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Goal, League, Sweep, Timeline, View};
use perfpipe_ingest::StoredRun;
use perfpipe_plot::Page;

use crate::args::{
    ChartArgs, GoalArgs, PageFormat, PageOptions, RunsArgs, SheetArgs, StoreArgs, ViewArgs, choice,
};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::{idle_flags, left_out, runs, store, view};
use crate::output::pages::{Pages, Subject, choices, chosen_runs};
use crate::output::{Output, page_folder};

#[derive(Debug, Args)]
#[command(mut_arg("cores", |cores| cores.help("Cores of the server: the CPU axis ends at 100 for each")))]
#[command(group = ArgGroup::new("which").args(["run", "test"]).required(true))]
#[command(after_help = "Examples:\n  \
    perfpipe report --test 2048\n  \
    perfpipe report go_2048 spring_2048\n  \
    perfpipe report --test 2048 --chart time,sweep\n  \
    perfpipe report --test 2048 --phase hold --order-by p99\n  \
    perfpipe report --test 2048 --framework go --framework spring --out charts --format pdf --paper letter")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Folder for the pages
    #[arg(long, value_name = "DIR", default_value = "perfpipe-report")]
    pub(crate) out: PathBuf,
    /// Pages to draw [default: time]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) chart: Option<Vec<Chart>>,
    /// Format of the league table
    #[arg(long, value_name = "FORMAT", value_parser = choice(Format::ALL), default_value = "text")]
    pub(crate) table: Format,
    /// Column to sort the league by: throughput, p99, cpu_mean, within_200ms_percent; columns where more is better
    /// descending, others ascending [default: best first]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order_by: Option<String>,
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", help_heading = "Pages")]
    pub(crate) format: Option<Vec<PageFormat>>,
    #[command(flatten)]
    pub(crate) sheet: SheetArgs,
    #[command(flatten)]
    pub(crate) look: ChartArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Chart {
    /// Each run over time, and an overview of all runs
    Time,
    /// Each run by load, with the knee
    Sweep,
}

impl ReportArgs {
    /// Returns all flags on the pages.
    pub(crate) fn pages(&self) -> PageOptions<'_> {
        PageOptions {
            flag: "--format",
            format: self.format.as_deref(),
            sheet: &self.sheet,
            charts: Some(&self.look),
        }
    }

    /// Returns the kinds of pages to draw.
    pub(crate) fn charts(&self) -> &[Chart] {
        self.chart.as_deref().unwrap_or(&[Chart::Time])
    }
}

/// Draws the pages of a test and prints its league table.
pub(crate) async fn run(args: &ReportArgs, store: &StoreArgs) -> Result<()> {
    check_flags(args)?;
    if let Some(column) = &args.order_by {
        League::check_column(column, &args.goals.goals()).map_err(|error| {
            CliError::usage(format!("--order-by {column}: {error}"), error.remedy().unwrap_or_default())
        })?;
    }
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let stored = left_out.runs(&store).await?;
    let keys = runs::several(&stored, &args.runs.run, &args.runs.of)?;
    let test = runs::only_test(&keys)?;
    page_folder(&args.out)?;
    let mut looked_at = LookedAt::default();
    let mut lacking = Vec::new();
    for key in &keys {
        let read = view::read(&store, key, &args.view).await;
        let Some(run) = left_out.or_leave_out(key, read)? else { continue };
        if let Err(error) = looked_at.add(&run, args) {
            lacking.push((key, lacking_phase(error)?));
        }
    }
    let LookedAt { timelines, details, sweeps } = looked_at;
    if timelines.is_empty() {
        // No run has the phase, so the request can't be satisfied.
        return lacking.into_iter().next().map_or_else(|| left_out.end(), |(_, error)| Err(error));
    }
    for (key, error) in &lacking {
        left_out::name(key, error.as_ref());
    }
    let mut league = League::new(&timelines)?;
    if let Some(column) = &args.order_by {
        league.order_by(column)?;
    }
    let mut pages = Pages::new(&args.out, args.pages(), &stored);
    draw(args, test, &timelines, &sweeps, &mut pages)?;
    if args.pages().wants_html() {
        let style = args.pages().style();
        let html = perfpipe_plot::html(test, timelines.iter().zip(&details), &league, &style)?;
        pages.html(&html, Subject::Report(test), &choices_of_test(args))?;
    }
    let mut output = Output::open(None)?;
    write_league(&league, args.table, &mut output)?;
    output.finish()?;
    pages.print_notes();
    left_out.end()
}

/// Refuses flags of a report that have no effect.
///
/// # Errors
/// If there is such a flag.
fn check_flags(args: &ReportArgs) -> Result<()> {
    let pages = args.pages();
    idle_flags::check_formats(&pages)?;
    if args.chart.is_some() && !pages.wants_pages() {
        let problem = "--chart has no effect, since an html report has all charts";
        let remedy = "Leave it out, or draw pages with --format svg, pdf or png.";
        return Err(CliError::usage(problem, remedy).into());
    }
    let is_coloured = args.charts().contains(&Chart::Time) || pages.wants_html();
    match pages.given().find(|flag| ["--color-by", "--palette"].contains(flag)) {
        Some(idle) if !is_coloured => {
            let problem = format!("{idle} has no effect, since no pages over time are drawn");
            Err(CliError::usage(problem, "Leave it out, or draw them with --chart time,sweep.").into())
        }
        _ => Ok(()),
    }
}

/// The data computed from a test's runs.
#[derive(Default)]
struct LookedAt {
    timelines: Vec<Timeline>,
    /// The details of each run, for the single-file report.
    details: Vec<Details>,
    /// The sweep of each run, if sweeps are drawn.
    sweeps: Vec<Sweep>,
}

impl LookedAt {
    /// Adds a run; adds nothing of it after an error.
    fn add(&mut self, run: &StoredRun, args: &ReportArgs) -> Result<()> {
        let view = || view::of(&args.view, &run.info);
        // The seconds take the most memory, and come last: by then, temporary data of the others are freed.
        let details = args.pages().wants_html().then(|| Details::new(run, &view())).transpose()?;
        let drawn = args.charts().contains(&Chart::Sweep);
        let sweep = drawn.then(|| Sweep::new(run, &view())).transpose()?;
        let look = view().with_goals(args.goals.goals());
        self.timelines.push(Timeline::new(run, &look)?);
        self.details.extend(details);
        self.sweeps.extend(sweep);
        Ok(())
    }
}

/// Returns an error as a value if it says that a run does not have the requested phase, so that other runs are still
/// shown. Fails with any other error.
fn lacking_phase(error: anyhow::Error) -> Result<anyhow::Error> {
    let lacks = matches!(error.downcast_ref(), Some(perfpipe_analyze::Error::NoPhase { .. }));
    if lacks { Ok(error) } else { Err(error) }
}

/// Returns the choices of a report as parts of a file name.
fn choices_of_test(args: &ReportArgs) -> Vec<String> {
    let goals = args.goals.goals().into_iter().map(Goal::column).collect();
    [chosen_runs(&args.runs), choices(&args.view), goals].concat()
}

/// Draws the pages of each run, and the overview of all of them.
fn draw(
    args: &ReportArgs,
    test: &str,
    timelines: &[Timeline],
    sweeps: &[Sweep],
    pages: &mut Pages<'_>,
) -> Result<()> {
    let (style, choices) = (args.pages().style(), choices(&args.view));
    if args.charts().contains(&Chart::Time) {
        for timeline in timelines {
            pages.page(&Page::run(timeline, &style), Subject::Run(&timeline.info.key), &choices)?;
        }
        let page = Page::test(test, timelines, &style);
        pages.page(&page, Subject::Test(test), &choices_of_test(args))?;
    }
    for sweep in sweeps {
        pages.page(&Page::sweep(sweep, &style), Subject::Sweep(&sweep.info.key), &choices)?;
    }
    Ok(())
}

/// Writes the league table, followed by its notes in text formats.
fn write_league(league: &League, format: Format, output: &mut Output) -> Result<()> {
    league.table().write(format, &mut *output)?;
    for note in league.notes().iter().filter(|_| format.is_for_people()) {
        writeln!(output, "\n{}", format.prose(note))?;
    }
    if format.is_for_people() && league.standings.iter().any(|standing| standing.cpu_scale_in_doubt) {
        let told = "State the scale with --cpu-scale, of `perfpipe ingest` or of `perfpipe attach-cpu`.";
        writeln!(output, "\n{}", format.prose(told))?;
    }
    Ok(())
}

/// Draws the page of a run that was just stored, and its single-file report.
pub(crate) fn run_report(run: &StoredRun, pages: &mut Pages<'_>, options: PageOptions<'_>) -> Result<()> {
    let (view, key) = (View::of(&run.info), &run.info.key);
    let (timeline, drawn) = (Timeline::new(run, &view)?, options.style());
    pages.page(&Page::run(&timeline, &drawn), Subject::Run(key), &[])?;
    if options.wants_html() {
        let (details, league) = (Details::new(run, &view)?, League::new([&timeline])?);
        let html = perfpipe_plot::html(&league.test, [(&timeline, &details)], &league, &drawn)?;
        pages.html(&html, Subject::RunReport(key), &[])?;
    }
    Ok(())
}
