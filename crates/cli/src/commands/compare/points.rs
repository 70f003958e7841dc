//! Points of sweeps, compared with a baseline.

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::{PointChange, PointMeasure, PointSide, compare_points, point_change_table};
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Direction, Outcome};

use super::args::{CompareArgs, deciding};
use super::comment::{self, ComparedFigure};
use super::worse::WorseFigure;
use crate::args::{FailOn, ReportFormat, StoreArgs, VerdictFormat};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::points::PointName;
use crate::input::{points, store};
use crate::output::comment::Comment;
use crate::output::terminal::write_table;
use crate::output::{Output, note, warn};

/// Compares the points of the first name with those of the others.
pub(super) async fn run(
    args: &CompareArgs,
    test: &str,
    names: &[PointName],
    store: &StoreArgs,
) -> Result<()> {
    let format = format(args)?;
    let (Some((a, others)), true) = (names.split_first(), names.len() > 1) else {
        let problem = "expected points of two keys or more to compare";
        return Err(CliError::usage(problem, "Name another one: go@c64 spring@c64.").into());
    };
    let mut left_out = LeftOut::default();
    let all = points::with_runs(&store::existing(store).await?, test, &mut left_out).await?;
    let side = |name: &PointName| Ok(PointSide::new(name.to_string(), name.among(&all, test)?));
    if args.fail_on.is_some() && others.contains(a) {
        let problem = format!("{a} is compared with itself, so that --fail-on can't fail");
        return Err(CliError::usage(problem, "Name another point.").into());
    }
    let a = side(a)?;
    let others = others.iter().map(side).collect::<Result<Vec<PointSide>>>()?;
    let figures: Vec<(String, PointMeasure)> =
        PointMeasure::judged().map(|measure| (measure.name().to_owned(), measure)).collect();
    let changes = compare_points(&a, &others, &deciding(&args.decide, &figures)?);
    let mut output = Output::open(args.output.file.output.as_deref())?;
    match format {
        Some(format) => write_table(&point_change_table(&changes), format, &mut output)?,
        None => output.write_all(pull_request(args, &a, &others, &changes).text().as_bytes())?,
    }
    output.finish()?;
    std::iter::once(&a).chain(&others).for_each(warn_aborted);
    print_notes(&a, &others, &changes);
    let powers =
        changes.iter().filter(|row| !args.decide.is_empty() || row.measure == PointMeasure::Throughput);
    let powers = powers.filter_map(|row| Some(row.power?.note(&row.name, row.measure.name())));
    powers.for_each(|sentence| note(&sentence));
    if args.fail_on == Some(FailOn::Worse) {
        let is_worse =
            |row: &&PointChange| row.outcome.and_then(Outcome::direction) == Some(Direction::Worse);
        let worse: Vec<WorseFigure> = changes.iter().filter(is_worse).map(WorseFigure::of_points).collect();
        WorseFigure::fail(&a.name, &worse)?;
    }
    left_out.end()
}

/// Makes a comment on a pull request.
fn pull_request(args: &CompareArgs, a: &PointSide, others: &[PointSide], changes: &[PointChange]) -> Comment {
    let points = |change: &PointChange| {
        let b = others.iter().find(|b| b.name == change.name);
        (a.points.len(), b.map_or(1, |b| b.points.len()))
    };
    let figures = changes.iter().map(|change| ComparedFigure::of_points(change, points(change))).collect();
    comment::comment(args, &a.name, figures, [])
}

/// Returns the format of the table, `None` for a comment, and refuses flags that are about runs.
fn format(args: &CompareArgs) -> Result<Option<Format>> {
    let given = [
        ("--out", args.drawn.out.is_some()),
        ("--baseline-store", args.baseline_store().is_some()),
        ("--percentiles", args.view.percentiles.is_some()),
    ];
    let flag = given.into_iter().find_map(|(flag, given)| given.then_some(flag));
    if let Some(flag) = flag.or_else(|| args.view.scope.given().next()) {
        let problem = format!("{flag} is for runs, and points are compared");
        return Err(CliError::usage(problem, "Leave it out.").into());
    }
    crate::input::idle_flags::check_line_pages(&args.drawn, false)?;
    match args.output.format() {
        VerdictFormat::Report(ReportFormat::Table(format)) => Ok(Some(format)),
        VerdictFormat::Comment => Ok(None),
        VerdictFormat::Report(ReportFormat::Html) => {
            let problem = "--format html is for runs, and points are compared";
            Err(CliError::usage(problem, "Choose a format of tables, such as md.").into())
        }
    }
}

/// Warns of repeats without figures.
fn warn_aborted(side: &PointSide) {
    let aborted: Vec<&String> =
        side.points.iter().filter_map(|point| point.figures.aborted.as_ref()).collect();
    if let Some(reason) = aborted.first() {
        let all = counted(side.points.len() as u64, "repeat");
        warn(&format!("{}: {} of {all} aborted: {reason}", side.name, aborted.len()));
    }
}

/// Says what the comparison rests on.
fn print_notes(a: &PointSide, others: &[PointSide], changes: &[PointChange]) {
    if changes.iter().any(|change| change.outcome == Some(Outcome::Unknown)) {
        note(
            "points have no samples, so noise is estimated from repeats alone: with fewer than three on a side there is no \
             interval, and the outcome is unknown",
        );
    }
    let tools = |side: &PointSide| side.points.first().map(|point| point.key.tool.clone());
    let of_a = tools(a).unwrap_or_default();
    for b in others {
        let of_b = tools(b).unwrap_or_default();
        if of_a != of_b {
            note(&format!(
                "{} was measured by {of_a}, {} by {of_b}: tools measure the same server differently",
                a.name, b.name
            ));
        }
    }
}
