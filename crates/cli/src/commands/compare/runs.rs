//! The comparison of runs, and what is said of it: how the noise is known, and what is not compared.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::league::median_repeats;
use perfpipe_analyze::table::Table;
use perfpipe_analyze::{
    Change, Direction, Measure, Measured, Noise, Pairing, Side, Timeline, change_notes, change_table,
    compare_sides,
};
use perfpipe_ingest::{RunInfo, RunKey, Store};
use perfpipe_plot::{Figures, Page};

use super::args::{CompareArgs, deciding};
use super::comment::{self, ComparedFigure};
use super::worse::WorseFigure;
use crate::args::{FailOn, ReportFormat, StoreArgs, Tag, TestArgs, VerdictFormat};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{RunNames, Selection};
use crate::input::{idle_flags, store, view};
use crate::output::comment::Comment;
use crate::output::pages::{Pages, Subject, choices, looks, other_store};
use crate::output::terminal::write_table;
use crate::output::{Output, fonts, note, page_folder};

/// One side of the comparison, as read from the store.
struct ReadSide {
    side: Side,
    /// The run that is drawn for the side: the median repeat.
    drawn: Option<Timeline>,
}

/// Prints what changed from run A to each of the others, and draws both.
pub(super) async fn run(args: &CompareArgs, store: &StoreArgs) -> Result<()> {
    idle_flags::check_line_pages(&args.drawn, args.is_report())?;
    refuse_both(args)?;
    let store = store::existing(store).await?;
    let other =
        args.baseline_store().map(|path| store::existing_folder(path, store::BASELINE_FLAG)).transpose()?;
    let mut left_out = LeftOut::default();
    // Runs that are named may be of any test.
    let test = args.of.test.as_deref().filter(|_| args.a.is_none());
    let runs = left_out.of_test(&store, test).await?;
    // Other runs that are damaged in the other store do not matter.
    let others = match &other {
        Some(other) => other.look().await?.runs,
        None => runs.clone(),
    };
    let (a, chosen) = match &args.a {
        Some(a) => by_name(args, a, &others, &runs)?,
        None => by_parts(args, &others, &runs)?,
    };
    refuse_unfit(args, &a, &chosen)?;
    args.drawn.out.as_deref().map(page_folder).transpose()?;
    let baseline = read(other.as_ref().unwrap_or(&store), &a, args).await?;
    let figures: Vec<(String, Measure)> =
        baseline.side.measures().into_iter().map(|measure| (measure.column(), measure.clone())).collect();
    let decide = deciding(&args.decide, &figures)?;
    let mut others = Vec::with_capacity(chosen.len());
    let keys = store.keys().await?;
    let mut drawn_of = BTreeSet::new();
    let mut pages = args.drawn.out.as_ref().map(|out| Pages::new(out, args.pages(), &keys));
    let choices: Vec<String> =
        args.baseline_store().map(other_store).into_iter().chain(choices(&args.view)).collect();
    let choices = [choices, looks(&args.pages())].concat();
    for chosen in &chosen {
        let read = read(&store, chosen, args).await?;
        if let (Some(pages), Some(a), Some(b)) = (&mut pages, &baseline.drawn, &read.drawn) {
            let texts = [&a.info, &b.info].into_iter().flat_map(fonts::texts);
            let style = fonts::styled(&args.pages(), texts.chain(args.view.scope.label.as_deref()));
            let page = Page::comparison(a, b, &style);
            let subject = Subject::Against(&b.info.key, &a.info.key);
            pages.page(&page, subject, &choices)?;
            let names = RunNames::of(&keys);
            drawn_of.extend([(&baseline, a), (&read, b)].into_iter().filter_map(|(of, drawn)| {
                let (repeats, name) = (of.side.runs.len(), &of.side.name);
                let drawn = names.name(&drawn.info.key);
                (repeats > 1)
                    .then(|| format!("pages show {drawn}, the median of the {repeats} repeats of {name}"))
            }));
        }
        // Only a report draws them later.
        let drawn = read.drawn.filter(|_| args.is_report());
        others.push(ReadSide { drawn, ..read });
    }
    let sides: Vec<Side> = others.iter().map(|other| other.side.clone()).collect();
    let unpaired = sides
        .iter()
        .map(|side| Pairing::of(&infos(&baseline.side), &infos(side)).notes(&side.name))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    let changes = compare_sides(&baseline.side, &sides, &decide);
    let mut output = Output::open(args.output.file.output.as_deref())?;
    let table = change_table(&changes);
    match args.output.format() {
        VerdictFormat::Report(ReportFormat::Table(format)) => write_table(&table, format, &mut output)?,
        VerdictFormat::Comment => {
            output.write_all(pull_request(args, &baseline.side, &sides, &changes).text().as_bytes())?;
        }
        VerdictFormat::Report(ReportFormat::Html) => {
            output.write_all(html(args, &baseline, &others, &changes, &table)?.as_bytes())?;
        }
    }
    output.finish()?;
    unpaired.iter().for_each(|sentence| note(sentence));
    notes(&baseline.side, &sides, &changes, !args.decide.is_empty())
        .iter()
        .for_each(|sentence| note(sentence));
    drawn_of.iter().for_each(|sentence| note(sentence));
    pages.into_iter().for_each(Pages::print_notes);
    fail_on_worse(args, &baseline.side.name, &changes)?;
    left_out.end()
}

