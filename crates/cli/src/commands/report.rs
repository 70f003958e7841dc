//! `perfpipe report`: pages of a test's runs, and its league table.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::{Details, Format, Goal, League, Sweep, Timeline, View};
use perfpipe_ingest::{Error, StoredRun};
use perfpipe_plot::{Page, Style};

use crate::args::{GoalArgs, PageFormat, StoreArgs, StyleArgs, TableFormat, TestArgs, ViewArgs};
use crate::error::tell;
use crate::input::left_out::LeftOut;
use crate::input::{idle_flags, runs, store, view};
use crate::output::pages::{Pages, Subject, choices, chosen_runs};
use crate::output::{Output, page_folder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe report --test 2048\n  \
    perfpipe report --test 2048 --chart time,sweep\n  \
    perfpipe report --test 2048 --phase hold --order-by p99\n  \
    perfpipe report --test 2048 --framework go --framework spring --out charts --format pdf --paper letter")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) runs: TestArgs,
    /// Folder for the pages
    #[arg(long, value_name = "DIR", default_value = "perfpipe-report")]
    pub(crate) out: PathBuf,
    /// Which pages are drawn [default: time]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) chart: Option<Vec<ChartArg>>,
    /// How the league table is printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) table: TableFormat,
    /// Column that orders the league, such as throughput, p99, cpu_mean or a goal's, within_200ms_percent: what is better
    /// the more there is of it descending, all else ascending [default: best first]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order_by: Option<String>,
    #[command(flatten)]
    pub(crate) style: StyleArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChartArg {
    /// Each run over time, and all of them over each other
    Time,
    /// Each run over its load, with the knee
    Sweep,
}

impl ReportArgs {
    /// The pages that are drawn.
    fn charts(&self) -> &[ChartArg] {
        self.chart.as_deref().unwrap_or(&[ChartArg::Time])
    }
}

/// Draws the pages of a test and prints its league table.
pub(crate) async fn run(args: &ReportArgs, store: &StoreArgs) -> Result<()> {
    check_flags(args)?;
    if let Some(column) = &args.order_by {
        League::check_column(column, &args.goals.goals()).map_err(|error| {
            Error::usage(format!("--order-by {column}: {error}"), error.remedy().unwrap_or_default())
        })?;
    }
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let stored = left_out.runs(&store).await?;
    let keys = runs::runs(&stored, &args.runs)?;
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
        // None of them has the phase: what is asked for is not there.
        return lacking.into_iter().next().map_or_else(|| left_out.end(), |(_, error)| Err(error));
    }
    for (key, error) in &lacking {
        tell(&format!("left out: {key}"), error.as_ref());
    }
    let mut league = League::new(&timelines)?;
    if let Some(column) = &args.order_by {
        league.order_by(column)?;
    }
    let mut pages = Pages::new(&args.out, &args.style, &stored);
    draw(args, &timelines, &sweeps, &mut pages)?;
    if args.style.wants_html() {
        let style = Style::from(&args.style);
        let html = perfpipe_plot::html(&args.runs.test, timelines.iter().zip(&details), &league, &style)?;
        pages.html(&html, Subject::Report(&args.runs.test), &choices_of_test(args))?;
    }
    let mut output = Output::open(None)?;
    write_league(&league, args.table.into(), &mut output)?;
    output.finish()?;
    pages.tell();
    left_out.end()
}

/// Refuses flags of a report that would act on nothing.
///
/// # Errors
/// When there is one.
fn check_flags(args: &ReportArgs) -> Result<()> {
    idle_flags::check_formats(&args.style)?;
    if args.chart.is_none() || args.style.formats().iter().any(|format| *format != PageFormat::Html) {
        return Ok(());
    }
    let problem = "--chart is about pages, and an html report has all charts";
    Err(Error::usage(problem, "Leave it out, or have pages drawn by --format svg, pdf or png.").into())
}

/// What is looked at of a test's runs.
#[derive(Default)]
struct LookedAt {
    timelines: Vec<Timeline>,
    /// For the report in one file.
    details: Vec<Details>,
    /// Where they are drawn.
    sweeps: Vec<Sweep>,
}

impl LookedAt {
    /// Adds a run; nothing of it where it can't be looked at so.
    fn add(&mut self, run: &StoredRun, args: &ReportArgs) -> Result<()> {
        let view = || view::of(&args.view, &run.info);
        // The seconds last, as they take the most: what is needed only to find the others is gone by then.
        let details = args.style.wants_html().then(|| Details::new(run, &view())).transpose()?;
        let drawn = args.charts().contains(&ChartArg::Sweep);
        let sweep = drawn.then(|| Sweep::new(run, &view())).transpose()?;
        let look = View { goals: args.goals.goals(), ..view() };
        self.timelines.push(Timeline::new(run, &look)?);
        self.details.extend(details);
        self.sweeps.extend(sweep);
        Ok(())
    }
}

/// An error that says that a run does not have the phase asked for: one without a hold hides no other. Any other error is
/// given back as one.
fn lacking_phase(error: anyhow::Error) -> Result<anyhow::Error> {
    let lacks = matches!(error.downcast_ref(), Some(perfpipe_analyze::Error::NoPhase { .. }));
    if lacks { Ok(error) } else { Err(error) }
}

/// What was chosen of a test.
fn choices_of_test(args: &ReportArgs) -> Vec<String> {
    let goals = args.goals.goals().into_iter().map(Goal::column).collect();
    [chosen_runs(&args.runs), choices(&args.view), goals].concat()
}

/// Draws the pages of each run, and the one of all of them.
fn draw(args: &ReportArgs, timelines: &[Timeline], sweeps: &[Sweep], pages: &mut Pages<'_>) -> Result<()> {
    let (style, choices) = (Style::from(&args.style), choices(&args.view));
    if args.charts().contains(&ChartArg::Time) {
        for timeline in timelines {
            pages.page(&Page::run(timeline, &style), Subject::Run(&timeline.info.key), &choices)?;
        }
        let page = Page::test(&args.runs.test, timelines, &style);
        pages.page(&page, Subject::Test(&args.runs.test), &choices_of_test(args))?;
    }
    for sweep in sweeps {
        pages.page(&Page::sweep(sweep, &style), Subject::Sweep(&sweep.info.key), &choices)?;
    }
    Ok(())
}

/// Writes the table, and for people what they should know of it beneath.
fn write_league(league: &League, format: Format, output: &mut Output) -> Result<()> {
    league.table().write(format, &mut *output)?;
    for note in league.notes().iter().filter(|_| format.is_for_people()) {
        writeln!(output, "\n{}", format.prose(note))?;
    }
    Ok(())
}

/// Draws the page of one run that was just stored, and its report.
pub(crate) fn run_report(run: &StoredRun, pages: &mut Pages<'_>, style: &StyleArgs) -> Result<()> {
    let (view, key) = (View::of(&run.info), &run.info.key);
    let (timeline, drawn) = (Timeline::new(run, &view)?, Style::from(style));
    pages.page(&Page::run(&timeline, &drawn), Subject::Run(key), &[])?;
    if style.wants_html() {
        let (details, league) = (Details::new(run, &view)?, League::new([&timeline])?);
        let html = perfpipe_plot::html(&league.test, [(&timeline, &details)], &league, &drawn)?;
        pages.html(&html, Subject::RunReport(key), &[])?;
    }
    Ok(())
}
