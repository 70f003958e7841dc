//! `perfpipe check`: checks runs and points against rules, with an exit code for broken rules.

mod args;
mod baseline;
mod verdicts;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::check_points;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Rule, Verdict, View, verdict_table};
use perfpipe_ingest::{RunKey, Store};

pub(crate) use self::args::CheckArgs;
use self::baseline::Baselines;
use self::verdicts::Verdicts;
pub(crate) use self::verdicts::{is_lack, sentence};
use crate::args::{ScopeArgs, StoreArgs};
use crate::error::{Broken, CliError};
use crate::input::left_out::LeftOut;
use crate::input::runs::{RunNames, Selection};
use crate::input::{points, store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, note, print_message, terminal, write_file};

/// The largest number of verdicts of which people see those of passed rules, too.
const MANY: usize = 20;

/// Checks runs and points, and prints the verdicts.
pub(crate) async fn run(args: &CheckArgs, store: &StoreArgs) -> Result<()> {
    let (at_level, rules): (Vec<Rule>, Vec<Rule>) =
        all_rules(args)?.into_iter().partition(|rule| rule.level().is_some());
    refuse_run_names(&at_level, args)?;
    refuse_view(&at_level, &args.scope)?;
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let mut verdicts = match rules.as_slice() {
        [] => Vec::new(),
        rules => of_runs(args, rules, &store, &mut left_out).await?,
    };
    verdicts.extend(level_verdicts(&at_level, args, &store).await?);
    if let Some(path) = &args.junit {
        write_file(path, &verdicts::junit_document(&verdicts)?)?;
    }
    if args.github {
        verdicts::write_annotations(&verdicts)?;
    }
    let mut output = Output::open(args.output.file.output.as_deref())?;
    let shown = shown(&verdicts, args);
    write_table(&verdict_table(&shown), args.output.format(), &mut output)?;
    output.finish()?;
    if shown.len() < verdicts.len() {
        let failed = shown.len();
        note(&format!(
            "{}: {} passed, {failed} failed; --wide shows all",
            counted(verdicts.len() as u64, "rule"),
            verdicts.len() - failed
        ));
    }
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
    let (runs, names) = (left_out.runs(store).await?, args.runs());
    // A rule without an operator is not mistaken for the name of a run.
    let is_stored = |name: &String| runs.iter().any(|run| run.key.is_called(name));
    if let Some(word) = names.iter().find(|name| name.contains(' ') && !is_stored(name)) {
        word.parse::<Rule>()?;
    }
    let chosen = Selection::among(runs, &names, &args.of)?;
    chosen.say_repeats(&names);
    let mut baselines = Baselines::new(args, rules, store, &chosen.stored).await?;
    let mut verdicts = Verdicts::default();
    for key in &chosen.keys {
        let read = view::read_by_rules(store, key, rules, &args.scope).await;
        let Some(mut run) = left_out.or_leave_out(key, read)? else { continue };
        // Those of many days are a third of the run, and no rule is about single failures.
        run.errors = Vec::new();
        let baseline = baselines.of(&run.info).await?;
        let (name, view) = (chosen.names.name(key), view::scope(&args.scope, &run.info));
        verdicts.add(rules, (&run, &name), &view, baseline.as_ref())?;
    }
    verdicts.end()
}

/// Checks one run that was just stored against rules, and prints the verdicts, or only the broken ones as sentences.
pub(super) async fn of_stored(store: &Store, key: &RunKey, rules: &[Rule], as_table: bool) -> Result<()> {
    let run = view::read_for_rules(store, key, rules).await?;
    let mut verdicts = Verdicts::default();
    let name = RunNames::in_store(store, key).await;
    verdicts.add(rules, (&run, &name), &View::of(&run.info), None)?;
    let mut verdicts = verdicts.end()?;
    if !as_table {
        verdicts
            .iter()
            .filter(|verdict| !verdict.holds)
            .for_each(|verdict| print_message(&sentence(verdict)));
        return end(&verdicts);
    }
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

/// Returns the verdicts that are printed: people see the failed ones first, and of many these alone.
fn shown(verdicts: &[Verdict], args: &CheckArgs) -> Vec<Verdict> {
    let mut shown = verdicts.to_vec();
    if args.output.format().is_for_people() {
        shown.sort_by_key(|verdict| verdict.holds);
    }
    if args.output.format() == Format::Text && shown.len() > MANY && !terminal::is_wide() {
        shown.retain(|verdict| !verdict.holds);
    }
    shown
}

/// Returns the rules of the command line and of the file.
fn all_rules(args: &CheckArgs) -> Result<Vec<Rule>> {
    let mut rules = args.rules().map(|text| Ok(text.parse()?)).collect::<Result<Vec<Rule>>>()?;
    if let Some(path) = &args.rules {
        rules.extend(view::rules_of_file(path)?);
    }
    if rules.is_empty() {
        // What has a space is rather a rule that lacks its operator than the name of a run.
        if let Some(word) = args.runs().iter().find(|name| name.contains(' ')) {
            word.parse::<Rule>()?;
        }
        let remedy = "Give one, as in `perfpipe check go_2048 \"p95 < 200ms\"`, or a file of them (--rules).";
        return Err(CliError::usage("no rule was given", remedy).into());
    }
    if args.baseline.is_some() && !rules.iter().any(Rule::needs_baseline) {
        let remedy = "Leave it out, or write a rule such as \"p95 < baseline * 1.1\".";
        return Err(
            CliError::usage("--baseline has no effect, since no rule compares with it", remedy).into()
        );
    }
    Ok(rules)
}

/// Refuses rules about points where runs are named or chosen by tags, which points do not have.
fn refuse_run_names(rules: &[Rule], args: &CheckArgs) -> Result<()> {
    let Some(rule) = rules.first() else { return Ok(()) };
    if args.of.test.is_some() && args.of.tag.is_empty() {
        return Ok(());
    }
    let problem = format!("the rule `{rule}` is about points, which have neither names nor tags");
    Err(CliError::usage(problem, "Choose them by --test, and by --framework if need be.").into())
}

/// Refuses flags on the view beside rules about points, which the flags do not touch.
fn refuse_view(rules: &[Rule], scope: &ScopeArgs) -> Result<()> {
    let Some((rule, flag)) = rules.first().zip(scope.given().next()) else { return Ok(()) };
    let problem = format!("{flag} has no effect on the rule `{rule}`, which is about points");
    Err(CliError::usage(problem, "Check rules about runs, which it is for, by a command of their own.")
        .into())
}

/// Checks the points that the flags select.
///
/// # Errors
/// If there is none.
async fn level_verdicts(rules: &[Rule], args: &CheckArgs, store: &Store) -> Result<Vec<Verdict>> {
    match rules {
        [] => Ok(Vec::new()),
        rules => Ok(check_points(rules, &points::selected(store.points().await?, &args.of)?)),
    }
}
