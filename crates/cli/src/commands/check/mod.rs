//! `perfpipe check`: checks runs and points against rules, with an exit code for broken rules.

mod args;
mod baseline;
mod comment;
mod verdicts;

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::check_points;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Gate, Rule, RuleFigures, RuleOutcome, Verdict, View, verdict_table};
use perfpipe_ingest::{RunInfo, RunKey, Store};

pub(crate) use self::args::{CheckArgs, Fate};
use self::baseline::Baselines;
use self::verdicts::Verdicts;
pub(crate) use self::verdicts::{is_lack, sentence};
use crate::args::{ScopeArgs, StoreArgs};
use crate::error::{Broken, CliError};
use crate::input::left_out::LeftOut;
use crate::input::runs::{RunNames, Selection};
use crate::input::{points, store, view};
use crate::output::comment::Comment;
use crate::output::terminal::write_table;
use crate::output::{Output, note, print_message, terminal, warn, write_file};

/// The largest number of verdicts of which people see those of passed rules, too.
const MANY: usize = 20;

/// Checks runs and points, and prints the verdicts.
pub(crate) async fn run(args: &CheckArgs, store: &StoreArgs) -> Result<()> {
    let mut left_out = LeftOut::default();
    let mut verdicts = match all_verdicts(args, store, &mut left_out).await {
        Err(error) => {
            // The comment says, too, that there is nothing to compare with.
            if let Some(lack) = error.downcast_ref::<CliError>().filter(|error| error.is_no_earlier_run()) {
                write_comment(&comment::without_baseline(lack, args), args)?;
            }
            return Err(error);
        }
        Ok(verdicts) => verdicts,
    };
    verdicts.iter_mut().for_each(|verdict| settle(verdict, args));
    if let Some(path) = &args.junit {
        write_file(path, &verdicts::junit_document(&verdicts)?)?;
    }
    if args.github {
        verdicts::write_annotations(&verdicts)?;
    }
    write_comment(&comment::of_verdicts(&verdicts, args), args)?;
    if let Some(format) = args.table_format() {
        write_verdicts(&verdicts, format, args)?;
    }
    say_unknown(&verdicts);
    end(&verdicts)?;
    left_out.end()
}

/// Writes the comment on a pull request where one is asked for, and to the summary of the job.
fn write_comment(comment: &Comment, args: &CheckArgs) -> Result<()> {
    if args.github {
        verdicts::append_to_summary(&comment.text())?;
    }
    if args.table_format().is_none() {
        let mut output = Output::open(args.output.file.output.as_deref())?;
        output.write_all(comment.text().as_bytes())?;
        output.finish()?;
    }
    Ok(())
}

/// Writes the table of verdicts.
fn write_verdicts(verdicts: &[Verdict], format: Format, args: &CheckArgs) -> Result<()> {
    let mut output = Output::open(args.output.file.output.as_deref())?;
    let shown = shown(verdicts, format);
    write_table(&verdict_table(&shown), format, &mut output)?;
    output.finish()?;
    if shown.len() < verdicts.len() {
        let of = |outcome| verdicts.iter().filter(|verdict| verdict.outcome() == outcome).count();
        let unknown = match of(RuleOutcome::Unknown) {
            0 => String::new(),
            unknown => format!(", {unknown} unknown"),
        };
        note(&format!(
            "{}: {} passed, {} failed{unknown}; --wide shows all",
            counted(verdicts.len() as u64, "rule"),
            of(RuleOutcome::Passed),
            of(RuleOutcome::Failed),
        ));
    }
    Ok(())
}

