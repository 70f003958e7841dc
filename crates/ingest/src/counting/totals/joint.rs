//! Joint counts of blocks of several logs that were read at about the same time, ahead of the turns of the logs.

use std::path::PathBuf;

use super::ahead::are_same;
use super::cells::{NameIndexes, TotalCells};
use super::failures::FailureCounts;
use super::part::translate_loads;
use super::{FailureKey, NameIndex, NameLimit, Totals};
use crate::counting::block::{BlockTally, KnownNames, LocalError};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::long_text::short;
use perfpipe_model::sample::reserved::OTHER;
use perfpipe_model::sample::text_list::TextList;
use perfpipe_model::sample::texts::Texts;

/// Unlimited: the caller bounds the number of injectors.
const UNLIMITED: NameLimit = NameLimit { names: usize::MAX, bytes: usize::MAX };

/// Cells and failures, whose names have the indexes that they have in the run. Only injectors have indexes of their own: those
/// of the run are known once all logs before were read.
#[derive(Debug)]
pub(crate) struct JointCounts {
    cells: TotalCells,
    injectors: NameIndex,
    failures: FailureCounts,
}

impl JointCounts {
    /// Creates an empty collection, see [`Totals::new`].
    pub(crate) fn new(memory: usize, folder: Option<PathBuf>) -> Self {
        let mut injectors = NameIndex::default();
        // The run, too, indexes the unknown injector first.
        injectors.index("", UNLIMITED);
        Self { cells: TotalCells::new(memory, folder), injectors, failures: FailureCounts::default() }
    }

    /// The number of injectors.
    pub(crate) fn injectors(&self) -> usize {
        self.injectors.names.texts().len()
    }

    /// Adds cells and failures whose names the run has.
    ///
    /// # Errors
    /// When the temporary file can't be written or read.
    pub(crate) fn add(&mut self, tally: &BlockTally, run: &Totals) -> Result<()> {
        let indexes = NameIndexes {
            labels: tally.labels.iter().map(|label| known(&run.labels, label)).collect::<Result<_>>()?,
            // If the run has no such label, nor has any of these samples.
            no_label: known(&run.labels, "").unwrap_or_default(),
            injectors: tally.injectors.iter().map(|name| self.injectors.index(name, UNLIMITED)).collect(),
            unknown_injector: self.injectors.index("", UNLIMITED),
        };
        if tally.seconds().is_some_and(|(_, latest)| self.cells.is_of_another_log(latest)) {
            // Other logs, of the same seconds once more.
            self.cells.restart()?;
        }
        self.cells.add(tally, &indexes)?;
        let failures = failures_of(tally, run, &indexes)?;
        self.failures.add_all(failures, self.cells.past());
        Ok(())
    }
}

/// The failures of a block, with the indexes that their names have in the run.
fn failures_of(tally: &BlockTally, run: &Totals, indexes: &NameIndexes) -> Result<Vec<(FailureKey, u64)>> {
    let of = |texts: &TextList, code: u32, names: &NameIndex| match code {
        // The log has no such column.
        Texts::NULL => known(names, ""),
        code => known(names, &short(texts.get(code as usize).unwrap_or_default())),
    };
    let failure = |(local, count): &(LocalError, u64)| {
        let LocalError { second, transaction, .. } = *local;
        let key = FailureKey {
            second,
            label: indexes.label(local.label),
            response_code: of(&tally.response_codes, local.response_code, &run.response_codes)?,
            message: of(&tally.messages, local.message, &run.messages)?,
            transaction,
        };
        Ok((key, *count))
    };
    tally.errors.iter().map(failure).collect()
}

/// The index of a name that the run has.
fn known(names: &NameIndex, name: &str) -> Result<u32> {
    let index = names.names.find(name.as_bytes());
    index.ok_or_else(|| Error::bug("counting logs together", "a name is not known"))
}

impl Totals {
    /// The numbers of distinct names: labels, and those of failures.
    pub(crate) fn distinct_names(&self) -> (usize, usize) {
        let [labels, codes, messages] =
            [&self.labels, &self.response_codes, &self.messages].map(|names| names.names.texts().len());
        (labels, codes + messages)
    }

    /// The names with indexes of their own.
    pub(crate) fn known_names(&self) -> KnownNames {
        let known = |names: &NameIndex| {
            names.names.texts().iter().filter(|name| *name != OTHER).map(str::to_owned).collect()
        };
        KnownNames {
            labels: known(&self.labels),
            response_codes: known(&self.response_codes),
            messages: known(&self.messages),
        }
    }

