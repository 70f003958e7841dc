//! What is gathered over a whole run while its blocks stream past: seconds, labels, failures.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::counts::{Cell, CellKey, ErrorCount, LABEL_LIMIT, LabelCount, OTHER};
use crate::pack::{pack, unpack};
use crate::tally::{LocalError, LocalKey, Tally};

/// How many labels have whole-run counts of their own.
const LABEL_COUNT_LIMIT: usize = 100_000;

/// How many distinct messages, and how many distinct response codes, failures are told apart by.
const TEXT_LIMIT: usize = 1_000;

/// How many injectors are told apart.
const INJECTOR_LIMIT: usize = 10_000;

/// Characters kept of a message.
const MESSAGE_LIMIT: usize = 500;

/// How many kinds of failure a second, over all seconds, are told apart.
const ERROR_LIMIT: usize = 500_000;

/// A second this far behind the newest is packed; a late record opens it again.
const OPEN_SECONDS: u32 = 60;

/// Names by index; beyond a limit all further names share [`OTHER`].
#[derive(Debug, Default)]
struct Names {
    names: Vec<String>,
    by_name: HashMap<String, u32>,
}

impl Names {
    fn index(&mut self, name: &str, limit: usize) -> u32 {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        let name = if self.names.len() < limit { name } else { OTHER };
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), index);
        index
    }

    fn name(&self, index: u32) -> String {
        self.names.get(index as usize).cloned().unwrap_or_default()
    }
}

/// One kind of failure in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ErrorKey {
    second: u32,
    label: u32,
    response_code: u32,
    message: u32,
    transaction: bool,
}

/// The counts of a run, merged block by block in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    labels: Names,
    injectors: Names,
    response_codes: Names,
    messages: Names,
    open: BTreeMap<CellKey, Cell>,
    packed: BTreeMap<CellKey, Box<[u8]>>,
    newest: u32,
    errors: BTreeMap<ErrorKey, u64>,
    label_counts: HashMap<String, LabelCount>,
    /// Successful requests.
    pub(crate) successes: u64,
    /// Failed requests.
    pub(crate) failures: u64,
    /// Transaction records.
    pub(crate) transactions: u64,
}

impl Totals {
    /// Nothing yet, but this label has its place below the limit.
    pub(crate) fn with_label(label: &str) -> Self {
        let mut totals = Self::default();
        totals.labels.index(label, LABEL_LIMIT);
        totals
    }

    /// Adds a block's counts.
    pub(crate) fn add(&mut self, tally: &Tally) {
        let labels: Vec<u32> = tally.labels.iter().map(|name| self.labels.index(name, LABEL_LIMIT)).collect();
        let injectors: Vec<u32> =
            tally.injectors.iter().map(|name| self.injectors.index(name, INJECTOR_LIMIT)).collect();
        for (local, cell) in &tally.cells {
            self.count(local, cell, &tally.labels);
            let label = self.translate_label(local.label, &labels);
            let LocalKey { second, success, transaction, .. } = *local;
            let key = CellKey { second, label, success, transaction };
            self.newest = self.newest.max(second);
            let mut cell = cell.clone();
            for load in &mut cell.injectors {
                load.injector = match injectors.get(load.injector as usize) {
                    Some(index) => *index,
                    None => self.injectors.index("", INJECTOR_LIMIT),
                };
            }
            cell.injectors.sort_by_key(|load| load.injector);
            self.merge(key, &cell);
        }
        self.add_errors(tally, &labels);
        self.pack_past();
    }

    fn translate_label(&mut self, local: u32, labels: &[u32]) -> u32 {
        match labels.get(local as usize) {
            Some(label) => *label,
            None => self.labels.index("", LABEL_LIMIT),
        }
    }

    /// Counts the samples of a cell into the whole-run figures.
    fn count(&mut self, local: &LocalKey, cell: &Cell, labels: &[String]) {
        let samples = cell.samples();
        let name = labels.get(local.label as usize).map_or("", String::as_str);
        let known = self.label_counts.contains_key(name) || self.label_counts.len() < LABEL_COUNT_LIMIT;
        let name = if known { name } else { OTHER };
        let count = self
            .label_counts
            .entry_ref(name)
            .or_insert_with(|| LabelCount { label: name.to_owned(), ..LabelCount::default() });
        let (total, of_label) = match (local.transaction, local.success) {
            (true, _) => (&mut self.transactions, &mut count.transactions),
            (false, true) => (&mut self.successes, &mut count.successes),
            (false, false) => (&mut self.failures, &mut count.failures),
        };
        *total += samples;
        *of_label += samples;
    }

    fn merge(&mut self, key: CellKey, cell: &Cell) {
        if let Some(open) = self.open.get_mut(&key) {
            open.merge(cell);
            return;
        }
        // A packed cell was packed here, so it opens.
        let mut merged = self.packed.remove(&key).and_then(|bytes| unpack(&bytes)).unwrap_or_default();
        merged.merge(cell);
        self.open.insert(key, merged);
    }

    fn pack_past(&mut self) {
        while let Some(entry) = self.open.first_entry() {
            if entry.key().second.saturating_add(OPEN_SECONDS) >= self.newest {
                return;
            }
            let (key, cell) = entry.remove_entry();
            self.packed.insert(key, pack(&cell));
        }
    }

