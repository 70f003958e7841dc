//! Rules for runs from a file, and the reading of runs for them.

use std::path::Path;

use anyhow::{Context, Result};
use perfpipe_analyze::Rule;
use perfpipe_ingest::{RunKey, Store, StoredRun};
use serde::Deserialize;

use super::{text_of, view};
use crate::args::ScopeArgs;
use crate::error::CliError;
use crate::output::line_of;

/// A TOML file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rules: Vec<toml::Spanned<String>>,
}

/// Returns the rules of a file.
pub(crate) fn of_file(path: &Path) -> Result<Vec<Rule>> {
    let text = text_of(path)?;
    let file: RuleFile = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(&text, span.start));
        let problem = format!("{}, line {line}: {}", path.display(), error.message());
        CliError::usage(problem, "Write it as in: rules = [\"p95 < 200ms\", \"failures < 1%\"]")
    })?;
    let read = |rule: &toml::Spanned<String>| {
        let place = || format!("{}, line {}", path.display(), line_of(&text, rule.span().start));
        rule.get_ref().parse::<Rule>().with_context(place)
    };
    file.rules.iter().map(read).collect()
}

/// Reads a run, with cells for every label that a rule or a flag names.
pub(crate) async fn read(
    store: &Store,
    key: &RunKey,
    rules: &[Rule],
    scope: &ScopeArgs,
) -> Result<StoredRun> {
    let mut run = read_for(store, key, rules).await?;
    if let Some(label) = &scope.label {
        view::count_separately(store, &mut run, label).await?;
    }
    view::top_level(store, &mut run, scope).await?;
    Ok(run)
}

/// Reads a run, with cells for every label that a rule names.
pub(crate) async fn read_for(store: &Store, key: &RunKey, rules: &[Rule]) -> Result<StoredRun> {
    let mut run = store.read(key).await?;
    for label in rules.iter().filter_map(Rule::label) {
        view::count_separately(store, &mut run, label).await?;
    }
    Ok(run)
}
