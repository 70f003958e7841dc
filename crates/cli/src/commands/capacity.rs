//! `perfpipe capacity`: the highest rate at which a system keeps objectives of service.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::{Capacity, CapacitySubject, LevelAxis, LoadRun, Objective, View, capacity_table};
use perfpipe_ingest::points::Point;
use perfpipe_ingest::{RunKey, Store, StoredRun};

use crate::args::{Choice, OutputArgs, RunsArgs, ScopeArgs, StoreArgs, choice};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::{Selection, only_test};
use crate::input::{points, store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.required_unless_present_any(["test", "tag"])))]
#[command(after_help = "Examples:\n  \
    perfpipe capacity --test 2048 --slo \"within 200ms >= 99%\"\n  \
    perfpipe capacity go_steps --slo \"p95 < 200ms\" --slo \"failures < 1%\"\n  \
    perfpipe capacity --test 2048 --framework go --slo \"within 200ms >= 99%\" --by-label\n  \
    perfpipe capacity go_open --slo \"p99 < 1s\" --by rate --format json\n\n\
    An objective: within 200ms >= 99%, p95 < 200ms, failures < 1%, or apdex 500ms >= 0.9. A failed request is outside of \
    each. The levels are the runs of the test, or the steps of a run whose load was raised in steps, each held for at least \
    30 s.\n\n\
    Exit codes: 0 done; 2 a rule that is no objective; 3 no level can be judged.")]
pub(crate) struct CapacityArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Objective that a level must meet, as in "within 200ms >= 99%"; repeatable: it must meet all of them
    #[arg(long, value_name = "RULE", required = true)]
    pub(crate) slo: Vec<String>,
    /// What the levels differ by [default: concurrency if the load is a plan of threads and differs, else the rate of the
    /// requests]
    #[arg(long, value_name = "AXIS", value_parser = choice(AXES))]
    pub(crate) by: Option<LevelAxis>,
    /// Judge the requests of each label by themselves
    #[arg(long, conflicts_with = "label")]
    pub(crate) by_label: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// The choices of `--by`.
const AXES: &[LevelAxis] = &[LevelAxis::Concurrency, LevelAxis::Rate];

impl Choice for LevelAxis {
    fn name(self) -> &'static str {
        self.name()
    }
}

/// What was measured of each system under test, by framework, tool and label.
type Subjects = BTreeMap<(String, String, Option<String>), (Vec<LoadRun>, Vec<Point>)>;

/// Prints the levels of each system under test, and its capacity.
pub(crate) async fn run(args: &CapacityArgs, store: &StoreArgs) -> Result<()> {
    let objectives = args.slo.iter().map(|text| Ok(text.parse()?)).collect::<Result<Vec<Objective>>>()?;
    refuse_view(&args.scope)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let mut subjects = Subjects::new();
    let points = points_of(args, &store).await?;
    for key in runs_of(args, &store, !points.is_empty(), &mut left_out).await? {
        let read = view::read_by_rules(&store, &key, &[], &args.scope).await;
        let Some(run) = left_out.or_leave_out(&key, read)? else { continue };
        for (label, counted) in counted(args, &run, &objectives)? {
            let subject = (key.framework.clone(), run.info.tool().to_owned(), label);
            subjects.entry(subject).or_default().0.push(counted);
        }
    }
    for point in points {
        let workers = point.key.workers.map(|workers| format!(" at w{workers}")).unwrap_or_default();
        let subject = (point.key.framework.clone(), format!("{}{workers}", point.key.tool), None);
        let (runs, points) = subjects.entry(subject).or_default();
        // A point that a run has the key of is the same measurement, less exactly.
        if runs.iter().all(|run| run.info().key.repeat != point.key.repeat) {
            points.push(point);
        }
    }
    let mut all = Vec::with_capacity(subjects.len());
    for ((framework, tool, label), (runs, points)) in subjects {
        let subject = CapacitySubject::new(framework, tool).with_label(label);
        all.push(Capacity::of(subject, &runs, &points, &objectives, args.by));
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&capacity_table(&all), args.output.format(), &mut output)?;
    output.finish()?;
    all.iter().for_each(|capacity| note(&format!("{}: {}", name(capacity), capacity.sentence())));
    if let Some(unknown) = all.first().filter(|_| all.iter().all(Capacity::is_unknown)) {
        unknown.require_known()?;
    }
    left_out.end()
}

