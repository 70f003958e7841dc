//! `perfpipe check`: checks runs and points against rules, with an exit code for broken rules.

mod against;
mod args;
mod at_level;
mod baseline;
pub(crate) mod github;
pub(crate) mod junit;
mod sentence;
mod verdicts;

use anyhow::Result;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Rule, Verdict, View, verdict_table};
use perfpipe_ingest::{RunKey, Store};

pub(crate) use self::args::CheckArgs;
use self::baseline::Baselines;
pub(crate) use self::sentence::sentence;
use self::verdicts::Verdicts;
pub(crate) use self::verdicts::is_lack;
use crate::args::StoreArgs;
use crate::error::Broken;
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::{rules, runs, store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, write_file};

/// Checks runs and points, and prints the verdicts.
pub(crate) async fn run(args: &CheckArgs, store: &StoreArgs) -> Result<()> {
    let (at_level, rules): (Vec<Rule>, Vec<Rule>) =
        all_rules(args)?.into_iter().partition(|rule| rule.level().is_some());
    at_level::refuse_names(&at_level, args)?;
    at_level::refuse_view(&at_level, &args.scope)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let mut verdicts = match rules.as_slice() {
        [] => Vec::new(),
        rules => of_runs(args, rules, &store, &mut left_out).await?,
    };
    verdicts.extend(at_level::verdicts(&at_level, args, &store).await?);
    if let Some(path) = &args.junit {
        write_file(path, &junit::document(&verdicts)?)?;
    }
    if args.github {
        github::write(&verdicts)?;
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&verdict_table(&ordered(&verdicts, args)), args.output.format, &mut output)?;
    output.finish()?;
    end(&verdicts)?;
    left_out.end()
}

/// Checks runs.
async fn of_runs(
    args: &CheckArgs,
    rules: &[Rule],
    store: &Store,
    left_out: &mut LeftOut,
) -> Result<Vec<Verdict>> {
    let runs = left_out.runs(store).await?;
    let keys = runs::several(&runs, &args.run, &args.of)?;
    let mut baselines = Baselines::new(args, rules, store, &runs).await?;
    let mut verdicts = Verdicts::default();
    for key in &keys {
        let read = rules::read(store, key, rules, &args.scope).await;
        let Some(run) = left_out.or_leave_out(key, read)? else { continue };
        let baseline = baselines.of(&run.info).await?;
        verdicts.add(rules, &run, &view::scope(&args.scope, &run.info), baseline.as_ref())?;
    }
    verdicts.end()
}

/// Checks one run that was just stored against rules, and prints the verdicts.
pub(crate) async fn of_stored(store: &Store, key: &RunKey, rules: &[Rule]) -> Result<()> {
    let run = rules::read_for(store, key, rules).await?;
    let mut verdicts = Verdicts::default();
    verdicts.add(rules, &run, &View::of(&run.info), None)?;
    let mut verdicts = verdicts.end()?;
    verdicts.sort_by_key(|verdict| verdict.holds);
    let mut output = Output::open(None)?;
    write_table(&verdict_table(&verdicts), Format::Text, &mut output)?;
    output.finish()?;
    end(&verdicts)
}

/// Fails if a rule does not hold.
fn end(verdicts: &[Verdict]) -> Result<()> {
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    if broken > 0 { Err(Broken { broken, all: verdicts.len() }.into()) } else { Ok(()) }
}

/// Returns the verdicts as they are printed: people see the broken rules first.
fn ordered(verdicts: &[Verdict], args: &CheckArgs) -> Vec<Verdict> {
    let mut ordered = verdicts.to_vec();
    if args.output.format.is_for_people() {
        ordered.sort_by_key(|verdict| verdict.holds);
    }
    ordered
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
