//! `perfpipe plan`: what an experiment would show, by the scatter of stored repeats.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::{Design, Measured, PAIR_TAG, Pairing, Plan, PlanOptions, SIDE_TAG, plan_table};
use perfpipe_ingest::{RunInfo, RunKey, Store};

use super::trend::share;
use crate::args::{OutputArgs, StoreArgs, TestArgs, ViewArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::Selection;
use crate::input::versions::{By, VersionRuns, by_framework};
use crate::input::{store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(mut_arg("test", |test| test.required(true)))]
#[command(after_help = "Examples:\n  \
    perfpipe plan --test 2048\n  \
    perfpipe plan --test 2048 --framework go --by tag:commit --change 3%\n  \
    perfpipe plan --test 2048 --framework go --runs 5 --minutes 10\n  \
    perfpipe plan --test 2048 --framework go --pairs --change 2%\n\n\
    The scatter is that of runs of one version; without --by, all runs of a framework are one. A forecast is for one figure \
    that is compared: a change is called at the level of 1 %, in four of five experiments.")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// What makes runs one version: tag:KEY; or day [default: all runs of a framework are one version]
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<By>,
    /// The change that is to be shown, as 5%
    #[arg(long, value_name = "PERCENT", value_parser = positive_share, default_value = "5%")]
    pub(crate) change: f64,
    /// Runs of each side, or pairs, of which the least change is forecast [default: as many as are stored, at least 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) runs: Option<u32>,
    /// Length of each planned run, in minutes [default: that of the stored runs]
    #[arg(long, value_name = "M", value_parser = minutes)]
    pub(crate) minutes: Option<f64>,
    /// Plan pairs: the scatter is that of the difference within the stored pairs, two runs with one tag `pair` and different
    /// tags `side`
    #[arg(long, conflicts_with = "by")]
    pub(crate) pairs: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl PlanArgs {
    fn options(&self) -> PlanOptions {
        let mut options = PlanOptions::default();
        (options.change, options.count, options.minutes) = (self.change, self.runs, self.minutes);
        options
    }
}

/// Parses a percentage above 0 as a share.
fn positive_share(text: &str) -> Result<f64, String> {
    let found = share(text)?;
    if found > 0.0 { Ok(found) } else { Err("a percentage above 0, such as 5%, is expected".to_owned()) }
}

/// Parses a length in minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let found: Option<f64> = text.parse().ok().filter(|minutes: &f64| (0.1..=10_000.0).contains(minutes));
    found.ok_or_else(|| "a number of minutes from 0.1 to 10000 is expected".to_owned())
}

/// Prints what experiments of a test would show.
pub(crate) async fn run(args: &PlanArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let chosen = Selection::readable(&store, &[], &args.of, &mut left_out).await?;
    let runs: Vec<RunInfo> =
        chosen.stored.iter().filter(|run| chosen.keys.contains(&run.key)).cloned().collect();
    let plans = match args.pairs {
        true => of_pairs(&store, args, runs, &mut left_out).await?,
        false => of_repeats(&store, args, (runs, &chosen), &mut left_out).await?,
    };
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&plan_table(&plans), args.output.format(), &mut output)?;
    output.finish()?;
    plans.iter().for_each(|plan| note(&sentence(plan, args)));
    left_out.end()
}

/// Plans repeats of each framework.
async fn of_repeats(
    store: &Store,
    args: &PlanArgs,
    (runs, chosen): (Vec<RunInfo>, &Selection),
    left_out: &mut LeftOut,
) -> Result<Vec<Plan>> {
    let frameworks: Vec<(String, Vec<VersionRuns>)> = match &args.by {
        Some(by) => by_framework(runs, by, &chosen.names).0,
        None => one_version(runs),
    };
    let mut plans = Vec::with_capacity(frameworks.len());
    for (framework, versions) in frameworks {
        let mut measured = Vec::with_capacity(versions.len());
        for version in versions {
            let mut of_version = Vec::with_capacity(version.runs.len());
            for key in &version.runs {
                of_version.extend(measure(store, key, args, left_out).await?);
            }
            measured.push(of_version);
        }
        plans.push(Plan::of_repeats(framework, &measured, args.options()));
    }
    known(plans)
}

/// Returns the runs of each framework as those of one version.
fn one_version(runs: Vec<RunInfo>) -> Vec<(String, Vec<VersionRuns>)> {
    let mut frameworks: BTreeMap<String, Vec<RunKey>> = BTreeMap::new();
    for run in runs {
        frameworks.entry(run.key.framework.clone()).or_default().push(run.key);
    }
    let version = |runs| vec![VersionRuns { name: String::new(), start_ms: 0, runs }];
    frameworks.into_iter().map(|(name, runs)| (name, version(runs))).collect()
}

