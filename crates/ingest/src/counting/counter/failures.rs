//! Counts the failures of blocks.

use hashbrown::HashMap;

use crate::counting::block::KnownNames;
use crate::counting::block::{BlockTally, LocalError, LocalKey};
use perfpipe_formats::jtl::parsed::Parsed;
use perfpipe_model::sample::long_text::short;
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

/// The failures of several blocks.
#[derive(Default)]
pub(super) struct OfBlocks {
    counts: HashMap<LocalError, u64>,
    response_codes: Texts,
    messages: Texts,
}

impl OfBlocks {
    /// Adds those of a block, whose labels have these codes in the tally, if the run has their texts. Returns false if it has
    /// not.
    pub(super) fn add(&mut self, parsed: &Parsed, labels: &[u32], known: &KnownNames) -> bool {
        let codes = parsed.batch.response_code.values();
        let mut fails_with = vec![false; codes.len() + 1];
        each(parsed, |error| {
            let place = fails_with.get_mut((error.response_code as usize).min(codes.len()));
            place.into_iter().for_each(|fails| *fails = true);
        });
        let failing = codes.iter().chain([""]).zip(fails_with).filter(|(_, fails)| *fails);
        let are_known =
            failing.map(|(code, _)| code).all(|code| known.response_codes.contains(&*short(code)))
                && parsed.messages.values().iter().all(|message| known.messages.contains(&*short(message)));
        if !are_known {
            return false;
        }
        let code_of = |texts: &Texts, own: &mut Texts| -> Vec<u32> {
            texts.values().iter().map(|text| own.code(text.as_bytes())).collect()
        };
        let response_codes = code_of(&parsed.batch.response_code, &mut self.response_codes);
        let messages = code_of(&parsed.messages, &mut self.messages);
        let now = |codes: &[u32], code: u32| codes.get(code as usize).copied().unwrap_or(Texts::NULL);
        each(parsed, |error| {
            let error = LocalError {
                label: now(labels, error.label),
                response_code: now(&response_codes, error.response_code),
                message: now(&messages, error.message),
                ..error
            };
            *self.counts.entry(error).or_default() += 1;
        });
        true
    }

    /// Moves the failures to the tally of the blocks.
    pub(super) fn end(&mut self, tally: &mut BlockTally) {
        tally.errors = ascending(std::mem::take(&mut self.counts));
        tally.response_codes = self.response_codes.take_values();
        tally.messages = self.messages.take_values();
        // Also their hashes.
        self.response_codes.clear();
        self.messages.clear();
    }
}
