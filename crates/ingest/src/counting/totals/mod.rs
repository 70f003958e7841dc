//! The counts of a whole run, accumulated block by block: seconds, labels and failures.

mod ahead;
mod cells;
mod failures;
mod names;
pub(crate) mod part;

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::cells::{NameIndexes, TotalCells};
use self::failures::{FailureCounts, FailureKey, NamedFailures};
use self::names::{
    INJECTOR_LIMIT, LabelCounts, NAME_BYTES, NameIndex, NameLimit, NameLimits, OF_RUN, TEXT_LIMIT,
};
use super::block::{BlockTally, LocalError};
use perfpipe_model::counts::spill::CellResult;
use perfpipe_model::counts::{ErrorCount, LABEL_LIMIT, LabelCount};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::shorten::short;
use perfpipe_model::sample::texts::Texts;

/// The default of `PipelineOptions::memory`, in bytes.
pub(crate) const DEFAULT_MEMORY: usize = 128 << 20;

/// The counts of a run, merged block by block in the order of the log.
///
/// Names are indexed in the order of their first appearance, so the result does not depend on where blocks end.
#[derive(Debug)]
pub(crate) struct Totals {
    limits: NameLimits,
    labels: NameIndex,
    injectors: NameIndex,
    response_codes: NameIndex,
    messages: NameIndex,
    cells: TotalCells,
    errors: FailureCounts,
    /// The maximum number of kinds of failure in separate counts.
    separate_errors: usize,
    label_counts: LabelCounts,
    /// The number of successful requests.
    pub(crate) successes: u64,
    /// The number of failed requests.
    pub(crate) failures: u64,
    /// The number of transaction records.
    pub(crate) transactions: u64,
}

impl Default for Totals {
    fn default() -> Self {
        Self::new(DEFAULT_MEMORY, None)
    }
}

impl Totals {
    /// Creates empty counts. A fifth of `memory` (bytes) is for cells. The rest of the cells go to a temporary file in
    /// `folder`, or in the system's temporary folder if `None`.
    pub(crate) fn new(memory: usize, folder: Option<PathBuf>) -> Self {
        Self {
            limits: OF_RUN,
            labels: NameIndex::default(),
            injectors: NameIndex::default(),
            response_codes: NameIndex::default(),
            messages: NameIndex::default(),
            cells: TotalCells::new(memory, folder),
            errors: FailureCounts::default(),
            separate_errors: failures::separate_limit(memory),
            label_counts: LabelCounts::default(),
            successes: 0,
            failures: 0,
            transactions: 0,
        }
    }

