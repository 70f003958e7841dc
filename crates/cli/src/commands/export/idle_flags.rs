//! Refusal of flags that have no effect on the export: whoever gives one expects the figures to depend on it.

use anyhow::Result;
use clap::ValueEnum;
use perfpipe_analyze::Goal;

use super::args::{ExportArgs, What};
use crate::error::CliError;

/// The names of flags on the view.
const FROM: &str = "--from";
const TO: &str = "--to";
const PHASE: &str = "--phase";
const LABEL: &str = "--label";
const TRANSACTIONS: &str = "--transactions";
const FAILURES: &str = "--include-failures";
const INJECTORS: &str = "--injectors";
const OFFSET: &str = "--cpu-offset";
const LOOKBACK: &str = "--cpu-lookback";
const PERCENTILES: &str = "--percentiles";
const TOP_LEVEL: &str = "--top-level";
const WITHIN: &str = "--within";
const APDEX: &str = "--apdex";
const CORRECTED: &str = "--corrected";

/// Flags that select seconds.
const WHEN: [&str; 3] = [FROM, TO, PHASE];
/// Flags that select records.
const WHICH: [&str; 2] = [LABEL, TRANSACTIONS];
/// Flags that affect load, CPU and percentiles.
const FIGURES: [&str; 5] = [FAILURES, INJECTORS, OFFSET, LOOKBACK, PERCENTILES];
/// Flags for goals for response times.
const GOALS: [&str; 2] = [WITHIN, APDEX];

/// Returns the flags that have an effect on an export.
fn acting(what: What) -> Vec<&'static str> {
    let sets: &[&[&str]] = match what {
        What::Summary => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL], &GOALS, &[CORRECTED]],
        What::Seconds => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL], &GOALS],
        What::Phases | What::Sweep | What::Run => &[&WHEN, &WHICH, &FIGURES, &[TOP_LEVEL]],
        What::Labels => &[&WHEN, &WHICH, &[FAILURES, TOP_LEVEL]],
        What::Hgrm => &[&WHEN, &WHICH, &[FAILURES, TOP_LEVEL, CORRECTED]],
        What::Errors => &[&WHEN, &WHICH, &[TOP_LEVEL]],
        What::Statistics | What::Codes => &[&WHEN, &WHICH],
        What::Percentiles => &[&WHEN, &WHICH, &[FAILURES, PERCENTILES]],
        What::Samples => &[&WHEN, &[LABEL]],
        What::Cpu | What::Series => &[&WHEN, &[OFFSET]],
        What::Rejects | What::Counts | What::Points | What::PointSeconds => &[],
    };
    sets.concat()
}

/// Returns the reason why a flag has no effect, if there is more to say than what it is for.
fn why(what: What, flag: &str) -> &'static str {
    match (what, flag) {
        (What::Samples, OFFSET | LOOKBACK) => {
            ": samples keep the reading that they were joined to; attach-cpu joins them again"
        }
        (What::Samples, TRANSACTIONS | FAILURES) => {
            ": transactions and failures are among the samples, and marked"
        }
        (What::Labels, PERCENTILES) => {
            ": it has the 50th, 95th and 99th always; --what summary --label takes others"
        }
        (What::Statistics, PERCENTILES | FAILURES) => {
            ": like JMeter's own file, it has fixed ones, which include failures"
        }
        (What::Samples | What::Statistics | What::Percentiles | What::Codes, TOP_LEVEL) => {
            ": it selects counts, and these figures come from the samples"
        }
        (What::Rejects, _) => ": a reject has no known time",
        _ => "",
    }
}

/// Returns the flags that were given.
fn made(args: &ExportArgs) -> impl Iterator<Item = &'static str> {
    let goals = args.goals.goals();
    let others = [
        (PERCENTILES, args.view.percentiles.is_some()),
        (WITHIN, goals.iter().any(|goal| matches!(goal, Goal::Within(_)))),
        (APDEX, goals.iter().any(|goal| matches!(goal, Goal::Apdex(_)))),
        (CORRECTED, args.corrected.is_some()),
    ];
    args.view.scope.given().chain(others.into_iter().filter_map(|(flag, made)| made.then_some(flag)))
}

/// Refuses flags that have no effect on the export.
///
/// # Errors
/// If there is such a flag; the remedy names the exports that it is for.
pub(super) fn check(args: &ExportArgs) -> Result<()> {
    let what = args.what;
    let Some(flag) = made(args).find(|flag| !acting(what).contains(flag)) else { return Ok(()) };
    let named = |what: &What| what.to_possible_value().map(|value| value.get_name().to_owned());
    let good: Vec<String> = What::value_variants()
        .iter()
        .filter(|what| acting(**what).contains(&flag))
        .filter_map(named)
        .collect();
    let (name, why) = (named(&what).unwrap_or_default(), why(what, flag));
    let problem = format!("{flag} has no effect on --what {name}{why}");
    Err(CliError::usage(problem, format!("Leave it out; it is for --what {}.", good.join(", "))).into())
}
