//! Counts the failures of blocks.

use hashbrown::HashMap;

use crate::counting::block::{LocalError, LocalKey};
use perfpipe_formats::jtl::parsed::Parsed;
use perfpipe_model::sample::texts::Texts;

/// The failures of a block, ascending.
pub(super) fn of_block(parsed: &Parsed) -> Vec<(LocalError, u64)> {
    let mut counts = HashMap::new();
    each(parsed, |error| *counts.entry(error).or_default() += 1);
    ascending(counts)
}

/// Calls `take` with each failure.
fn each(parsed: &Parsed, mut take: impl FnMut(LocalError)) {
    let batch = &parsed.batch;
    for (row, message) in &parsed.failures {
        let row = *row as usize;
        let Some(LocalKey { second, label, transaction, .. }) = LocalKey::of(batch, row) else { continue };
        let response_code = batch.response_code.codes().get(row).copied().unwrap_or(Texts::NULL);
        take(LocalError { second, label, response_code, message: *message, transaction });
    }
}

fn ascending(counts: HashMap<LocalError, u64>) -> Vec<(LocalError, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}
