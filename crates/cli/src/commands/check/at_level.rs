//! Rules about the points of a sweep at one concurrency.

use anyhow::Result;
use perfpipe_analyze::points::check_points;
use perfpipe_analyze::{Rule, Verdict};
use perfpipe_ingest::Store;

use super::args::CheckArgs;
use crate::args::ScopeArgs;
use crate::error::CliError;
use crate::input::points;

/// Refuses rules about points where runs are named or chosen by tags, which points do not have.
pub(super) fn refuse_names(rules: &[Rule], args: &CheckArgs) -> Result<()> {
    let Some(rule) = rules.first() else { return Ok(()) };
    if args.of.test.is_some() && args.of.tag.is_empty() {
        return Ok(());
    }
    let problem = format!("the rule `{rule}` is about points, which have neither names nor tags");
    Err(CliError::usage(problem, "Choose them by --test, and by --framework if need be.").into())
}

/// Refuses flags on the view beside rules about points, which the flags do not touch.
pub(super) fn refuse_view(rules: &[Rule], scope: &ScopeArgs) -> Result<()> {
    let Some((rule, flag)) = rules.first().zip(scope.given().next()) else { return Ok(()) };
    let problem = format!("{flag} has no effect on the rule `{rule}`, which is about points");
    Err(CliError::usage(problem, "Check rules about runs, which it is for, by a command of their own.")
        .into())
}

/// Checks the points that the flags select.
///
/// # Errors
/// If there is none.
pub(super) async fn verdicts(rules: &[Rule], args: &CheckArgs, store: &Store) -> Result<Vec<Verdict>> {
    match rules {
        [] => Ok(Vec::new()),
        rules => Ok(check_points(rules, &points::selected(store.points().await?, &args.of)?)),
    }
}
