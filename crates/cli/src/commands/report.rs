//! `perfpipe report`: draws the pages of a test's runs, and prints its league table.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{
    Finding, Goal, League, Measured, Rule, RunFigures, Sweep, Timeline, Trends, Verdict, View, check,
    diagnose,
};
use perfpipe_ingest::source::TimeZone;
use perfpipe_ingest::{RunInfo, RunKey, Store, StoredRun};
use perfpipe_plot::{HtmlReport, Page, ReportRun, Style, Times};

use crate::allocator;
use crate::args::{
    ChartArgs, FigureArgs, FigureChoice, GoalArgs, PageFormat, PageOptions, RunsArgs, SheetArgs, StoreArgs,
    ViewArgs, choice,
};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{RunNames, Selection};
use crate::input::versions::{By, trends_of};
use crate::input::{idle_flags, left_out, store, view};
use crate::output::figures::{FigureNames, Figures};
use crate::output::pages::{Pages, Subject, choices, chosen_runs, looks, looks_over_time};
use crate::output::terminal::write_table;
use crate::output::{Output, fonts, note, page_folder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe report\n  \
    perfpipe report --test 2048\n  \
    perfpipe report go_2048 spring_2048\n  \
    perfpipe report --test 2048 --format html -o report.html\n  \
    perfpipe report --test 2048 --chart time,sweep\n  \
    perfpipe report --test 2048 --figure response,overview --size 84mm --format pdf\n  \
    perfpipe report --test 2048 --phase hold --order-by p99\n  \
    perfpipe report --test 2048 --framework go --framework spring --out charts --format pdf --paper letter")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Folder for the pages [default: perfpipe-report]
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with = "output")]
    pub(crate) out: Option<PathBuf>,
    /// Write the html report, the PDF pages of --one-file, or a single --figure to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Pages to draw [default: time]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) chart: Option<Vec<Chart>>,
    /// Format of the league table
    #[arg(long, value_name = "FORMAT", help_heading = "Output", value_parser = choice(Format::ALL), default_value = "text")]
    pub(crate) table: Format,
    /// Column to sort the league by: throughput, p99, cpu_mean, within_200ms_percent; columns where more is better
    /// descending, others ascending [default: best first]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order_by: Option<String>,
    /// Formats of the pages [default: svg,pdf]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", help_heading = "Pages")]
    pub(crate) format: Option<Vec<PageFormat>>,
    /// TOML file of rules, as for `perfpipe check`: an html report shows which passed
    #[arg(long, value_name = "FILE", help_heading = "Pages")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) figures: FigureArgs,
    #[command(flatten)]
    pub(crate) sheet: SheetArgs,
    #[command(flatten)]
    pub(crate) look: ChartArgs,
    /// Write the PDF pages as one document, with bookmarks
    #[arg(long, help_heading = "Pages")]
    pub(crate) one_file: bool,
    /// Time zone of --axis clock: Europe/Warsaw, +01:00 [default: UTC]
    #[arg(long, value_name = "ZONE", help_heading = "Pages")]
    pub(crate) time_zone: Option<String>,
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
            format: self.format.as_deref().or(self.of_file()),
            sheet: &self.sheet,
            charts: Some(&self.look),
            one_file: self.one_file,
            time_zone: self.time_zone.as_deref(),
            figures: Some(&self.figures),
        }
    }

    /// Returns the format of a file that is named without one.
    fn of_file(&self) -> Option<&'static [PageFormat]> {
        let file = self.output.as_deref()?;
        if !self.figures.figure.is_empty() {
            return FigureArgs::format_of(file);
        }
        Some(if self.one_file { &[PageFormat::Pdf] } else { &[PageFormat::Html] })
    }

    /// Returns the kinds of pages to draw.
    pub(crate) fn charts(&self) -> &[Chart] {
        self.chart.as_deref().unwrap_or(&[Chart::Time])
    }
}

