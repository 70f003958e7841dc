//! Verdicts as sentences.

use perfpipe_analyze::Verdict;
use perfpipe_analyze::format::Unit;

/// Describes a verdict in a sentence.
pub(crate) fn sentence(verdict: &Verdict) -> String {
    let round = 10f64.powi(verdict.decimals().max(3).into());
    let figure = |value: Option<f64>| {
        value.map(|value| format!("{}{}", (value * round).round() / round, unit(verdict)))
    };
    let found = figure(verdict.value).unwrap_or_else(|| "no value".into());
    let limit = figure(verdict.limit).map(|limit| format!(", limit {limit}"));
    let seconds = verdict.span.map(|span| format!(", in seconds {} to {}", span.first, span.last));
    let note = verdict.note.as_ref().map(|note| format!(": {note}"));
    let outcome = if verdict.holds { "passed" } else { "failed" };
    let rest = [limit, seconds, note].into_iter().flatten().collect::<String>();
    format!("{} {outcome} in {}: {found}{rest}", verdict.rule, verdict.run)
}

fn unit(verdict: &Verdict) -> String {
    if verdict.unit == Unit::None { String::new() } else { format!(" {}", verdict.unit) }
}