/// Plans pairs of each framework.
///
/// # Errors
/// If no two runs are a pair.
async fn of_pairs(
    store: &Store,
    args: &PlanArgs,
    runs: Vec<RunInfo>,
    left_out: &mut LeftOut,
) -> Result<Vec<Plan>> {
    let side = |run: &RunInfo| run.options.tags.get(SIDE_TAG).cloned();
    let mut frameworks: BTreeMap<String, Vec<RunInfo>> = BTreeMap::new();
    for run in runs.into_iter().filter(|run| side(run).is_some() && run.options.tags.contains_key(PAIR_TAG)) {
        frameworks.entry(run.key.framework.clone()).or_default().push(run);
    }
    let mut plans = Vec::with_capacity(frameworks.len());
    for (framework, runs) in frameworks {
        let first = runs.iter().filter_map(side).min();
        let (of_a, of_b): (Vec<&RunInfo>, Vec<&RunInfo>) = runs.iter().partition(|run| side(run) == first);
        let pairing = Pairing::of(&of_a, &of_b);
        let notes = pairing.left_out()?;
        notes.iter().for_each(|sentence| note(&format!("{framework}: {sentence}")));
        let mut measured = Vec::with_capacity(pairing.pairs.len());
        for (at_a, at_b) in pairing.pairs {
            let (Some(one), Some(other)) = (of_a.get(at_a), of_b.get(at_b)) else { continue };
            let one = measure(store, &one.key, args, left_out).await?;
            let other = measure(store, &other.key, args, left_out).await?;
            measured.extend(one.zip(other));
        }
        plans.push(Plan::of_pairs(framework, &measured, args.options()));
    }
    if plans.is_empty() {
        let test = args.of.test.as_deref().unwrap_or_default();
        let problem = format!("no two runs of the test {test} are a pair");
        let remedy = "Give both runs of a pair the same tag `pair` and different tags `side` at ingest, as in --tag pair=1 \
                      --tag side=new.";
        return Err(CliError::refused(problem, remedy).into());
    }
    known(plans)
}

/// Returns the plans, and says which frameworks have too few runs for one.
///
/// # Errors
/// If all of them have.
fn known(plans: Vec<perfpipe_analyze::Result<Plan>>) -> Result<Vec<Plan>> {
    let mut known = Vec::with_capacity(plans.len());
    let mut lacks = Vec::new();
    for plan in plans {
        match plan {
            Ok(plan) => known.push(plan),
            Err(error @ perfpipe_analyze::Error::FewRepeats { .. }) => lacks.push(error),
            Err(error) => return Err(error.into()),
        }
    }
    match lacks.pop() {
        Some(last) if known.is_empty() => Err(last.into()),
        last => {
            lacks.into_iter().chain(last).for_each(|error| note(&format!("left out: {error}")));
            Ok(known)
        }
    }
}

/// Measures a run; `None` if it is damaged.
async fn measure(
    store: &Store,
    key: &RunKey,
    args: &PlanArgs,
    left_out: &mut LeftOut,
) -> Result<Option<Measured>> {
    let read = view::read(store, key, &args.view).await;
    let Some(run) = left_out.or_leave_out(key, read)? else { return Ok(None) };
    Ok(Some(Measured::new(&run, &view::of(&args.view, &run.info))?))
}

/// Says what it takes to show the change in the figure that a build is most often judged by: p95, or else throughput.
fn sentence(plan: &Plan, args: &PlanArgs) -> String {
    let named = |name: &str| plan.figures.iter().find(|figure| figure.measure.column() == name);
    let Some(figure) = named("p95").or_else(|| named("throughput")) else {
        return format!("{}: neither p95 nor throughput is above 0 in all runs and scatters", plan.name);
    };
    let (measure, needed) = (&figure.measure, figure.needed);
    let shown = |count: Option<u32>| count.map_or("more than 1,000".to_owned(), |count| count.to_string());
    let range = if needed.low == needed.high {
        String::new()
    } else {
        format!(" ({} to {})", shown(needed.low), shown(needed.high))
    };
    let what = match plan.design {
        Design::Pairs => "pairs",
        _ => "runs of each side",
    };
    format!(
        "{}: to show that {measure} changed by {} % takes {}{range} {what}",
        plan.name,
        (args.change * 1e6).round() / 1e4,
        shown(needed.value)
    )
}