/// Names a system under test.
fn name(capacity: &Capacity) -> String {
    let label = capacity.label.as_ref().map(|label| format!(", {label}")).unwrap_or_default();
    format!("{} by {}{label}", capacity.framework, capacity.tool)
}

/// Refuses flags on the view that no objective has use for.
fn refuse_view(scope: &ScopeArgs) -> Result<()> {
    let idle = ["--include-failures", "--cpu-offset", "--cpu-lookback"];
    let Some(flag) = scope.given().find(|flag| idle.contains(flag)) else { return Ok(()) };
    let problem = format!("{flag} has no effect on an objective: a failed request is outside of it");
    Err(CliError::usage(problem, "Leave it out.").into())
}

/// Returns the runs that the flags select.
///
/// # Errors
/// If there are none, and no points either; if they are of several tests.
async fn runs_of(
    args: &CapacityArgs,
    store: &Store,
    has_points: bool,
    left_out: &mut LeftOut,
) -> Result<Vec<RunKey>> {
    let of = &args.runs.of;
    let stored = left_out.of_test(store, of.test.as_deref()).await?;
    let is_meant = |key: &RunKey| {
        of.test.as_ref().is_none_or(|test| *test == key.test)
            && (of.framework.is_empty() || of.framework.contains(&key.framework))
            && (of.repeat.is_empty() || of.repeat.contains(&key.repeat))
    };
    if has_points && !stored.iter().any(|run| is_meant(&run.key)) {
        return Ok(Vec::new());
    }
    let chosen = Selection::among(stored, &args.runs.run, of)?;
    chosen.say_repeats(&args.runs.run);
    if !chosen.keys.is_empty() {
        only_test(&chosen.keys)?;
    }
    Ok(chosen.keys)
}

/// Returns the points of the test that the flags select. Points have neither tags nor labels, nor seconds to choose from.
async fn points_of(args: &CapacityArgs, store: &Store) -> Result<Vec<Point>> {
    let of = &args.runs.of;
    let Some(test) = of.test.as_ref().filter(|_| of.tag.is_empty()) else { return Ok(Vec::new()) };
    let is_meant = |point: &Point| {
        point.key.test == *test
            && (of.framework.is_empty() || of.framework.contains(&point.key.framework))
            && (of.repeat.is_empty() || of.repeat.contains(&point.key.repeat))
    };
    let mut all = store.points().await?;
    all.retain(is_meant);
    let is_of_runs = args.by_label || args.by == Some(LevelAxis::Rate) || args.scope.given().next().is_some();
    if all.is_empty() || !is_of_runs {
        return if all.is_empty() { Ok(all) } else { points::selected(all, of) };
    }
    note("points of summaries have neither labels, seconds nor rates of requests, and are left out");
    Ok(Vec::new())
}

/// Counts the seconds of a run for the objectives: of all its requests, or of each of its labels.
fn counted(
    args: &CapacityArgs,
    run: &StoredRun,
    objectives: &[Objective],
) -> Result<Vec<(Option<String>, LoadRun)>> {
    let view = view::scope(&args.scope, &run.info);
    if !args.by_label {
        return Ok(vec![(args.scope.label.clone(), LoadRun::new(run, &view, objectives)?)]);
    }
    let is_request = |label: &&perfpipe_ingest::counts::LabelCount| label.successes + label.failures > 0;
    let labels = run.labels.iter().filter(is_request).map(|label| &label.label);
    let (shared, own): (Vec<&String>, Vec<&String>) = labels.partition(|label| run.shares_cells(label));
    if !shared.is_empty() {
        note(&format!(
            "{}: {} labels share their counts and are left out; --label shows one",
            run.info.key,
            shared.len()
        ));
    }
    let of = |label: &String| {
        let view: View = view.clone().with_label(label.clone());
        Ok((Some(label.clone()), LoadRun::new(run, &view, objectives)?))
    };
    own.into_iter().map(of).collect()
}