/// Makes a comment on a pull request.
fn pull_request(args: &CompareArgs, baseline: &Side, sides: &[Side], changes: &[Change]) -> Comment {
    let runs = |change: &Change| match sides.iter().find(|side| side.name == change.run) {
        Some(side) if change.noise == Noise::Pairs => {
            let pairs = Pairing::of(&infos(baseline), &infos(side)).pairs.len();
            (pairs, pairs)
        }
        side => (baseline.runs.len(), side.map_or(1, |side| side.runs.len())),
    };
    let figures = changes.iter().map(|change| ComparedFigure::of_runs(change, runs(change))).collect();
    comment::comment(args, &baseline.name, figures, notes(baseline, sides, changes, !args.decide.is_empty()))
}

/// What the sentences on a comparison say, and how the command line has it.
const WITH_FLAGS: [(&str, &str); 2] = [
    ("only in repeats: ", "only in repeats (`ingest --append-repeat`): "),
    ("One figure alone could decide", "`--decide throughput` lets one figure decide"),
];

/// Returns the sentences on a comparison, with the flags that help.
pub(crate) fn notes(baseline: &Side, sides: &[Side], changes: &[Change], names_all: bool) -> Vec<String> {
    let with_flags =
        |note: String| WITH_FLAGS.iter().fold(note, |note, (said, with_flag)| note.replace(said, with_flag));
    change_notes(baseline, sides, changes, names_all).into_iter().map(with_flags).collect()
}

/// Describes the runs of a side.
pub(crate) fn infos(side: &Side) -> Vec<&RunInfo> {
    side.runs.iter().map(Measured::info).collect()
}

/// Fails if a figure that decides is worse, where that is asked for.
fn fail_on_worse(args: &CompareArgs, baseline: &str, changes: &[Change]) -> Result<()> {
    let is_worse = |change: &&Change| change.outcome.direction() == Some(Direction::Worse);
    let worse: Vec<WorseFigure> = changes.iter().filter(is_worse).map(WorseFigure::of_runs).collect();
    match args.fail_on {
        Some(FailOn::Worse) => WorseFigure::fail(baseline, &worse),
        None => Ok(()),
    }
}

/// Refuses runs of which no change for the worse could be shown: those that are compared with themselves, and those of
/// another test.
fn refuse_unfit(args: &CompareArgs, a: &SideRuns, others: &[SideRuns]) -> Result<()> {
    let Some(FailOn::Worse) = args.fail_on else { return Ok(()) };
    let test = |side: &SideRuns| side.keys.first().map(|key| key.test.clone()).unwrap_or_default();
    for b in others {
        let name = b.name.clone().unwrap_or_default();
        if args.baseline_store().is_none() && b.keys == a.keys {
            let problem = format!("{name} is compared with itself, so that --fail-on can't fail");
            return Err(CliError::usage(problem, "Name another run.").into());
        }
        if test(a) != test(b) {
            let problem = format!(
                "--fail-on: A is of the test {}, and {name} of the test {}: their figures have nothing to do with each other",
                test(a),
                test(b)
            );
            return Err(CliError::usage(problem, "Compare runs of one test, or leave --fail-on out.").into());
        }
    }
    Ok(())
}

/// Refuses names of runs beside a test.
fn refuse_both(args: &CompareArgs) -> Result<()> {
    if args.a.is_none() || args.of.test.is_none() {
        return Ok(());
    }
    let problem = "runs are named, and a test is given as well";
    Err(CliError::usage(problem, "Leave out --test; points of a test are named as in go@c64.").into())
}

/// The runs of a side.
struct SideRuns {
    keys: Vec<RunKey>,
    /// The side's name, if its runs do not give it.
    name: Option<String>,
}

impl SideRuns {
    fn new(chosen: Selection, name: Option<String>) -> Self {
        let name = name.or_else(|| match chosen.keys.as_slice() {
            [] => None,
            [only] => Some(chosen.names.name(only)),
            [first, ..] => Some(chosen.names.test(first)),
        });
        Self { keys: chosen.keys, name }
    }
}

/// The runs of A, and those of each B.
type Sides = (SideRuns, Vec<SideRuns>);