    fn add_errors(&mut self, tally: &Tally, labels: &[u32]) {
        for (local, count) in &tally.errors {
            let LocalError { second, transaction, .. } = *local;
            let code = tally.response_codes.get(local.response_code as usize).map_or("", String::as_str);
            let message: String = tally
                .messages
                .get(local.message as usize)
                .map(|message| message.chars().take(MESSAGE_LIMIT).collect())
                .unwrap_or_default();
            let label = self.translate_label(local.label, labels);
            let response_code = self.response_codes.index(&short(code), TEXT_LIMIT);
            let message = self.messages.index(&message, TEXT_LIMIT);
            let mut key = ErrorKey { second, label, response_code, message, transaction };
            if self.errors.len() >= ERROR_LIMIT && !self.errors.contains_key(&key) {
                key.label = self.labels.index(OTHER, 0);
                key.response_code = self.response_codes.index(OTHER, 0);
                key.message = self.messages.index(OTHER, 0);
            }
            *self.errors.entry(key).or_default() += count;
        }
    }

    /// The labels that the cells' keys point to.
    pub(crate) fn labels(&self) -> &[String] {
        &self.labels.names
    }

    /// The injectors that the cells point to.
    pub(crate) fn injectors(&self) -> &[String] {
        &self.injectors.names
    }

    /// The only label, if there is just one and it is not empty.
    pub(crate) fn single_label(&self) -> Option<&str> {
        let mut requests = self.label_counts.values().filter(|count| count.successes + count.failures > 0);
        match (requests.next(), requests.next()) {
            (Some(count), None) if !count.label.is_empty() => Some(&count.label),
            _ => None,
        }
    }

    /// The cells, ascending by key.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (CellKey, Cell)> + Send + '_ {
        let mut packed = self.packed.iter().peekable();
        let mut open = self.open.iter().peekable();
        std::iter::from_fn(move || {
            let open_first = match (packed.peek(), open.peek()) {
                (Some((packed, _)), Some((open, _))) => open < packed,
                (None, _) => true,
                (_, None) => false,
            };
            if open_first {
                open.next().map(|(key, cell)| (*key, cell.clone()))
            } else {
                packed.next().map(|(key, bytes)| (*key, unpack(bytes).unwrap_or_default()))
            }
        })
    }

    /// Failures, ascending.
    pub(crate) fn errors(&self) -> Vec<ErrorCount> {
        let mut errors: Vec<ErrorCount> = self
            .errors
            .iter()
            .map(|(key, count)| ErrorCount {
                second: key.second,
                label: self.labels.name(key.label),
                response_code: self.response_codes.name(key.response_code),
                message: self.messages.name(key.message),
                transaction: key.transaction,
                count: *count,
            })
            .collect();
        errors.sort_unstable();
        errors
    }

    /// Whole-run counts by label, ascending by label.
    pub(crate) fn label_counts(&self) -> Vec<LabelCount> {
        let mut counts: Vec<LabelCount> = self.label_counts.values().cloned().collect();
        counts.sort_unstable_by(|a, b| a.label.cmp(&b.label));
        counts
    }
}

fn short(code: &str) -> String {
    code.chars().take(MESSAGE_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Texts;
    use crate::counts::{CellTable, InjectorLoad};

    fn tally(second: u32, label: &str, elapsed: i32) -> Tally {
        let key = LocalKey { second, label: 0, success: true, transaction: false };
        let cell = Cell {
            elapsed: vec![(elapsed, 2)],
            injectors: vec![InjectorLoad { injector: Texts::NULL, samples: 2, threads: 8 }],
            ..Cell::default()
        };
        Tally { cells: vec![(key, cell)], labels: vec![label.into()], ..Tally::default() }
    }

    #[test]
    fn a_late_record_opens_a_packed_second_again() {
        let mut totals = Totals::default();
        for second in [0, 1, 500, 0, 1000, 1] {
            totals.add(&tally(second, "a", second as i32));
        }
        let cells: Vec<_> = totals.cells().collect();
        let table = CellTable::new(vec!["a".into()], vec![String::new()], cells.clone());
        assert_eq!(table.cells, cells, "ascending, each key once");
        let counts: Vec<_> = cells.iter().map(|(key, cell)| (key.second, cell.samples())).collect();
        assert_eq!(counts, [(0, 4), (1, 4), (500, 2), (1000, 2)]);
        assert_eq!(cells[0].1.injectors, [InjectorLoad { injector: 0, samples: 4, threads: 16 }]);
    }

    #[test]
    fn labels_beyond_the_limit_share_a_cell_but_keep_their_counts() {
        let mut totals = Totals::default();
        for label in 0..LABEL_LIMIT + 50 {
            totals.add(&tally(0, &format!("label {label}"), 1));
        }
        assert_eq!(totals.labels().len(), LABEL_LIMIT + 1);
        assert_eq!(totals.labels().last().unwrap(), OTHER);
        let last = totals.cells().last().unwrap();
        assert_eq!(last.1.samples(), 100);
        assert_eq!(totals.label_counts().len(), LABEL_LIMIT + 50);
        assert_eq!(totals.successes, 2 * (LABEL_LIMIT as u64 + 50));
    }
}
