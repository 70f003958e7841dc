//! `perfpipe trend`: figures over versions, and where they change their level.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::{Direction, LevelChange, Measure, Measured, Trend, Trends, Version, trend_table};
use perfpipe_ingest::Store;
use perfpipe_plot::{Figures, Page};

use super::compare::figure_name;
use crate::args::{
    FailOn, LinePagesArgs, PageOptions, ReportFormat, StoreArgs, TestArgs, VerdictFormat, VerdictOutputArgs,
    ViewArgs, choice,
};
use crate::error::{ChangedForTheWorse, CliError};
use crate::input::left_out::LeftOut;
use crate::input::runs::Selection;
use crate::input::versions::{By, VersionRuns, by_framework};
use crate::input::{idle_flags, store, view};
use crate::output::comment::{Comment, CommentColumn, Line, Shift, number_cell};
use crate::output::pages::{Pages, Subject, choices, chosen_text, looks};
use crate::output::terminal::write_table;
use crate::output::{Output, fonts, note, page_folder};

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("Draw a page of each framework into this folder")))]
#[command(mut_arg("test", |test| test.required(true)))]
#[command(after_help = "Examples:\n  \
    perfpipe trend --test 2048 --by tag:commit\n  \
    perfpipe trend --test 2048 --framework go --by tag:version --tag branch=main --out charts\n  \
    perfpipe trend --test 2048 --by tag:commit --format html -o trend.html\n  \
    perfpipe trend --test 2048 --by tag:commit --min-change 2%\n  \
    perfpipe trend --test 2048 --by tag:commit --tag branch=main --fail-on worse --newest 3\n  \
    perfpipe trend --test 2048 --by tag:commit --format pr -o comment.md\n  \
    perfpipe trend --test 2048 --by day --phase hold --format csv -o trend.csv\n\n\
    Runs get their tags at ingest: perfpipe ingest run.zip --append-repeat --tag commit=3f2a9c1. Runs with the same value \
    are the repeats of one version. Versions are in the order in which they were first tested.")]
pub(crate) struct TrendArgs {
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// What makes runs one version: tag:KEY; or day, run
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: By,
    /// The least change of a figure's level to be marked, as 2%
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "0%")]
    pub(crate) min_change: f64,
    /// Exit with code 4 if a change for the worse begins in one of the newest versions: --fail-on worse
    #[arg(long, value_name = "WHAT", value_parser = choice(FailOn::ALL))]
    pub(crate) fail_on: Option<FailOn>,
    /// The number of the newest versions that --fail-on looks at, as 3 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "fail_on")]
    pub(crate) newest: Option<u32>,
    #[command(flatten)]
    pub(crate) output: VerdictOutputArgs,
    #[command(flatten)]
    pub(crate) drawn: LinePagesArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl TrendArgs {
    /// Returns all flags on the pages.
    pub(crate) fn pages(&self) -> PageOptions<'_> {
        self.drawn.options()
    }
}

/// The format of one file with pages.
const HTML: VerdictFormat = VerdictFormat::Report(ReportFormat::Html);