/// Draws the pages of a test and prints its league table; of all tests, one after the other, if none is chosen.
pub(crate) async fn run(args: &ReportArgs, store: &StoreArgs) -> Result<()> {
    check_flags(args)?;
    check_file(args)?;
    if let Some(column) = &args.order_by {
        League::check_column(column, &args.goals.goals()).map_err(|error| {
            CliError::usage(format!("--order-by {column}: {error}"), error.remedy().unwrap_or_default())
        })?;
    }
    let rules = rules_of(args)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let chosen = Selection::readable(&store, &args.runs.run, &args.runs.of, &mut left_out).await?;
    let mut tests: BTreeMap<&str, Vec<&RunKey>> = BTreeMap::new();
    chosen.keys.iter().for_each(|key| tests.entry(&key.test).or_default().push(key));
    check_tests(args, &tests)?;
    check_figures(args, chosen.keys.len())?;
    chosen.say_repeats(&args.runs.run);
    note_versions(chosen.stored.iter().filter(|run| chosen.keys.contains(&run.key)));
    let out = args.out.as_deref().unwrap_or(Path::new("perfpipe-report"));
    let open = |file| Ok::<_, anyhow::Error>((file, Output::open(Some(file))?));
    let file = args.output.as_deref().map(open).transpose()?;
    if file.is_none() {
        page_folder(out)?;
    }
    let mut pages = Pages::new(out, args.pages(), &store.keys().await?).into_file(file);
    let (mut output, mut lacking) = (Output::open(None)?, Vec::new());
    let size = args.figures.size();
    let mut figures =
        size.as_ref().map(|size| Figures::new(args.figures.chosen(), size, choices_of_figures(args)));
    let mut is_first = true;
    for (test, keys) in &tests {
        let mut looked_at = LookedAt::new(args);
        for key in keys {
            let read = read(&store, key, &rules, args).await;
            let Some(run) = left_out.or_leave_out(key, read)? else { continue };
            if let Err(error) = looked_at.add(run, &rules, args) {
                lacking.push((*key, lacking_phase(error)?));
            }
        }
        if looked_at.timelines.is_empty() {
            continue;
        }
        if tests.len() > 1 {
            let gap = if is_first { "" } else { "\n" };
            writeln!(output, "{gap}{}\n", args.table.prose(test))?;
        }
        is_first = false;
        if let Some(figures) = &mut figures {
            let LookedAt { timelines, sweeps, .. } = &looked_at;
            figures.draw(test, (timelines, sweeps), &style(args, timelines), &mut pages)?;
        }
        report_test(args, test, keys, looked_at, &mut pages, &mut output)?;
        allocator::give_back();
    }
    output.finish()?;
    if is_first && !lacking.is_empty() {
        // No run has the phase, so the request can't be satisfied.
        let (_, error) = lacking.swap_remove(0);
        return Err(error);
    }
    for (key, error) in &lacking {
        left_out::name(key, error.as_ref());
    }
    pages.print_notes();
    figures.map_or(Ok(()), Figures::end)?;
    left_out.end()
}

/// Refuses what can't be done for several tests at once.
fn check_tests(args: &ReportArgs, tests: &BTreeMap<&str, Vec<&RunKey>>) -> Result<()> {
    if tests.len() < 2 {
        return Ok(());
    }
    let several = tests.keys().copied().collect::<Vec<_>>().join(", ");
    let refuse = |problem: String, remedy: &str| Err(CliError::usage(problem, remedy).into());
    if args.output.is_some() {
        let problem = format!("-o names one file, and there are runs of {} tests: {several}", tests.len());
        return refuse(problem, "Choose one by --test, or leave -o out: --out DIR takes the files of all.");
    }
    if !args.table.is_for_people() {
        let problem = format!(
            "--table {} is one table, and there are runs of {} tests: {several}",
            args.table.name(),
            tests.len()
        );
        return refuse(problem, "Choose one by --test.");
    }
    Ok(())
}

/// Draws the pages of a test, and prints its league table.
fn report_test(
    args: &ReportArgs,
    test: &str,
    keys: &[&RunKey],
    looked_at: LookedAt,
    pages: &mut Pages<'_>,
    output: &mut Output,
) -> Result<()> {
    let LookedAt { timelines, html, sweeps } = looked_at;
    let mut league = League::new(&timelines)?;
    if let Some(column) = &args.order_by {
        league.order_by(column)?;
    }
    if args.pages().wants_pages() && !args.pages().wants_figures() {
        draw(args, test, &timelines, &sweeps, pages)?;
    }
    let document = |pages| Page::document(&league, &timelines, pages, &style(args, &timelines));
    pages.bind(Subject::Report(test), &choices_of_document(args), document)?;
    if let Some(html) = html {
        let names = RunNames::of(keys.iter().copied());
        let texts = html.texts(&league, &timelines, &names)?;
        let choices = [choices_of_test(args), looks_over_time(&args.pages())].concat();
        pages.html(&texts, Subject::Report(test), &choices)?;
    }
    write_league(&league, args.table, output)
}

