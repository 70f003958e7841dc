//! Runs in pairs: what is said of those that are none, and what is refused.

use perfpipe_analyze::{Error, PairFault, Pairing};
use perfpipe_ingest::RunInfo;

/// Finds the pairs of two sides, and what is to be said of runs that are in none.
///
/// # Errors
/// If the runs of a pair were measured neither in turn nor at once.
pub(crate) fn of_sides(a: &[&RunInfo], b: &[&RunInfo]) -> Result<(Pairing, Vec<String>), Error> {
    let pairing = Pairing::of(a, b);
    let mut notes = Vec::new();
    for fault in &pairing.faults {
        match fault {
            PairFault::Overlap { .. } => return Err(fault.clone().into()),
            // Repeats are compared then.
            PairFault::Untagged(_) if !pairing.is_enough() => {}
            fault => notes.push(format!("{fault} and is left out")),
        }
    }
    Ok((pairing, notes))
}
