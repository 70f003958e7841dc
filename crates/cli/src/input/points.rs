//! The points of a store that flags select.

use std::collections::BTreeSet;

use anyhow::Result;
use perfpipe_analyze::is_alike;
use perfpipe_analyze::points::point_of_run;
use perfpipe_ingest::Store;
use perfpipe_ingest::points::{Point, PointKey};

use crate::args::TestArgs;
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::output::note;

/// Returns the points of summaries, and with them the stored runs of a test: the hold of each is a point.
///
/// A run without a hold is left out, and said to be. A point of a summary that a run has the key of is the same
/// measurement, less exactly: it is left out too.
pub(crate) async fn with_runs(store: &Store, test: &str, left_out: &mut LeftOut) -> Result<Vec<Point>> {
    let runs = left_out.of_test(store, Some(test)).await?;
    let mut held = Vec::new();
    for info in runs.iter().filter(|info| info.key.test == test) {
        let read = store.read(&info.key).await.map_err(Into::into);
        let Some(run) = left_out.or_leave_out(&info.key, read)? else { continue };
        match point_of_run(&run)? {
            Some(point) => held.push(point),
            None => note(&format!("{} has no hold, so it is not a point of the sweep", info.key)),
        }
    }
    let keys: BTreeSet<&PointKey> = held.iter().map(|point| &point.key).collect();
    let mut points = store.points().await?;
    points.retain(|point| {
        let is_new = !keys.contains(&point.key);
        if !is_new {
            note(&format!("{} is taken from the stored run, not from the summary", point.key));
        }
        is_new
    });
    points.extend(held);
    points.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(points)
}

/// Returns the points of summaries of a test, limited to frameworks and tools, if any are given.
///
/// # Errors
/// If there is none.
pub(crate) async fn of_test(
    store: &Store,
    test: &str,
    frameworks: &[String],
    tools: &[String],
) -> Result<Vec<Point>> {
    among(&store.points().await?, test, frameworks, tools)
}

/// Returns the points that flags for runs select: those of the test, frameworks and repeats. Points have no tags.
///
/// # Errors
/// If there is none.
pub(crate) fn selected(all: Vec<Point>, of: &TestArgs) -> Result<Vec<Point>> {
    let Some(test) = &of.test else { return Ok(all) };
    let mut chosen = among(&all, test, &of.framework, &[])?;
    if let Some(repeat) =
        of.repeat.iter().find(|repeat| chosen.iter().all(|point| point.key.repeat != **repeat))
    {
        let problem = format!("the store has no points of the repeat {repeat} of the test {test}");
        return Err(CliError::refused(problem, "See `perfpipe list --points`.").into());
    }
    chosen.retain(|point| of.repeat.is_empty() || of.repeat.contains(&point.key.repeat));
    Ok(chosen)
}

/// Returns the points of a test among others, limited to frameworks and tools, if any are given.
///
/// # Errors
/// If there is none.
pub(crate) fn among(
    all: &[Point],
    test: &str,
    frameworks: &[String],
    tools: &[String],
) -> Result<Vec<Point>> {
    known(all, "test", test, |key| &key.test)?;
    let mut chosen: Vec<Point> = all.iter().filter(|point| point.key.test == test).cloned().collect();
    for framework in frameworks {
        known(&chosen, "framework", framework, |key| &key.framework)?;
    }
    for tool in tools {
        known(&chosen, "tool", tool, |key| &key.tool)?;
    }
    let is_of = |wanted: &[String], name: &String| wanted.is_empty() || wanted.contains(name);
    chosen.retain(|point| is_of(frameworks, &point.key.framework) && is_of(tools, &point.key.tool));
    Ok(chosen)
}

/// Fails if no point has a part of the key, with the names that there are.
fn known(points: &[Point], what: &str, wanted: &str, part: impl Fn(&PointKey) -> &String) -> Result<()> {
    let names: BTreeSet<&String> = points.iter().map(|point| part(&point.key)).collect();
    if names.iter().any(|name| *name == wanted) {
        return Ok(());
    }
    let list = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let remedy = match names.iter().find(|name| is_alike(wanted, name)) {
        _ if names.is_empty() => "Store some: perfpipe ingest results/*.log --framework go.".to_owned(),
        Some(similar) => format!("Did you mean {similar}?"),
        None => format!("Choose one of these: {list}."),
    };
    Err(CliError::refused(format!("there are no points of the {what} {wanted}"), remedy).into())
}