/// Prints that other versions of perfpipe stored some runs, since a figure may have been defined otherwise then.
fn note_versions<'a>(runs: impl Iterator<Item = &'a RunInfo>) {
    let others: Vec<&str> = runs
        .map(|run| run.tool_version.as_str())
        .filter(|version| *version != env!("CARGO_PKG_VERSION"))
        .collect();
    let versions: BTreeSet<&str> = others.iter().copied().collect();
    if !versions.is_empty() {
        let versions: Vec<&str> = versions.into_iter().collect();
        note(&format!(
            "{} stored by perfpipe {}: its figures then may have been defined otherwise; upgrade.md of the \
             documentation says which were",
            counted(others.len() as u64, "run"),
            versions.join(", ")
        ));
    }
}

/// Refuses a file of the report that can't be one document.
///
/// # Errors
/// If it can't be one.
fn check_file(args: &ReportArgs) -> Result<()> {
    let Some(file) = &args.output else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(CliError::usage(problem, remedy).into());
    if file.as_os_str() == "-" {
        let problem = "-o -: the league table is printed on standard output".to_owned();
        return refuse(problem, "Name a file, or leave it out.");
    }
    if !args.figures.figure.is_empty() {
        return match (FigureArgs::format_of(file), args.pages().formats()) {
            (Some([named]), [format]) if named == format => Ok(()),
            (None, [_]) if args.format.is_some() => Ok(()),
            _ => refuse(
                format!("-o {}: the name does not say in which one format the figure is", file.display()),
                "End it in .svg, .pdf or .png, and leave --format out.",
            ),
        };
    }
    let ending = match args.pages().formats() {
        [PageFormat::Html] => "html",
        [PageFormat::Pdf] if args.one_file => "pdf",
        _ => {
            let problem = "-o names one file, and the pages would be several".to_owned();
            let remedy =
                "Give --format html, or --format pdf --one-file; --out DIR writes all pages into a folder.";
            return refuse(problem, remedy);
        }
    };
    match file.extension().and_then(OsStr::to_str) {
        Some(other @ ("html" | "pdf" | "svg" | "png")) if other != ending => refuse(
            format!("-o names a file of {other}, and {ending} would be written"),
            "Give --format html, or --format pdf --one-file, as the file's name says.",
        ),
        Some(other @ ("csv" | "json" | "md" | "txt")) => refuse(
            format!("-o names a file of {other}, and {ending} would be written"),
            "Write the league's table into a file by `> FILE`, without -o.",
        ),
        _ => Ok(()),
    }
}

/// Refuses flags that single figures do not have, and flags on figures where none are drawn.
///
/// # Errors
/// If there is such a flag.
fn check_figure_flags(args: &ReportArgs) -> Result<()> {
    let refuse = |problem: String, remedy: &str| Err(CliError::usage(problem, remedy).into());
    if args.figures.figure.is_empty() {
        return match args.figures.size {
            Some(_) => {
                let remedy = "Leave it out, or draw single figures with --figure; pages have a --paper.";
                refuse("--size has no effect, since no single figures are drawn".to_owned(), remedy)
            }
            None => Ok(()),
        };
    }
    if args.pages().wants_html() {
        let remedy = "Give --format svg, pdf or png, or leave --figure out for the whole report.";
        return refuse("a single figure can't be written as html".to_owned(), remedy);
    }
    let of_pages = [
        ("--chart", args.chart.is_some()),
        ("--one-file", args.one_file),
        ("--paper", args.sheet.paper.is_some()),
    ];
    if let Some((flag, _)) = of_pages.iter().find(|(_, given)| *given) {
        let problem = format!("{flag} has no effect, since single figures are drawn instead of pages");
        return refuse(problem, "Leave it out, or leave --figure out.");
    }
    let is_of_run = |figure: &FigureChoice| matches!(figure, FigureChoice::Run(_));
    let of_runs = |flag: &&str| ["--color-by", "--palette", "--axis"].contains(flag);
    match args.pages().given().find(of_runs) {
        Some(flag) if !args.figures.figure.iter().any(is_of_run) => {
            let problem = format!("{flag} has no effect, since none of the figures is of a run over time");
            refuse(problem, "Leave it out, or draw one that is, such as --figure response.")
        }
        _ => Ok(()),
    }
}