/// Prints the figures of a test over its versions, and draws them.
pub(crate) async fn run(args: &TrendArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_line_pages(&args.drawn, args.output.format() == HTML)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let chosen = Selection::readable(&store, &[], &args.of, &mut left_out).await?;
    let frameworks = versions(&chosen, args)?;
    args.drawn.out.as_deref().map(page_folder).transpose()?;
    let mut trends = Vec::with_capacity(frameworks.len());
    for (framework, versions) in frameworks {
        let mut measured = Vec::with_capacity(versions.len());
        for version in versions {
            measured.extend(measure(version, &store, args, &mut left_out).await?);
        }
        trends.push(Trends::new(framework, measured, args.min_change));
    }
    let keys = store.keys().await?;
    let mut pages = args.drawn.out.as_ref().map(|out| Pages::new(out, args.pages(), &keys));
    if let Some(pages) = &mut pages {
        draw(&trends, args, pages)?;
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    let table = trend_table(&trends);
    match args.output.format() {
        VerdictFormat::Report(ReportFormat::Table(format)) => write_table(&table, format, &mut output)?,
        VerdictFormat::Comment => output.write_all(comment(&trends, args).text().as_bytes())?,
        HTML => {
            let test = args.of.test.as_deref().unwrap_or_default();
            let style = args.pages().style();
            let mut report = Figures::new(format!("{test} over versions"), &table);
            report.pages.extend(trends.iter().map(|trends| Page::trend(test, trends, &style)));
            output.write_all(report.html().as_bytes())?;
        }
    }
    output.finish()?;
    trends.iter().flat_map(drifts).for_each(|drift| note(&drift));
    if let Some(text) = without_change(&trends) {
        note(&text);
    }
    pages.into_iter().for_each(Pages::print_notes);
    if args.fail_on == Some(FailOn::Worse) {
        fail_on_worse(&trends, args.newest.unwrap_or(NEWEST))?;
    }
    left_out.end()
}

/// Says why no version is marked, if none is.
fn without_change(trends: &[Trends]) -> Option<String> {
    let is_level = |figure: &Trend| figure.changes.is_empty() && figure.drifts.is_empty();
    if !trends.iter().all(|trends| trends.figures.iter().all(is_level)) {
        return None;
    }
    let most = trends.iter().map(|trends| trends.versions.len()).max().unwrap_or_default();
    Some(match Trends::LEAST_VERSIONS {
        least if most < least => {
            format!("of fewer than {least} versions none can be marked: perfpipe compare takes two of them")
        }
        _ => "no figure changes its level by more than chance".to_owned(),
    })
}

/// The columns of a comment.
const COLUMNS: &[CommentColumn] = &[
    CommentColumn::Text("outcome"),
    CommentColumn::Text("figure"),
    CommentColumn::Text("since"),
    CommentColumn::Text("framework"),
    CommentColumn::Number("before"),
    CommentColumn::Number("now"),
    CommentColumn::Number("change"),
];

/// A change of a figure's level, where it stands.
struct MarkedChange<'a> {
    trends: &'a Trends,
    figure: &'a Trend,
    change: &'a LevelChange,
    /// True if it begins in one of the newest versions.
    is_new: bool,
}

impl MarkedChange<'_> {
    fn is_worse(&self) -> bool {
        self.change.outcome == Direction::Worse
    }

    fn since(&self) -> &str {
        self.trends.versions.get(self.change.version).map_or("", |version| version.name.as_str())
    }

    fn shift(&self) -> Shift {
        match self.figure.measure {
            Measure::FailuresPercent => Shift::points(Some(self.change.after - self.change.before), None),
            _ => Shift::percent(self.change.percent(), None),
        }
    }

    fn row(&self) -> Vec<Line> {
        let level = |value| number_cell(Some(value), 2, self.figure.measure.unit());
        vec![
            Line::text(self.change.outcome.name()),
            Line::text(&figure_name(&self.figure.measure)),
            Line::code(self.since()),
            if self.trends.name.is_empty() { Line::default() } else { Line::code(&self.trends.name) },
            level(self.change.before),
            level(self.change.after),
            self.shift().cell(),
        ]
    }
}

/// Makes a comment on a pull request: changes of the newest versions come first, and of these the worse ones.
fn comment(all: &[Trends], args: &TrendArgs) -> Comment {
    let newest = args.newest.unwrap_or(NEWEST) as usize;
    let mut marked = Vec::new();
    for trends in all {
        for figure in &trends.figures {
            marked.extend(figure.changes.iter().map(|change| {
                let is_new = change.version >= trends.versions.len().saturating_sub(newest);
                MarkedChange { trends, figure, change, is_new }
            }));
        }
    }
    marked.sort_by_key(|one| {
        (!(one.is_new && one.is_worse()), std::cmp::Reverse(one.change.version), !one.is_worse())
    });
    let verdict = match (marked.first(), without_change(all)) {
        (Some(first), _) if first.is_new && first.is_worse() => {
            let figure = Line::text(&figure_name(&first.figure.measure));
            let line = first.shift().sentence("", &figure, "worse").and(" since ").and_code(first.since());
            line.and(&format!(", over {} versions", first.trends.versions.len()))
        }
        (None, Some(why)) => Line::text("No version is marked").bold().and(&format!(": {why}")),
        (first, _) => {
            let line = Line::text(&format!("No figure got worse in the newest {newest} versions")).bold();
            match first {
                Some(_) => line.and("; the changes below are older"),
                None => line,
            }
        }
    };
    let about = args.of.test.iter().chain(&args.of.framework);
    Comment::new("trend", about.map(String::as_str), verdict)
        .table(COLUMNS, marked.iter().map(MarkedChange::row).collect())
        .notes(all.iter().flat_map(drifts))
}