/// Finds the runs that are named.
///
/// # Errors
/// If a run is on both sides beside other repeats, which would be compared with themselves.
fn by_name(args: &CompareArgs, a: &str, others: &[RunInfo], runs: &[RunInfo]) -> Result<Sides> {
    let of_a = named(others, a)?;
    let mut sides = Vec::with_capacity(args.b.len());
    for b in &args.b {
        let of_b = named(runs, b)?;
        let is_shared = of_a.keys.iter().any(|key| of_b.keys.contains(key));
        if args.baseline_store().is_none() && is_shared && of_a.keys != of_b.keys {
            let problem = format!("{a} and {b} have a run in common, since a name stands for all repeats");
            let remedy = "Name each repeat with its number, as in go_2048#1 go_2048#2.";
            return Err(CliError::usage(problem, remedy).into());
        }
        sides.push(of_b);
    }
    Ok((of_a, sides))
}

/// Returns the runs with a name.
fn named(runs: &[RunInfo], name: &str) -> Result<SideRuns> {
    let chosen = Selection::among(runs.to_vec(), &[name.to_owned()], &TestArgs::default())?;
    Ok(SideRuns::new(chosen, None))
}

/// Finds the runs that are given by flags: a side for each framework, or for each repeat of a single framework.
fn by_parts(args: &CompareArgs, others: &[RunInfo], runs: &[RunInfo]) -> Result<Sides> {
    let TestArgs { framework, repeat, tag, .. } = &args.of;
    let mut sides: Vec<TestArgs> = match framework.as_slice() {
        [_] if repeat.len() > 1 => {
            repeat.iter().map(|one| TestArgs { repeat: vec![*one], ..args.of.clone() }).collect()
        }
        [_] if is_of_one_key(tag) => {
            tag.iter().map(|one| TestArgs { tag: vec![one.clone()], ..args.of.clone() }).collect()
        }
        all => all.iter().map(|one| TestArgs { framework: vec![one.clone()], ..args.of.clone() }).collect(),
    };
    if let ([only], Some(_)) = (sides.as_slice(), args.baseline_store()) {
        sides.push(only.clone());
    }
    match sides.as_slice() {
        [a, b @ ..] if !b.is_empty() => {
            let is_by_tag = is_of_one_key(tag);
            let chosen = |runs: &[RunInfo], side: &TestArgs| -> Result<SideRuns> {
                let name = side.tag.first().filter(|_| is_by_tag).map(Tag::to_string);
                Ok(SideRuns::new(Selection::among(runs.to_vec(), &[], side)?, name))
            };
            Ok((chosen(others, a)?, b.iter().map(|b| chosen(runs, b)).collect::<Result<_>>()?))
        }
        _ => Err(CliError::usage(
            "expected two runs or more to compare",
            "Give --framework twice, or --repeat or --tag twice with one framework, or name the runs: go_2048 \
             spring_2048.",
        )
        .into()),
    }
}

/// Returns true if these are several values of one tag, so that no run has all of them.
fn is_of_one_key(tags: &[Tag]) -> bool {
    tags.len() > 1 && tags.iter().all(|tag| tags.first().is_some_and(|first| first.key == tag.key))
}

/// Reads runs one by one, and keeps of each only what is compared and what is drawn.
async fn read(store: &Store, chosen: &SideRuns, args: &CompareArgs) -> Result<ReadSide> {
    let keys = &chosen.keys;
    let (mut runs, mut timelines) = (Vec::with_capacity(keys.len()), Vec::new());
    for key in keys {
        let run = view::read(store, key, &args.view).await?;
        runs.push(Measured::new(&run, &view::of(&args.view, &run.info))?);
        if args.drawn.out.is_some() || args.is_report() {
            timelines.push(view::timeline(&run, &args.view)?);
        }
    }
    let drawn = median_repeats(&timelines).first().map(|timeline| timeline.info.key.clone());
    let drawn = timelines.into_iter().find(|timeline| Some(&timeline.info.key) == drawn.as_ref());
    let mut side = Side::of(runs);
    if let Some(name) = &chosen.name {
        side.name.clone_from(name);
    }
    Ok(ReadSide { side, drawn })
}

/// Writes the comparison as one file: the changes of each side, both over time, and the table.
fn html(
    args: &CompareArgs,
    a: &ReadSide,
    others: &[ReadSide],
    changes: &[Change],
    table: &Table,
) -> Result<String> {
    let style = args.pages().style();
    let names: Vec<&str> = others.iter().map(|b| b.side.name.as_str()).collect();
    let mut report = Figures::new(format!("{} against {}", names.join(", "), a.side.name), table);
    let sides: Vec<Side> = others.iter().map(|b| b.side.clone()).collect();
    report.notes = notes(&a.side, &sides, changes, !args.decide.is_empty());
    for b in others {
        report.pages.push(Page::changes(&a.side.name, &b.side.name, changes, &style));
        report.more.extend(a.drawn.iter().zip(&b.drawn).map(|(a, b)| Page::comparison(a, b, &style)));
    }
    Ok(report.html())
}