/// Refuses one file for several figures.
///
/// # Errors
/// If there are several.
fn check_figures(args: &ReportArgs, runs: usize) -> Result<()> {
    let count = Figures::count(&args.figures.chosen(), runs);
    if args.output.is_some() && count > 1 {
        let problem = format!("-o names one file, and {count} figures would be written");
        let remedy = "Choose one run and one figure, or leave -o out: --out DIR takes all of them.";
        return Err(CliError::usage(problem, remedy).into());
    }
    Ok(())
}

/// Refuses flags of a report that have no effect.
///
/// # Errors
/// If there is such a flag.
fn check_flags(args: &ReportArgs) -> Result<()> {
    let pages = args.pages();
    check_figure_flags(args)?;
    idle_flags::check_formats(&pages)?;
    fonts::check(&pages)?;
    if args.chart.is_some() && !pages.wants_pages() {
        let problem = "--chart has no effect, since an html report has all charts";
        let remedy = "Leave it out, or draw pages with --format svg, pdf or png.";
        return Err(CliError::usage(problem, remedy).into());
    }
    if args.one_file && !pages.formats().contains(&PageFormat::Pdf) {
        let problem = "--one-file has no effect, since no PDF pages are drawn";
        return Err(CliError::usage(problem, "Leave it out, or draw them with --format pdf.").into());
    }
    if args.rules.is_some() && !pages.wants_html() {
        let problem = "--rules is about html reports, and none is written";
        let remedy = "Leave it out, or have one written by --format html; `perfpipe check` prints verdicts.";
        return Err(CliError::usage(problem, remedy).into());
    }
    args.time_zone.as_deref().map(str::parse::<TimeZone>).transpose()?;
    if args.time_zone.is_some() && args.look.axis != Some(Times::Clock) {
        let problem = "--time-zone has no effect, since no axis has the time of day";
        return Err(CliError::usage(problem, "Leave it out, or give --axis clock.").into());
    }
    if args.look.palette.is_some() && !pages.wants_pages() {
        let problem = "--palette has no effect, since an html report has colours of its own";
        let remedy = "Leave it out, or draw pages with --format svg, pdf or png.";
        return Err(CliError::usage(problem, remedy).into());
    }
    let is_over_time = args.charts().contains(&Chart::Time) || pages.wants_html();
    match pages.given().find(|flag| ["--color-by", "--palette", "--axis"].contains(flag)) {
        Some(idle) if !is_over_time => {
            let problem = format!("{idle} has no effect, since no pages over time are drawn");
            Err(CliError::usage(problem, "Leave it out, or draw them with --chart time,sweep.").into())
        }
        _ => Ok(()),
    }
}

/// Returns the rules of the file, if one is given.
///
/// # Errors
/// If it can't be read, or if a rule compares with a baseline or is about points, which a report does not have.
fn rules_of(args: &ReportArgs) -> Result<Vec<Rule>> {
    let rules = args.rules.as_deref().map(view::rules_of_file).transpose()?.unwrap_or_default();
    if let Some(rule) = rules.iter().find(|rule| rule.level().is_some()) {
        let problem = format!("{rule}: a report is about runs, and this rule about points");
        return Err(CliError::usage(problem, "Leave the rule to `perfpipe check`.").into());
    }
    match rules.iter().find(|rule| rule.needs_baseline()) {
        Some(rule) => {
            let problem = format!("{rule}: a report has no baseline to compare with");
            Err(CliError::usage(problem, "Leave the rule to `perfpipe check --baseline RUN`.").into())
        }
        None => Ok(rules),
    }
}

/// Reads a run, with cells for every label that a rule or a flag names.
async fn read(store: &Store, key: &RunKey, rules: &[Rule], args: &ReportArgs) -> Result<StoredRun> {
    let mut run = view::read(store, key, &args.view).await?;
    for label in rules.iter().filter_map(Rule::label) {
        view::count_separately(store, &mut run, label).await?;
    }
    Ok(run)
}

/// The data computed from a test's runs.
struct LookedAt {
    timelines: Vec<Timeline>,
    /// The single-file report, if it is written.
    html: Option<HtmlRuns>,
    /// The sweep of each run, if sweeps are drawn.
    sweeps: Vec<Sweep>,
}

impl LookedAt {
    fn new(args: &ReportArgs) -> Self {
        let html = args.pages().wants_html().then(|| HtmlRuns::new(args.pages()));
        Self { timelines: Vec::new(), html, sweeps: Vec::new() }
    }