/// The number of the newest versions in which a change for the worse fails.
const NEWEST: u32 = 5;

/// Fails if a change for the worse begins in one of the newest versions of a framework.
fn fail_on_worse(all: &[Trends], newest: u32) -> Result<()> {
    let mut worse = Vec::new();
    for trends in all {
        let first = trends.versions.len().saturating_sub(newest as usize);
        for figure in &trends.figures {
            let begins =
                |change: &&LevelChange| change.version >= first && change.outcome == Direction::Worse;
            worse.extend(figure.changes.iter().filter(begins).map(|change| {
                let since = trends.versions.get(change.version).map_or("", |version| version.name.as_str());
                let name = if all.len() > 1 { format!("{}: ", trends.name) } else { String::new() };
                let percent = change.percent().map(|percent| format!(" {percent:+.1} %")).unwrap_or_default();
                format!("{name}{}{percent} since {since}", figure.measure.column())
            }));
        }
    }
    match worse.as_slice() {
        [] => Ok(()),
        worse => {
            let text = format!("worse in the newest {newest} versions: {}", worse.join(", "));
            Err(ChangedForTheWorse(text).into())
        }
    }
}

/// Parses a percentage, with or without its sign, as a share.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    let percent = number.filter(|percent: &f64| (0.0..=1000.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| "a percentage such as 2% is expected".to_owned())
}

/// Names the figures that change without a version that did it.
fn drifts(trends: &Trends) -> Vec<String> {
    let name = if trends.name.is_empty() { String::new() } else { format!("{}: ", trends.name) };
    let drifts = trends.drifts().into_iter();
    drifts.map(|drift| format!("{name}{drift}: no single version stands out")).collect()
}

/// Returns the versions of each framework, and names the runs that have none.
///
/// # Errors
/// If no run has one.
fn versions(chosen: &Selection, args: &TrendArgs) -> Result<Vec<(String, Vec<VersionRuns>)>> {
    let runs = chosen.stored.iter().filter(|run| chosen.keys.contains(&run.key)).cloned().collect();
    let (frameworks, without) = by_framework(runs, &args.by, &chosen.names);
    if let (By::Tag(key), false) = (&args.by, without.is_empty()) {
        let test = args.of.test.as_deref().unwrap_or_default();
        if frameworks.is_empty() {
            let problem = format!("no run of the test {test} has the tag {key}");
            let remedy =
                format!("Give it at ingest, as in --tag {key}=VALUE, or group the runs by day or by run.");
            return Err(CliError::refused(problem, remedy).into());
        }
        let names: Vec<String> = without.iter().map(|key| chosen.names.name(key)).collect();
        note(&format!("without the tag {key}, left out: {}", names.join(", ")));
    }
    Ok(frameworks)
}

/// Measures the runs of a version; `None` if all are damaged.
async fn measure(
    version: VersionRuns,
    store: &Store,
    args: &TrendArgs,
    left_out: &mut LeftOut,
) -> Result<Option<Version>> {
    let mut measured = Vec::with_capacity(version.runs.len());
    for key in &version.runs {
        let read = view::read(store, key, &args.view).await;
        if let Some(mut run) = left_out.or_leave_out(key, read)? {
            // Those of many days are a third of the run, and no figure is about single failures.
            run.errors = Vec::new();
            measured.push(Measured::new(&run, &view::of(&args.view, &run.info))?);
        }
    }
    let VersionRuns { name, start_ms, .. } = version;
    Ok((!measured.is_empty()).then(|| Version::new(name, start_ms, measured)))
}

/// Draws a page of each framework.
fn draw(trends: &[Trends], args: &TrendArgs, pages: &mut Pages<'_>) -> Result<()> {
    let test = args.of.test.as_deref().unwrap_or_default();
    let tags = args.of.tag.iter().map(|tag| chosen_text("tag", &tag.to_string()));
    let choices = [tags.collect(), choices(&args.view), looks(&args.pages())].concat();
    for trends in trends {
        let versions = trends.versions.iter().map(|version| version.name.as_str());
        let texts = [test, &trends.name].into_iter().chain(versions).chain(args.view.scope.label.as_deref());
        let page = Page::trend(test, trends, &fonts::styled(&args.pages(), texts));
        pages.page(&page, Subject::Trend(&trends.name, test), &choices)?;
    }
    Ok(())
}
