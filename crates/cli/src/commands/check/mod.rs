//! `perfpipe check`: checks runs against rules, with an exit code for broken rules.

pub(crate) mod github;
pub(crate) mod junit;
mod sentence;

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use perfpipe_analyze::{Rule, View, check, verdict_table};
use perfpipe_ingest::Store;
use perfpipe_ingest::{RunInfo, StoredRun};

use crate::args::{BaselineStoreArgs, OutputArgs, ScopeArgs, StoreArgs, TestArgs};
use crate::error::Broken;
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::{rules, runs, store, view};
use crate::output::{Output, write_file};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").args(["runs_named", "test"]).required(true).multiple(true))]
#[command(mut_arg("baseline_store", |store| store.requires("baseline")))]
#[command(after_help = "Examples:\n  \
    perfpipe check --test 2048 \"p95 < 200ms\" \"failures < 1%\" \"throughput > 20000\"\n  \
    perfpipe check --run go_2048#2 \"p95 < 200ms\"\n  \
    perfpipe check --test 2048 --framework go --rules rules.toml --junit check.xml\n  \
    perfpipe check --run go_2048 --baseline go_2048 --baseline-store old \"p95 < baseline * 1.1\"\n\n\
    A rule: MEASURE [of \"LABEL\"] [in ramp|hold|tail] OPERATOR LIMIT [for DURATION]\n  \
    MEASURE   throughput, requests, successes, failures, failures_percent,\n            \
              rejects, mean, min, max, p95 (any percentile), within 200ms,\n            \
              apdex 500ms, latency_mean, bytes_per_second,\n            \
              sent_bytes_per_second, cpu, cpu_max, load\n  \
    OPERATOR  <, <=, >, >=, ==, !=\n  \
    LIMIT     a number (ms, s, %, /s, MB/s), or baseline, baseline * 1.1, baseline + 20ms\n  \
    DURATION  30s, 2m: broken only if it does not hold for so long without a break\n\n\
    A file of rules: rules = [\"p95 < 200ms\", \"failures < 1%\"]\n\n\
    Exit codes: 0 all rules hold; 4 a rule does not hold.")]
pub(crate) struct CheckArgs {
    /// Rules that every run must satisfy
    #[arg(value_name = "RULE")]
    pub(crate) rule: Vec<String>,
    /// Run to check, as `perfpipe list` names it: go_2048, go_2048#2; repeatable
    #[arg(long = "run", id = "runs_named", value_name = "RUN", conflicts_with_all = ["test", "framework", "repeat"])]
    pub(crate) run: Vec<String>,
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// TOML file with more rules
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Run to compare with in rules: go_2048, or go_2048#2 for its second repeat
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    #[command(flatten)]
    pub(crate) baseline_store: BaselineStoreArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Also write a JUnit XML file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Annotate broken rules on GitHub, and add the table to the job's summary
    #[arg(long)]
    pub(crate) github: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Checks runs and prints the verdicts.
pub(crate) async fn run(args: &CheckArgs, store: &StoreArgs) -> Result<()> {
    let rules = all_rules(args)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let runs = left_out.runs(&store).await?;
    let keys = runs::several(&runs, &args.run, &args.of)?;
    let baseline = baseline(args, &rules, &store, &runs).await?;
    let mut verdicts = Vec::new();
    for key in &keys {
        let read = read(&store, key, &rules, args).await;
        let Some(run) = left_out.or_leave_out(key, read)? else { continue };
        let baseline = baseline.as_ref().map(|(run, view)| (run, view));
        verdicts.extend(check(&rules, &run, &view::scope(&args.scope, &run.info), baseline)?);
    }
    if let Some(path) = &args.junit {
        write_file(path, &junit::document(&verdicts)?)?;
    }
    if args.github {
        github::write(&verdicts)?;
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    verdict_table(&verdicts).write(args.output.format, &mut output)?;
    output.finish()?;
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    if broken > 0 { Err(Broken { broken, all: verdicts.len() }.into()) } else { left_out.end() }
}

/// Returns the rules of the command line and of the file.
fn all_rules(args: &CheckArgs) -> Result<Vec<Rule>> {
    let mut rules = args.rule.iter().map(|text| Ok(text.parse()?)).collect::<Result<Vec<Rule>>>()?;
    if let Some(path) = &args.rules {
        rules.extend(rules::of_file(path)?);
    }
    if rules.is_empty() {
        let remedy =
            "Give one, as in `perfpipe check --test 2048 \"p95 < 200ms\"`, or a file of them (--rules).";
        return Err(CliError::usage("there is no rule to check", remedy).into());
    }
    if args.baseline.is_some() && !rules.iter().any(Rule::needs_baseline) {
        let remedy = "Leave it out, or write a rule such as \"p95 < baseline * 1.1\".";
        return Err(
            CliError::usage("--baseline has no effect, since no rule compares with it", remedy).into()
        );
    }
    Ok(rules)
}

/// Returns the baseline with its view, if one is named.
async fn baseline(
    args: &CheckArgs,
    rules: &[Rule],
    store: &Store,
    runs: &[RunInfo],
) -> Result<Option<(StoredRun, View)>> {
    let Some(name) = &args.baseline else { return Ok(None) };
    let other = args.baseline_store.baseline_store.as_deref().map(store::existing_folder).transpose()?;
    let key = match &other {
        // Other runs that are damaged there do not matter.
        Some(other) => runs::named(&other.look().await?.runs, name)?,
        None => runs::named(runs, name)?,
    };
    let store = other.as_ref().unwrap_or(store);
    let compared: Vec<Rule> = rules.iter().filter(|rule| rule.needs_baseline()).cloned().collect();
    let run = read(store, &key, &compared, args).await?;
    let view = view::scope(&args.scope, &run.info);
    Ok(Some((run, view)))
}

/// Reads a run, with cells for every label that a rule or a flag names.
async fn read(
    store: &Store,
    key: &perfpipe_ingest::RunKey,
    rules: &[Rule],
    args: &CheckArgs,
) -> Result<StoredRun> {
    let mut run = store.read(key).await?;
    let labels = rules.iter().filter_map(Rule::label).chain(args.scope.label.as_deref());
    for label in labels {
        view::count_apart(store, &mut run, label).await?;
    }
    view::top_level(store, &mut run, &args.scope).await?;
    Ok(run)
}