    /// Adds a run; adds nothing of it after an error.
    fn add(&mut self, run: StoredRun, rules: &[Rule], args: &ReportArgs) -> Result<()> {
        let view = view::of(&args.view, &run.info).with_goals(args.goals.goals());
        let cores = args.look.cores.cores.or(run.info.options.cores);
        let drawn = args.charts().contains(&Chart::Sweep) || args.figures.is_by_load();
        let sweep = drawn.then(|| Sweep::new(&run, &view)).transpose()?;
        let timeline = match &mut self.html {
            Some(html) => html.add(run, &view, rules, cores)?,
            None => timeline(run, &view)?,
        };
        self.timelines.push(timeline);
        self.sweeps.extend(sweep);
        Ok(())
    }
}

/// The single-file report, and the figures of its runs.
struct HtmlRuns {
    report: HtmlReport,
    measured: Vec<Measured>,
    /// True if the seconds of the runs are needed after it, too.
    draws_pages: bool,
}

impl HtmlRuns {
    fn new(pages: PageOptions<'_>) -> Self {
        let report = HtmlReport::new(&pages.style());
        Self { report, measured: Vec::new(), draws_pages: pages.wants_pages() }
    }

    /// Adds a run, and returns its timeline, without seconds if no pages are drawn.
    fn add(&mut self, run: StoredRun, view: &View, rules: &[Rule], cores: Option<u32>) -> Result<Timeline> {
        let run = ShownRun::new(run, view, rules, cores)?;
        self.report.add(&run.shown(), &run.figures)?;
        let ShownRun { timeline, details, figures, .. } = run;
        drop(details);
        let known = RunFigures::parse(&figures)?;
        self.measured.push(known.measured);
        let kept = if self.draws_pages { timeline } else { known.timeline };
        allocator::give_back();
        Ok(kept)
    }

    /// Returns the texts of the file.
    fn texts(self, league: &League, timelines: &[Timeline], names: &RunNames) -> Result<Vec<String>> {
        let infos: Vec<RunInfo> = timelines.iter().map(|timeline| timeline.info.clone()).collect();
        let by = By::usual(&infos);
        let trends: Vec<Trends> = trends_of(infos, self.measured, &by, names);
        Ok(self.report.texts(league, timelines, &trends, &by.to_string())?)
    }
}

/// A run as the app shows it, and its figures for comparisons.
pub(super) struct ShownRun {
    timeline: Timeline,
    details: Details,
    findings: Vec<Finding>,
    verdicts: Vec<Verdict>,
    /// As [`RunFigures::bytes`] writes them.
    pub(super) figures: Vec<u8>,
}

impl ShownRun {
    /// Computes what is shown of a run. What takes much memory comes one after the other, and what it leaves in pieces is given
    /// back before the next takes as much. The seconds of the run take the most, and so come last: by then nobody needs its
    /// failures.
    pub(super) fn new(mut run: StoredRun, view: &View, rules: &[Rule], cores: Option<u32>) -> Result<Self> {
        let verdicts: Vec<Verdict> = rules.iter().flat_map(|rule| verdicts(rule, &run, view)).collect();
        let findings = diagnose(&run, view, cores)?;
        allocator::give_back();
        let details = Details::new(&run, view)?;
        run.errors = Vec::new();
        allocator::give_back();
        let measured = Measured::new(&run, view)?;
        let timeline = timeline(run, view)?;
        let figures = RunFigures::bytes(&timeline, &measured)?;
        Ok(Self { timeline, details, findings, verdicts, figures })
    }

    /// Returns what is shown.
    pub(super) fn shown(&self) -> ReportRun<'_> {
        let Self { timeline, details, findings, verdicts, .. } = self;
        ReportRun { timeline, details, findings, verdicts }
    }
}

/// Computes the seconds of a run. By then nobody needs its failures.
fn timeline(mut run: StoredRun, view: &View) -> Result<Timeline> {
    run.errors = Vec::new();
    allocator::give_back();
    Ok(Timeline::new(&run, view)?)
}