    /// Creates empty counts in which the given labels have cells of their own. Further ones have their own only below
    /// the limit.
    pub(crate) fn with_labels<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let mut totals = Self::default();
        for label in labels {
            totals.labels.index(label, NameLimit::of_run(usize::MAX));
        }
        totals
    }

    /// Adds the counts of a block.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(crate) fn add(&mut self, tally: &BlockTally) -> Result<()> {
        for label in tally.labels.iter() {
            self.label_counts.of(label);
        }
        let labels: Vec<u32> =
            tally.labels.iter().map(|name| self.labels.index(name, self.limits.labels)).collect();
        // The unknown injector is indexed first: a block does not record at which row it appeared.
        let unknown_injector = self.injectors.index("", self.limits.injectors);
        let injectors: Vec<u32> =
            tally.injectors.iter().map(|name| self.injectors.index(name, self.limits.injectors)).collect();
        let no_label = if self.count(tally) { self.labels.index("", self.limits.labels) } else { 0 };
        let indexes = NameIndexes { labels, no_label, injectors, unknown_injector };
        self.cells.add(tally, &indexes)?;
        let failures = self.failures_of(tally, &indexes)?;
        self.errors.add_all(failures, self.cells.past());
        Ok(())
    }

    /// Adds the samples of a block to the whole-run figures. Returns true if some have no label.
    fn count(&mut self, tally: &BlockTally) -> bool {
        let of_labels = tally.of_labels();
        for (at, count) in of_labels.iter().enumerate() {
            self.transactions += count.transactions;
            self.successes += count.successes;
            self.failures += count.failures;
            if count.samples() > 0 {
                self.label_counts.of(tally.labels.get(at).unwrap_or_default()).add(count);
            }
        }
        of_labels.last().is_some_and(|without| without.samples() > 0)
    }

    /// The failures of a block, with the indexes of their names.
    fn failures_of(&mut self, tally: &BlockTally, indexes: &NameIndexes) -> Result<Vec<(FailureKey, u64)>> {
        let lost = || Error::bug("counting failures", "a text of theirs was not kept");
        let messages: Vec<u32> = tally
            .messages
            .iter()
            .map(|message| self.messages.index(&short(message), self.limits.texts))
            .collect();
        let response_codes = self.response_codes(tally).ok_or_else(lost)?;
        let failure = |(local, count): &(LocalError, u64)| {
            let key = FailureKey {
                second: local.second,
                label: indexes.label(local.label),
                response_code: *response_codes.get(&local.response_code).ok_or_else(lost)?,
                message: *messages.get(local.message as usize).ok_or_else(lost)?,
                transaction: local.transaction,
            };
            Ok((key, *count))
        };
        tally.errors.iter().map(failure).collect()
    }

    /// The indexes of the response codes of a block's failures, by the block's own codes; `None` if one has no text.
    fn response_codes(&mut self, tally: &BlockTally) -> Option<BTreeMap<u32, u32>> {
        let mut codes: BTreeMap<u32, u32> =
            tally.errors.iter().map(|(local, _)| (local.response_code, 0)).collect();
        for (local, index) in &mut codes {
            let name = match *local {
                // The log has no response codes.
                Texts::NULL => "",
                known => tally.response_codes.get(known as usize)?,
            };
            *index = self.response_codes.index(&short(name), self.limits.texts);
        }
        Some(codes)
    }

    /// The labels by index, as used in the keys of cells.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.labels.owned()
    }

    /// The injectors by index, as used in the cells.
    pub(crate) fn injectors(&self) -> Vec<String> {
        self.injectors.owned()
    }

    /// The label of all requests, if there is exactly one and it is not empty.
    pub(crate) fn single_label(&self) -> Option<&str> {
        let mut requests =
            self.label_counts.counts.values().filter(|(_, count)| count.successes + count.failures > 0);
        match (requests.next(), requests.next()) {
            (Some((_, count)), None) if !count.label.is_empty() => Some(&count.label),
            _ => None,
        }
    }

    /// The failures, ascending.
    pub(crate) fn errors(&self) -> impl Iterator<Item = Result<ErrorCount>> + Send + '_ {
        self.errors_between(0, u32::MAX)
    }

    /// The failures of the seconds from `first` to `last`, both inclusive, ascending. Fails only for a bug in perfpipe.
    pub(crate) fn errors_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Result<ErrorCount>> + Send + '_ {
        let names = [&self.labels, &self.response_codes, &self.messages];
        NamedFailures::new(self.errors.between(first, last), self.errors.others_between(first, last), names)
    }

    /// Goes on to another log, whose seconds may be those of the logs before once more. Its counts are packed by
    /// themselves, and added to the others when they are read.
    ///
    /// # Errors
    /// When the temporary file can't be written.
    pub(crate) fn begin_log(&mut self) -> Result<()> {
        self.cells.restart()
    }

    /// The cells, ascending by key, with their counts packed.
    pub(crate) fn cells(&self) -> impl Iterator<Item = CellResult> + Send + '_ {
        self.cells_between(0, u32::MAX)
    }

    /// The cells of the seconds from `first` to `last`, both inclusive, ascending by key.
    pub(crate) fn cells_between(
        &self,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = CellResult> + Send + '_ {
        self.cells.between(first, last)
    }

    /// Whole-run counts by label, ascending by label.
    pub(crate) fn label_counts(&self) -> Vec<LabelCount> {
        let mut counts: Vec<LabelCount> =
            self.label_counts.counts.values().map(|(_, count)| count.clone()).collect();
        counts.sort_unstable_by(|a, b| a.label.cmp(&b.label));
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::block::LocalKey;
    use super::*;
    use perfpipe_model::counts::spill::opened;
    use perfpipe_model::counts::table::CellTable;
    use perfpipe_model::counts::{Cell, InjectorLoad};
    use perfpipe_model::sample::reserved::OTHER;
    use perfpipe_model::sample::shorten::MESSAGE_LIMIT;
    use perfpipe_model::sample::text_list::TextList;
    use perfpipe_model::sample::texts::Texts;
    use proptest::prelude::*;

    fn all_errors(totals: &Totals) -> Vec<ErrorCount> {
        totals.errors().collect::<Result<_>>().unwrap()
    }

    /// A cell with two samples of the first label.
    fn cell(second: u32, elapsed: i32) -> (LocalKey, Cell) {
        let key = LocalKey { second, label: 0, success: true, transaction: false };
        let cell = Cell {
            elapsed: vec![(elapsed, 2)],
            injectors: vec![InjectorLoad { injector: Texts::NULL, samples: 2, threads: 8 }],
            ..Cell::default()
        };
        (key, cell)
    }

    fn tally(second: u32, label: &str, elapsed: i32) -> BlockTally {
        BlockTally::of(vec![cell(second, elapsed)], [label])
    }

    #[test]
    fn late_record_opens_a_packed_second_again() {
        let mut totals = Totals::default();
        for second in [0, 1, 500, 0, 1000, 1] {
            totals.add(&tally(second, "a", second as i32)).unwrap();
        }
        let cells = totals.cells().map(opened).collect::<Result<Vec<_>>>().unwrap();
        let table = CellTable::new(vec!["a".into()], vec![String::new()], cells.clone());
        assert_eq!(table.iter().collect::<Result<Vec<_>>>().unwrap(), cells, "ascending, each key once");
        let counts: Vec<_> = cells.iter().map(|(key, cell)| (key.second, cell.samples())).collect();
        assert_eq!(counts, [(0, 4), (1, 4), (500, 2), (1000, 2)]);
        assert_eq!(cells[0].1.injectors, [InjectorLoad { injector: 0, samples: 4, threads: 16 }]);
    }

    proptest! {
        #[test]
        fn any_order_of_seconds_is_counted_alike_however_little_memory_there_is(
            seconds in prop::collection::vec((0..300u32, 0..3usize, 0..50i32, prop::bool::weighted(0.1)), 0..200),
            memory in prop_oneof![Just(0), 1..40_000usize],
        ) {
            let mut totals = Totals::new(memory, None);
            let mut expected: BTreeMap<(u32, &str), Cell> = BTreeMap::new();
            for (second, label, elapsed, of_another_log) in seconds {
                if of_another_log {
                    totals.begin_log()?;
                }
                let label = ["a", "b", "c"][label];
                let (_, mut cell) = cell(second, elapsed);
                cell.injectors[0].injector = 0;
                expected.entry((second, label)).or_default().merge(&cell);
                totals.add(&tally(second, label, elapsed))?;
                prop_assert!(totals.cells.is_within(&cell));
            }
            let mut found = BTreeMap::new();
            let labels = totals.labels();
            for cell in totals.cells().map(opened) {
                let (key, cell) = cell?;
                let label = labels[key.label as usize].as_str();
                prop_assert!(found.insert((key.second, label), cell).is_none(), "each key once");
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn seconds_are_packed_soon_where_none_come_late_and_those_that_do_are_added_all_the_same() {
        let mut totals = Totals::default();
        let seconds = |from: u32| (from..from + 10).map(|second| cell(second, second as i32)).collect();
        for block in 0..20 {
            totals.add(&BlockTally::of(seconds(10 * block), ["a"])).unwrap();
        }
        assert_eq!(totals.cells.open(), 3, "the newest second and two before it");
        totals.add(&BlockTally::of(seconds(150), ["a"])).unwrap();
        let counts: Vec<_> =
            totals.cells().map(opened).map(|cell| cell.map(|(_, cell)| cell.samples()).unwrap()).collect();
        assert_eq!(counts, [[2; 150].as_slice(), &[4; 10], &[2; 40]].concat());
        (20..27).for_each(|block| totals.add(&BlockTally::of(seconds(10 * block), ["a"])).unwrap());
        assert_eq!(totals.cells.open(), 61, "as many as can be");
    }

    #[test]
    fn labels_beyond_the_limit_share_a_cell_but_keep_their_counts() {
        let mut totals = Totals::default();
        for label in 0..LABEL_LIMIT + 50 {
            totals.add(&tally(0, &format!("label {label}"), 1)).unwrap();
        }
        assert_eq!(totals.labels().len(), LABEL_LIMIT + 1);
        assert_eq!(totals.labels().last().unwrap(), OTHER);
        let last = totals.cells().map(opened).last().unwrap().unwrap();
        assert_eq!(last.1.samples(), 100);
        assert_eq!(totals.label_counts().len(), LABEL_LIMIT + 50);
        assert_eq!(totals.successes, 2 * (LABEL_LIMIT as u64 + 50));
    }

    /// A tally of failures with one label and code, given as (second, message), with a cell of each second.
    fn failures(kinds: &[(u32, u32)], messages: &[String]) -> BlockTally {
        let error = |(second, message): &(u32, u32)| LocalError {
            second: *second,
            label: 0,
            response_code: 0,
            message: *message,
            transaction: false,
        };
        let mut errors: Vec<_> = kinds.iter().map(|kind| (error(kind), 1)).collect();
        errors.sort_unstable();
        let seconds: BTreeSet<u32> = kinds.iter().map(|(second, _)| *second).collect();
        let mut tally = BlockTally::of(seconds.into_iter().map(|second| cell(second, 1)).collect(), ["a"]);
        tally.errors = errors;
        tally.response_codes = ["500"].into_iter().collect();
        tally.messages = messages.iter().collect();
        tally
    }

    #[test]
    fn messages_beyond_the_limit_share_a_name_wherever_a_block_ends() {
        let messages: Vec<String> = (0..TEXT_LIMIT + 300).map(|n| format!("message {n}")).collect();
        // Failures of a block are sorted by second first, messages are in the order of the log.
        let kinds: Vec<(u32, u32)> = (0..messages.len() as u32).map(|n| (9 - n % 10, n)).collect();
        let mut whole = Totals::default();
        whole.add(&failures(&kinds, &messages)).unwrap();
        let mut pieces = Totals::default();
        for (kinds, messages) in kinds.chunks(7).zip(messages.chunks(7)) {
            let local: Vec<(u32, u32)> = (0..).zip(kinds).map(|(n, (second, _))| (*second, n)).collect();
            pieces.add(&failures(&local, messages)).unwrap();
        }
        let errors = all_errors(&whole);
        assert_eq!(errors, all_errors(&pieces));
        assert_eq!(errors.iter().map(|error| error.count).sum::<u64>(), messages.len() as u64);
        let others: u64 = errors.iter().filter(|e| *e.message == *OTHER).map(|e| e.count).sum();
        assert_eq!((others, errors.len()), (300, TEXT_LIMIT + 10));
        assert!(errors.iter().all(|error| *error.message != format!("message {TEXT_LIMIT}")));
    }

    #[test]
    fn failure_whose_response_code_is_lost_is_an_error() {
        let mut tally = failures(&[(0, 0)], &["refused".to_owned()]);
        tally.response_codes = TextList::default();
        assert_eq!(Totals::default().add(&tally).unwrap_err().code(), "bug");
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let mut totals = Totals::default();
        totals.add(&failures(&[(0, 0)], &["é".repeat(MESSAGE_LIMIT + 1)])).unwrap();
        assert_eq!(*all_errors(&totals)[0].message, "é".repeat(MESSAGE_LIMIT));
    }

    #[test]
    fn kinds_of_failures_are_bounded_whatever_their_order_and_none_is_lost() {
        let messages: Vec<String> = (0..TEXT_LIMIT).map(|n| n.to_string()).collect();
        let seconds = failures::LIMIT as u32 / TEXT_LIMIT as u32 + 20;
        let of_second = |second: u32| (0..TEXT_LIMIT as u32).map(move |n| (second, n));
        let add = |totals: &mut Totals, seconds: &[u32]| {
            let kinds: Vec<_> = seconds.iter().flat_map(|second| of_second(*second)).collect();
            let mut tally = failures(&kinds, &messages);
            // Sorts before the name of those beyond the limit.
            tally.response_codes = [""].into_iter().collect();
            totals.add(&tally).unwrap();
            assert!(totals.errors.len() <= failures::LIMIT);
        };
        let (mut forwards, mut backwards) = (Totals::default(), Totals::default());
        let all: Vec<u32> = (0..seconds).collect();
        all.chunks(10).for_each(|seconds| add(&mut forwards, seconds));
        all.rchunks(10).for_each(|seconds| add(&mut backwards, seconds));
        let errors = all_errors(&forwards);
        let beyond = errors.iter().filter(|error| *error.response_code == *OTHER);
        assert_eq!(beyond.count(), 20);
        assert!(errors == all_errors(&backwards), "the same failures, the same counts");
        assert_eq!(errors.len(), failures::LIMIT + 20);
        let counted: u64 = errors.iter().map(|error| error.count).sum();
        assert_eq!(counted, u64::from(seconds) * TEXT_LIMIT as u64);
    }

    #[test]
    fn injectors_beyond_the_limit_share_one_entry_of_a_cell() {
        let (key, mut cell) = cell(0, 1);
        let injectors = INJECTOR_LIMIT as u32 + 10;
        cell.injectors =
            (0..injectors).map(|injector| InjectorLoad { injector, samples: 1, threads: 2 }).collect();
        let injectors: TextList = (0..injectors).map(|n| n.to_string()).collect();
        let mut tally = BlockTally::of(vec![(key, cell)], ["a"]);
        tally.injectors = injectors.clone();
        let mut totals = Totals::default();
        totals.add(&tally).unwrap();
        totals.add(&tally).unwrap();
        let (_, cell) = totals.cells().map(opened).next().unwrap().unwrap();
        assert_eq!(cell.injectors.len(), INJECTOR_LIMIT, "those with indexes of their own, and the others");
        assert_eq!(cell.injectors.iter().map(|load| load.samples).sum::<u64>(), 2 * injectors.len() as u64);
        assert!(cell.injectors.is_sorted_by(|a, b| a.injector < b.injector));
    }

    #[test]
    fn labels_of_megabytes_are_few() {
        let mut totals = Totals::default();
        for label in ["a", "b", "c", "d", "e", "f"] {
            totals.add(&tally(0, &label.repeat(NAME_BYTES / 4), 1)).unwrap();
        }
        assert_eq!((totals.labels().len(), totals.label_counts().len()), (5, 5));
        assert_eq!(totals.labels().last().unwrap(), OTHER);
        assert_eq!(totals.successes, 12);
    }

    #[test]
    fn whole_run_counts_of_labels_are_bounded_wherever_a_block_ends() {
        let labels: Vec<String> = (0..names::LABEL_COUNT_LIMIT + 5).map(|n| n.to_string()).collect();
        let block = |labels: &[String]| {
            let (key, cell) = cell(0, 1);
            // The later a label came, the earlier its cell.
            let codes = 0..labels.len() as u32;
            let key = |label| LocalKey { second: codes.end - label, label, ..key };
            BlockTally::of(codes.clone().map(|label| (key(label), cell.clone())).collect(), labels)
        };
        let (mut whole, mut pieces) = (Totals::default(), Totals::default());
        whole.add(&block(&labels)).unwrap();
        labels.chunks(1000).for_each(|labels| pieces.add(&block(labels)).unwrap());
        assert_eq!(whole.label_counts().len(), names::LABEL_COUNT_LIMIT + 1);
        assert!(whole.label_counts() == pieces.label_counts());
    }
}
