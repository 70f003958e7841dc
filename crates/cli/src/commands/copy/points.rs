//! Copies points: all of those that are chosen or none.

use std::collections::BTreeMap;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_ingest::points::{Point, PointKey};
use perfpipe_ingest::{Error, Store};

use super::args::CopyArgs;
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::points;

/// Returns the points that the flags select. Names and tags are those of runs, and select none.
///
/// # Errors
/// If no point is of the test.
pub(super) async fn chosen(
    args: &CopyArgs,
    from: &Store,
    left_out: &mut LeftOut,
) -> Result<Result<Vec<Point>>> {
    if !args.runs.run.is_empty() || !args.runs.of.tag.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    match from.points().await {
        // Damaged points do not keep the runs from being copied.
        Err(error @ Error::Store { .. }) => {
            left_out.add(&error);
            Ok(Ok(Vec::new()))
        }
        all => Ok(points::selected(all?, &args.runs.of)),
    }
}

/// Copies points, unless they are there already, and reads them back. Returns what was done.
///
/// # Errors
/// If the other store has other figures of a key, and they may not be replaced.
pub(super) async fn copy(from: &Store, chosen: &[Point], to: &Store, replace: bool) -> Result<String> {
    let there = by_key(to.points().await?);
    let (same, new): (Vec<Point>, Vec<Point>) =
        chosen.iter().cloned().partition(|point| there.get(&point.key) == Some(point));
    if let Some(taken) = new.iter().find(|point| there.contains_key(&point.key)).filter(|_| !replace) {
        return Err(CliError::refused(
            format!("{to} already has the point {}, with other figures; no point was copied", taken.key),
            "Copy with --replace to replace it, or select other points with --test and --framework.",
        )
        .into());
    }
    if new.is_empty() {
        let count = counted(same.len() as u64, "point");
        return Ok(format!("{count} already in {to}: read and found the same"));
    }
    to.put_points(&new).await?;
    let there = by_key(to.points().await?);
    if let Some(other) = new.iter().find(|point| there.get(&point.key) != Some(point)) {
        return Err(CliError::refused(
            format!("the point {} was read back from {to} with other figures", other.key),
            "Another command may have stored it meanwhile: copy again.",
        )
        .into());
    }
    let already = match same.len() as u64 {
        0 => String::new(),
        count => format!("; {} already there", counted(count, "point")),
    };
    let count = counted(new.len() as u64, "point");
    Ok(format!("copied {count} from {from} to {to}, read back the same{already}"))
}

fn by_key(points: Vec<Point>) -> BTreeMap<PointKey, Point> {
    points.into_iter().map(|point| (point.key.clone(), point)).collect()
}