/// Checks a run against a rule. A rule that can't be checked, as one on a label that the run lacks, does not hold.
fn verdicts(rule: &Rule, run: &StoredRun, view: &View) -> Vec<Verdict> {
    let verdicts = check(std::slice::from_ref(rule), run, view, None);
    verdicts.unwrap_or_else(|error| vec![Verdict::unchecked(rule, &run.info.key, error.to_string())])
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

/// Returns the choices of the document of all pages as parts of a file name.
fn choices_of_document(args: &ReportArgs) -> Vec<String> {
    let charts = match [Chart::Time, Chart::Sweep].map(|chart| args.charts().contains(&chart)) {
        [true, false] => None,
        [false, _] => Some("sweep".to_owned()),
        [true, true] => Some("time-sweep".to_owned()),
    };
    let looks = looks_over_time(&args.pages());
    choices_of_test(args).into_iter().chain(charts).chain(looks).collect()
}

/// Returns the style of the pages of runs, with the fonts that their texts need.
fn style(args: &ReportArgs, timelines: &[Timeline]) -> Style {
    let texts = timelines.iter().flat_map(|timeline| fonts::texts(&timeline.info));
    fonts::styled(&args.pages(), texts.chain(args.view.scope.label.as_deref()))
}

/// Returns the choices of a report as parts of the file names of figures.
fn choices_of_figures(args: &ReportArgs) -> FigureNames {
    let (choices, pages) = (choices(&args.view), args.pages());
    FigureNames {
        of_runs: [choices.clone(), looks_over_time(&pages)].concat(),
        by_load: [choices.clone(), looks(&pages)].concat(),
        of_tests: [chosen_runs(&args.runs), choices, looks(&pages)].concat(),
    }
}

/// Draws the pages of each run, and the overview of all of them if they are of several frameworks.
fn draw(
    args: &ReportArgs,
    test: &str,
    timelines: &[Timeline],
    sweeps: &[Sweep],
    pages: &mut Pages<'_>,
) -> Result<()> {
    let choices = choices(&args.view);
    let style = style(args, timelines);
    if args.charts().contains(&Chart::Time) {
        let over_time = [choices.clone(), looks_over_time(&args.pages())].concat();
        for timeline in timelines {
            pages.page(&Page::run(timeline, &style), Subject::Run(&timeline.info.key), &over_time)?;
        }
        let frameworks: BTreeSet<&str> = timelines.iter().map(|run| &*run.info.key.framework).collect();
        if frameworks.len() > 1 {
            let page = Page::test(test, timelines, &style);
            let choices = [choices_of_test(args), looks(&args.pages())].concat();
            pages.page(&page, Subject::Test(test), &choices)?;
        }
    }
    let by_load = [choices, looks(&args.pages())].concat();
    for sweep in sweeps {
        pages.page(&Page::sweep(sweep, &style), Subject::Sweep(&sweep.info.key), &by_load)?;
    }
    Ok(())
}

/// Writes the league table, followed by its notes in text formats.
fn write_league(league: &League, format: Format, output: &mut Output) -> Result<()> {
    write_table(&league.table(), format, output)?;
    for note in league.notes().iter().filter(|_| format.is_for_people()) {
        writeln!(output, "\n{}", format.prose(note))?;
    }
    if let Some(note) = league.note_on_hold().filter(|_| format.is_for_people()) {
        writeln!(output, "\n{}", format.prose(&format!("{note} Rank by them with --phase hold.")))?;
    }
    let long = league.standings.iter().filter(|standing| standing.long_failures.is_some());
    let long: Vec<&str> = long.map(|standing| standing.framework.as_str()).collect();
    if format.is_for_people() && !long.is_empty() {
        let remedy = format!("Count the failures of {}, too, with --include-failures.", long.join(", "));
        writeln!(output, "\n{}", format.prose(&remedy))?;
    }
    if format.is_for_people() && league.standings.iter().any(|standing| standing.cpu_scale_in_doubt) {
        let remedy = "State the scale with --cpu-scale, of `perfpipe ingest` or of `perfpipe attach-cpu`.";
        writeln!(output, "\n{}", format.prose(remedy))?;
    }
    Ok(())
}

/// Draws the page of a run that was just stored, and its single-file report.
pub(crate) fn run_report(run: StoredRun, pages: &mut Pages<'_>, options: PageOptions<'_>) -> Result<()> {
    let (view, cores) = (View::of(&run.info), run.info.options.cores);
    let mut html = options.wants_html().then(|| HtmlRuns::new(options));
    let timeline = match &mut html {
        Some(html) => html.add(run, &view, &[], cores)?,
        None => timeline(run, &view)?,
    };
    let (key, drawn) = (&timeline.info.key, fonts::styled(&options, fonts::texts(&timeline.info)));
    if options.wants_pages() {
        pages.page(&Page::run(&timeline, &drawn), Subject::Run(key), &looks_over_time(&options))?;
    }
    if let Some(html) = html {
        let league = League::new([&timeline])?;
        let texts = html.texts(&league, std::slice::from_ref(&timeline), &RunNames::of([key]))?;
        pages.html(&texts, Subject::RunReport(key), &looks_over_time(&options))?;
    }
    Ok(())
}
