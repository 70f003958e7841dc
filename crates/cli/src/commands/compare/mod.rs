//! `perfpipe compare`: compares runs, or points of sweeps, with a baseline.

mod args;
mod comment;
mod points;
mod runs;
mod worse;

use anyhow::Result;

pub(crate) use self::args::{CompareArgs, deciding};
pub(super) use self::comment::figure_name;
pub(crate) use self::runs::{infos, notes};
use crate::args::StoreArgs;
use crate::input::points::PointName;

/// Prints what changed from A to each of the others.
pub(crate) async fn run(args: &CompareArgs, store: &StoreArgs) -> Result<()> {
    match (&args.of.test, PointName::all_of(args.a.iter().chain(&args.b))) {
        (Some(test), Some(names)) => points::run(args, test, &names, store).await,
        _ => runs::run(args, store).await,
    }
}