    /// Adds joint counts, once all their logs were added.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(crate) fn absorb_together(&mut self, together: JointCounts) -> Result<()> {
        let injectors = self.injectors.indexes(&together.injectors, self.limits.injectors);
        let as_they_are = are_same(&injectors);
        self.errors.absorb(together.failures.between(0, u32::MAX));
        self.errors.absorb_others(&together.failures);
        self.begin_log()?;
        for run in together.cells.into_runs()? {
            if as_they_are {
                self.cells.add_run(run)?;
                continue;
            }
            let cells = run.packed_between(0, u32::MAX).map(|cell| {
                let (key, mut cell) = cell?;
                translate_loads(cell.loads_mut(), &injectors)?;
                Ok((key, cell))
            });
            self.cells.add_ascending(cells)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::counting::counter::step::StepCounter;
    use perfpipe_formats::jtl::parsed::{Clock, Parsed};
    use perfpipe_model::counts::spill::opened;
    use perfpipe_model::counts::{Cell, CellKey, ErrorCount, LabelCount};

    const CLOCK: Clock = Clock { origin: 0, head: None, max_span_ms: u64::MAX };

    /// A request: its second, its label, whether it has one, and its elapsed time and threads.
    type Row = (u32, u8, bool, u8);

    fn parsed(rows: &[Row], injector: &str) -> Parsed {
        let mut parsed = Parsed::default();
        for (second, label, has_label, size) in rows {
            let batch = &mut parsed.batch;
            batch.t_ms.push(i64::from(*second) * 1000 + i64::from(*size));
            match has_label {
                true => batch.label.push(&[b'a' + label]),
                false => batch.label.push_null(),
            }
            batch.elapsed.push((*size).into());
            batch.success.push(size % 5 > 0);
            batch.bytes.push((size % 3 > 0).then_some((*size).into()));
            batch.sent_bytes.push(Some(1));
            batch.all_threads.push((size % 7 > 0).then_some((*size).into()));
            batch.latency.push((label % 2 > 0).then_some((*size).into()));
            batch.connect.push(None);
            batch.injector.push(injector.as_bytes());
            batch.transaction.push(size % 11 == 0);
            match size % 13 > 0 {
                true => batch.response_code.push(if size % 5 > 0 { b"200" } else { b"503" }),
                false => batch.response_code.push_null(),
            }
            if size % 5 == 0 {
                // Longer than messages are kept.
                let message = format!("{}{}", "long ".repeat((size % 2) as usize * 101), size % 3 + label);
                parsed.failures.push((batch.t_ms.len() as u32 - 1, parsed.messages.code(message.as_bytes())));
            }
        }
        parsed.earliest_ms = parsed.batch.t_ms.iter().copied().min();
        parsed.latest_ms = parsed.batch.t_ms.iter().copied().max();
        parsed
    }

    type Contents =
        (Vec<String>, Vec<String>, Vec<(CellKey, Cell)>, Vec<ErrorCount>, Vec<LabelCount>, [u64; 3]);

    fn contents(totals: &Totals) -> Result<Contents> {
        let cells = totals.cells().map(opened).collect::<Result<Vec<_>>>()?;
        let sums = [totals.successes, totals.failures, totals.transactions];
        let errors = totals.errors().collect::<Result<_>>()?;
        Ok((totals.labels(), totals.injectors(), cells, errors, totals.label_counts(), sums))
    }

    fn logs() -> impl Strategy<Value = Vec<Vec<Vec<Row>>>> {
        let row = |from: u32| (from..from + 90, 0..4u8, prop::bool::weighted(0.95), any::<u8>());
        let block = prop_oneof![5 => Just(0), 1 => Just(5000)]
            .prop_flat_map(move |from| prop::collection::vec(row(from), 1..30));
        prop::collection::vec(prop::collection::vec(block, 3), 1..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn logs_counted_together_are_counted_as_one_after_another(
            logs in logs(), memory in prop_oneof![Just(0), Just(1 << 20)], first in any::<bool>(),
        ) {
            let injector = |log: usize| format!("host {}", if first { log } else { log / 2 });
            let mut expected = Totals::new(memory, None);
            let mut counter = StepCounter::default();
            for (log, blocks) in logs.iter().enumerate() {
                for rows in blocks {
                    let (mut parsed, mut tally) = (parsed(rows, &injector(log)), BlockTally::default());
                    prop_assert!(counter.count(&mut [(&mut parsed, &mut tally)], &KnownNames::default(), &CLOCK).is_none());
                    expected.add(&tally)?;
                }
            }
            // The names of the first log are known while the others are read.
            let (mut found, mut together) = (Totals::new(memory, None), JointCounts::new(memory, None));
            let mut later: Vec<Vec<BlockTally>> = logs.iter().map(|_| Vec::new()).collect();
            for step in 0..3 {
                let mut parsed: Vec<_> =
                    logs.iter().enumerate().map(|(log, blocks)| parsed(&blocks[step], &injector(log))).collect();
                let mut tallies: Vec<_> = logs.iter().map(|_| BlockTally::default()).collect();
                let mut blocks: Vec<_> = parsed.iter_mut().zip(&mut tallies).collect();
                let cells = counter.count(&mut blocks, &found.known_names(), &CLOCK);
                let mut tallies = tallies.into_iter();
                found.add(&tallies.next().unwrap())?;
                tallies.zip(&mut later).for_each(|(tally, later)| later.push(tally));
                if let Some(cells) = cells {
                    together.add(&cells, &found)?;
                }
            }
            for tally in later.into_iter().flatten() {
                found.add(&tally)?;
            }
            found.absorb_together(together)?;
            prop_assert_eq!(contents(&found)?, contents(&expected)?);
        }
    }
}
