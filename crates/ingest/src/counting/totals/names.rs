//! Names of labels, injectors, response codes and messages, and the limits of their numbers.

use std::sync::Arc;

use hashbrown::HashMap;

use perfpipe_model::counts::part::PART_NAMES;
use perfpipe_model::counts::{LABEL_LIMIT, LabelCount};
use perfpipe_model::sample::intern::Interner;
use perfpipe_model::sample::reserved::OTHER;

/// The number of labels that have whole-run counts of their own.
pub(super) const LABEL_COUNT_LIMIT: usize = PART_NAMES;

/// The number of distinct messages of failures that are kept; also of distinct response codes.
pub(super) const TEXT_LIMIT: usize = 1_000;

/// The number of distinct injectors that are kept.
pub(super) const INJECTOR_LIMIT: usize = 10_000;

/// The maximum total size of the names of one sort, in bytes. A single name may be megabytes long.
pub(super) const NAME_BYTES: usize = 16 << 20;

/// How many names of a sort have an index of their own, and their maximum total size in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameLimit {
    pub(super) names: usize,
    pub(super) bytes: usize,
}

impl NameLimit {
    /// The limit of a sort of names of a run.
    pub(super) const fn of_run(names: usize) -> Self {
        Self { names, bytes: NAME_BYTES }
    }
}

/// The limits of each sort of names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameLimits {
    pub(super) labels: NameLimit,
    pub(super) injectors: NameLimit,
    /// Response codes, and messages.
    pub(super) texts: NameLimit,
}

/// The limits of a run.
pub(super) const OF_RUN: NameLimits = NameLimits {
    labels: NameLimit::of_run(LABEL_LIMIT),
    injectors: NameLimit::of_run(INJECTOR_LIMIT),
    texts: NameLimit::of_run(TEXT_LIMIT),
};

/// Names by index. Beyond a limit all further names share [`OTHER`].
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    pub(super) names: Interner,
    /// True if a name shares [`OTHER`].
    pub(super) shares: bool,
}

impl NameIndex {
    pub(super) fn index(&mut self, name: &str, limit: NameLimit) -> u32 {
        if let Some(index) = self.names.find(name.as_bytes()) {
            return index;
        }
        let names = self.names.texts();
        let fits = names.len() < limit.names && names.bytes() + name.len() <= limit.bytes;
        self.shares |= !fits;
        self.names.number(if fits { name } else { OTHER })
    }

    /// The names by index, as owned strings.
    pub(super) fn owned(&self) -> Vec<String> {
        self.names.texts().iter().map(str::to_owned).collect()
    }

    /// The names by index, as shared strings.
    pub(super) fn shared(&self) -> Vec<Arc<str>> {
        self.names.texts().iter().map(Arc::from).collect()
    }
}

/// Whole-run counts by label. Beyond a limit all further labels share [`OTHER`].
#[derive(Debug, Default)]
pub(super) struct LabelCounts {
    /// Each with its number, in the order of first appearance.
    pub(super) counts: HashMap<String, (usize, LabelCount)>,
    /// The size of all labels, in bytes.
    pub(super) bytes: usize,
    /// True if a label shares [`OTHER`].
    pub(super) shares: bool,
}

impl LabelCounts {
    pub(super) fn of(&mut self, label: &str) -> &mut LabelCount {
        let fits = self.counts.len() < LABEL_COUNT_LIMIT && self.bytes + label.len() <= NAME_BYTES;
        let label = if fits || self.counts.contains_key(label) { label } else { OTHER };
        self.shares |= label == OTHER;
        let (number, bytes) = (self.counts.len(), &mut self.bytes);
        let (_, count) = self.counts.entry_ref(label).or_insert_with(|| {
            *bytes += label.len();
            (number, LabelCount { label: label.to_owned(), ..LabelCount::default() })
        });
        count
    }

    /// The counts in the order in which their labels first appeared.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &LabelCount> {
        let mut counts: Vec<&(usize, LabelCount)> = self.counts.values().collect();
        counts.sort_unstable_by_key(|(number, _)| *number);
        counts.into_iter().map(|(_, count)| count)
    }
}