/// Checks runs and points against all rules.
async fn all_verdicts(args: &CheckArgs, store: &StoreArgs, left_out: &mut LeftOut) -> Result<Vec<Verdict>> {
    let (at_level, rules): (Vec<Rule>, Vec<Rule>) =
        all_rules(args)?.into_iter().partition(|rule| rule.level().is_some());
    refuse_run_names(&at_level, args)?;
    refuse_view(&at_level, &args.scope)?;
    let store = store::existing(store).await?;
    let mut verdicts = match rules.as_slice() {
        [] => Vec::new(),
        rules => of_runs(args, rules, &store, left_out).await?,
    };
    verdicts.extend(level_verdicts(&at_level, args, &store).await?);
    Ok(verdicts)
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
    let mut baselines = Baselines::new(args, rules, store, (&chosen.stored, &chosen.keys)).await?;
    let (by_chance, fixed): (Vec<Rule>, Vec<Rule>) = rules.iter().cloned().partition(Rule::knows_chance);
    if let Some(rule) = by_chance.first().filter(|_| args.baseline.is_empty()) {
        return Err(perfpipe_analyze::Error::NoBaseline { rule: rule.to_string() }.into());
    }
    let mut verdicts = Verdicts::default();
    let mut groups: Vec<Repeats> = Vec::new();
    for key in &chosen.keys {
        let read = view::read_by_rules(store, key, rules, &args.scope).await;
        let Some(mut run) = left_out.or_leave_out(key, read)? else { continue };
        // Those of many days are a third of the run, and no rule is about single failures.
        run.errors = Vec::new();
        let (name, view) = (chosen.names.name(key), view::scope(&args.scope, &run.info));
        if !fixed.is_empty() {
            let baseline = baselines.of_run(&run.info).await?;
            verdicts.add(&fixed, (&run, &name), &view, baseline.as_ref())?;
        }
        if !by_chance.is_empty() {
            let measured = verdicts.measured(&by_chance, (&run, &name), &view)?;
            Repeats::add(&mut groups, &run.info, measured);
        }
    }
    let mut gate = Gate::default();
    let mut is_compared = groups.is_empty();
    for group in &groups {
        let name = match group.runs.as_slice() {
            [only] => chosen.names.name(&only.key),
            several => several.first().map(|run| chosen.names.test(&run.key)).unwrap_or_default(),
        };
        match baselines.of_repeats(&group.runs).await? {
            Some(baseline) => {
                is_compared = true;
                gate.add(&group.rules, &name, &group.figures, &baseline);
            }
            None => note(&format!("{name} is its own baseline: rules about chance say nothing of it")),
        }
    }
    if !is_compared {
        let problem = "all runs that are checked are in their own baseline";
        return Err(CliError::usage(problem, "Name another run (--baseline).").into());
    }
    verdicts.decided(gate);
    verdicts.end()
}

/// The repeats of a test, which rules about chance judge together.
struct Repeats {
    /// The rules that all of them can be judged by.
    rules: Vec<Rule>,
    runs: Vec<RunInfo>,
    figures: Vec<RuleFigures>,
}

impl Repeats {
    /// Adds a run to the repeats of its test.
    fn add(groups: &mut Vec<Self>, run: &RunInfo, (rules, figures): (Vec<Rule>, RuleFigures)) {
        let test = |run: &RunInfo| (run.key.framework.clone(), run.key.test.clone());
        let is_own = |group: &&mut Self| group.runs.first().is_some_and(|first| test(first) == test(run));
        match groups.iter_mut().find(is_own) {
            Some(group) => {
                group.rules.retain(|rule| rules.contains(rule));
                group.runs.push(run.clone());
                group.figures.push(figures);
            }
            None => groups.push(Self { rules, runs: vec![run.clone()], figures: vec![figures] }),
        }
    }
}

/// Lets pass or fail what can't be decided, as the flags say.
fn settle(verdict: &mut Verdict, args: &CheckArgs) {
    if verdict.unknown && args.unknown == Some(Fate::Fail) {
        verdict.holds = false;
    }
    if verdict.lacks_baseline && args.no_baseline == Some(Fate::Pass) {
        verdict.holds = true;
        verdict.note = Some("there is no earlier run to compare with yet".to_owned());
    }
}

/// Warns of rules that pass although the data can't tell.
fn say_unknown(verdicts: &[Verdict]) {
    let unknown = verdicts.iter().filter(|verdict| verdict.unknown && verdict.holds).count();
    if unknown > 0 {
        let of = counted(verdicts.len() as u64, "rule");
        warn(&format!(
            "{unknown} of {of} passed although the data can't tell: more or longer repeats do; --unknown fail lets them fail"
        ));
    }
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

/// Fails if a rule does not hold, or has nothing to compare with.
fn end(verdicts: &[Verdict]) -> Result<()> {
    let all = verdicts.len();
    let (lacking, broken): (Vec<&Verdict>, Vec<&Verdict>) =
        verdicts.iter().filter(|verdict| !verdict.holds).partition(|verdict| verdict.lacks_baseline);
    let unknown = broken.iter().filter(|verdict| verdict.unknown).count();
    match (broken.len(), lacking.len()) {
        (0, 0) => Ok(()),
        (0, lacking) => Err(baseline::no_earlier_run_of(lacking, all).into()),
        (broken, _) => Err(Broken { broken, all, unknown }.into()),
    }
}

/// Returns the verdicts that are printed: people see the failed ones first, and of many these alone.
fn shown(verdicts: &[Verdict], format: Format) -> Vec<Verdict> {
    let mut shown = verdicts.to_vec();
    if format.is_for_people() {
        shown.sort_by_key(|verdict| (verdict.holds, !verdict.unknown));
    }
    if format == Format::Text && shown.len() > MANY && !terminal::is_wide() {
        shown.retain(|verdict| !verdict.holds || verdict.unknown);
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
    if !args.baseline.is_empty() && !rules.iter().any(Rule::needs_baseline) {
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
