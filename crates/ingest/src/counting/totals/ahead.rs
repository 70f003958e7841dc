//! Counts of logs that are read ahead of their turn: they are counted separately, and added once it is their turn.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::failures::join_equal;
use super::{
    FailureKey, INJECTOR_LIMIT, LABEL_LIMIT, NAME_BYTES, NameIndex, NameLimit, TEXT_LIMIT, Totals,
    part::{translate_loads, translated},
};
use crate::counting::block::BlockTally;
use perfpipe_model::counts::CellKey;
use perfpipe_model::counts::spill::{CellResult, opened};
use perfpipe_model::error::Result;
use perfpipe_model::sample::shorten::short;

/// The number and size of names that would be new.
#[derive(Debug, Clone, Copy, Default)]
struct NewNames {
    names: usize,
    bytes: usize,
}

impl NameIndex {
    /// Returns true if each of these names has, or would get, an index of its own.
    fn has_room(&self, names: impl Iterator<Item = impl AsRef<str>>, limit: usize) -> bool {
        let new = names.filter(|name| self.names.find(name.as_ref().as_bytes()).is_none());
        let new = new.fold(NewNames::default(), |new, name| NewNames {
            names: new.names + 1,
            bytes: new.bytes + name.as_ref().len(),
        });
        let known = self.names.texts();
        // The empty name may be indexed beside those of a block.
        known.len() + new.names < limit && known.bytes() + new.bytes <= NAME_BYTES
    }

    /// Copies another's names with their indexes, unless they are more than a quarter of the limit: those of the later logs
    /// need room as well.
    fn begin_as(&mut self, other: &Self, limit: usize) {
        let names = other.names.texts();
        if names.len() <= limit / 4 && names.bytes() <= NAME_BYTES / 4 {
            self.indexes(other, NameLimit::of_run(limit));
        }
    }

    /// The indexes of another's names here, by their indexes there.
    pub(super) fn indexes(&mut self, other: &Self, limit: NameLimit) -> Vec<u32> {
        other.names.texts().iter().map(|name| self.index(name, limit)).collect()
    }
}

impl Totals {
    /// Creates empty counts of later logs, see [`new`](Self::new). They know the names so far by the same indexes, unless
    /// these are many: then their cells can be added as they are, if they have no other names.
    pub(crate) fn ahead(&self, memory: usize, folder: Option<PathBuf>) -> Self {
        let mut ahead = Self::new(memory, folder);
        ahead.labels.begin_as(&self.labels, LABEL_LIMIT);
        ahead.injectors.begin_as(&self.injectors, INJECTOR_LIMIT);
        ahead.response_codes.begin_as(&self.response_codes, TEXT_LIMIT);
        ahead.messages.begin_as(&self.messages, TEXT_LIMIT);
        ahead
    }

    /// Returns true if a block can be added without reaching a limit of names or failures. Which of them share a name
    /// beyond a limit depends on all blocks before, so separate counts must stay below.
    pub(crate) fn has_room(&self, tally: &BlockTally) -> bool {
        self.labels.has_room(tally.labels.iter(), LABEL_LIMIT)
            && self.injectors.has_room(tally.injectors.iter(), INJECTOR_LIMIT)
            && self.response_codes.has_room(tally.response_codes.iter().map(short), TEXT_LIMIT)
            && self.messages.has_room(tally.messages.iter().map(short), TEXT_LIMIT)
            && self.errors.len() + tally.errors.len() <= self.separate_errors
    }

    /// Returns true if separate counts can be added without reaching such a limit.
    pub(crate) fn has_room_for(&self, later: &Self) -> bool {
        let fits =
            |own: &NameIndex, names: &NameIndex, limit| own.has_room(names.names.texts().iter(), limit);
        fits(&self.labels, &later.labels, LABEL_LIMIT)
            && fits(&self.injectors, &later.injectors, INJECTOR_LIMIT)
            && fits(&self.response_codes, &later.response_codes, TEXT_LIMIT)
            && fits(&self.messages, &later.messages, TEXT_LIMIT)
            && self.errors.len() + later.errors.len() <= self.separate_errors
    }

    /// Adds the counts of blocks that come after all blocks so far. They must have been kept below the limits, see
    /// [`has_room`](Self::has_room). The result is that of adding the blocks one after another.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(crate) fn absorb(&mut self, later: Self) -> Result<()> {
        // Below the limits each label has an index of its own, in the order of first appearance.
        for label in later.labels.names.texts().iter() {
            let counts = self.label_counts.of(label);
            if let Some((_, more)) = later.label_counts.counts.get(label) {
                counts.add(more);
            }
        }
        self.successes += later.successes;
        self.failures += later.failures;
        self.transactions += later.transactions;
        let labels = self.labels.indexes(&later.labels, self.limits.labels);
        self.absorb_errors(&later, &labels)?;
        self.absorb_cells(later, &labels)
    }

    fn absorb_cells(&mut self, later: Self, labels: &[u32]) -> Result<()> {
        let injectors = self.injectors.indexes(&later.injectors, self.limits.injectors);
        self.begin_log()?;
        if are_same(labels) && are_same(&injectors) {
            return later.cells.into_runs()?.try_for_each(|run| self.cells.keep_run(run));
        }
        if !(are_distinct(labels) && are_distinct(&injectors)) {
            for cell in later.cells() {
                self.absorb_cell(opened(cell)?, labels, &injectors)?;
            }
            return self.begin_log();
        }
        // No two cells become one, so none need be opened.
        for run in later.cells.into_runs()? {
            let cells = run.packed_between(0, u32::MAX).map(|cell| {
                let (key, mut cell) = cell?;
                translate_loads(cell.loads_mut(), &injectors)?;
                Ok((CellKey { label: translated(labels, key.label)?, ..key }, cell))
            });
            self.cells.add_ascending(sorted_within_seconds(cells))?;
        }
        Ok(())
    }

    fn absorb_errors(&mut self, later: &Self, labels: &[u32]) -> Result<()> {
        let codes = self.response_codes.indexes(&later.response_codes, self.limits.texts);
        let messages = self.messages.indexes(&later.messages, self.limits.texts);
        let translate = |(key, count): (FailureKey, u64)| {
            let key = FailureKey {
                label: translated(labels, key.label)?,
                response_code: translated(&codes, key.response_code)?,
                message: translated(&messages, key.message)?,
                ..key
            };
            Ok((key, count))
        };
        let mut kinds = later.errors.between(0, u32::MAX).map(translate).collect::<Result<Vec<_>>>()?;
        kinds.sort_unstable();
        join_equal(&mut kinds);
        self.errors.absorb(kinds.into_iter());
        self.errors.absorb_others(&later.errors);
        Ok(())
    }
}

/// Returns true if each index is the one that it was.
pub(super) fn are_same(indexes: &[u32]) -> bool {
    (0..).zip(indexes).all(|(before, now)| before == *now)
}

fn are_distinct(indexes: &[u32]) -> bool {
    indexes.iter().collect::<BTreeSet<_>>().len() == indexes.len()
}

/// Sorts cells that ascend by second by the rest of their keys.
fn sorted_within_seconds(cells: impl Iterator<Item = CellResult>) -> impl Iterator<Item = CellResult> {
    let second = |cell: &CellResult| cell.as_ref().ok().map(|(key, _)| key.second);
    let (mut cells, mut sorted) = (cells.peekable(), Vec::new().into_iter());
    std::iter::from_fn(move || {
        sorted.next().or_else(|| {
            let first = cells.next()?;
            let now = second(&first);
            let mut of_second = vec![first];
            while let Some(cell) = cells.next_if(|cell| second(cell) == now) {
                of_second.push(cell);
            }
            of_second.sort_by_key(|cell| cell.as_ref().ok().map(|(key, _)| *key));
            sorted = of_second.into_iter();
            sorted.next()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::block::{LocalError, LocalKey};
    use perfpipe_model::counts::{Cell, CellKey, InjectorLoad, LabelCount};
    use perfpipe_model::error::Error;
    use perfpipe_model::sample::texts::Texts;
    use proptest::prelude::*;

    /// A block: its second, the first of its names, and how many names of each sort it has.
    type Made = (u32, u32, u32);

    fn block(&(second, first, names): &Made) -> BlockTally {
        let cells = (0..names + 1).map(|at| {
            let key = LocalKey {
                second: second + at % 3,
                label: if at == names { Texts::NULL } else { at },
                success: at % 4 > 0,
                transaction: at % 5 == 4,
            };
            let injector = if at == names { Texts::NULL } else { at };
            let loads = vec![InjectorLoad { injector, samples: 1, threads: i64::from(at) }];
            (key, Cell { elapsed: vec![(at as i32, 1)], injectors: loads, ..Cell::default() })
        });
        let named = |sort: &str| (first..first + names).map(move |at| format!("{sort} {at}")).collect();
        let labels: Vec<String> = named("label");
        let mut tally = BlockTally::of(cells.collect(), labels);
        (tally.injectors, tally.response_codes, tally.messages) = (
            named("host").into_iter().collect(),
            named("code").into_iter().collect(),
            named("text").into_iter().collect(),
        );
        let error = |at| LocalError {
            second: second + at % 3,
            label: at,
            response_code: names - 1 - at,
            message: at,
            transaction: at % 5 == 4,
        };
        tally.errors = (0..names).map(|at| (error(at), 1)).collect();
        tally.errors.sort_unstable();
        tally
    }

    /// All that can be read from counts.
    type Contents = (
        Vec<String>,
        Vec<String>,
        Vec<(CellKey, Cell)>,
        Vec<perfpipe_model::counts::ErrorCount>,
        Vec<LabelCount>,
    );

    fn contents(totals: &Totals) -> Result<Contents> {
        let cells = totals.cells().map(opened).collect::<Result<Vec<_>>>()?;
        Ok((
            totals.labels(),
            totals.injectors(),
            cells,
            totals.errors().collect::<Result<Vec<_>>>()?,
            totals.label_counts(),
        ))
    }

    fn some() -> impl Strategy<Value = Vec<Made>> {
        // Beyond 200 labels, and beyond 1,000 messages, all further ones share a name.
        let names = prop_oneof![4 => 1..30u32, 1 => 100..250u32, 1 => 900..1100u32];
        prop::collection::vec((0..200u32, 0..600u32, names), 0..7)
    }

    #[test]
    fn logs_ahead_have_the_indexes_of_the_names_that_are_known_unless_these_are_many() {
        let mut run = Totals::default();
        run.add(&block(&(0, 0, 9))).unwrap();
        let mut ahead = run.ahead(1 << 20, None);
        ahead.add(&block(&(7, 3, 5))).unwrap();
        assert_eq!((ahead.labels(), ahead.injectors()), (run.labels(), run.injectors()));
        assert!(are_same(&run.labels.indexes(&ahead.labels, run.limits.labels)));
        let many = LABEL_LIMIT as u32 / 4 + 1;
        run.add(&block(&(0, 0, many))).unwrap();
        let ahead = run.ahead(1 << 20, None);
        assert_eq!((ahead.labels(), ahead.injectors()), (vec![], run.injectors()));
        assert!(ahead.has_room(&block(&(0, 0, many))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn logs_counted_apart_are_counted_as_one_after_another(
            logs in prop::collection::vec((some(), any::<bool>()), 1..5), memory in prop_oneof![Just(0), Just(1 << 20)],
        ) {
            let mut expected = Totals::new(memory, None);
            for made in logs.iter().flat_map(|(made, _)| made) {
                expected.add(&block(made))?;
            }
            let mut found = Totals::new(memory, None);
            for (log, knows) in &logs {
                let separate = if *knows { found.ahead(memory, None) } else { Totals::new(memory, None) };
                let (mut separate, mut rest) = (separate, log.iter());
                let mut first = None;
                for made in rest.by_ref() {
                    let tally = block(made);
                    if !separate.has_room(&tally) {
                        first = Some(tally);
                        break;
                    }
                    separate.add(&tally)?;
                }
                found.absorb(separate)?;
                for tally in first.into_iter().chain(rest.map(block)) {
                    found.add(&tally)?;
                }
            }
            prop_assert!(contents(&found)? == contents(&expected)?);
            let sums = |totals: &Totals| (totals.successes, totals.failures, totals.transactions);
            prop_assert_eq!(sums(&found), sums(&expected));
        }

        #[test]
        fn logs_counted_apart_are_grouped_before_their_turn(
            logs in prop::collection::vec(some(), 3), knows in any::<[bool; 2]>(),
        ) {
            let separate = |log: &Vec<Made>, mut totals: Totals| {
                for tally in log.iter().map(block) {
                    if totals.has_room(&tally) {
                        totals.add(&tally)?;
                    }
                }
                Ok::<_, Error>(totals)
            };
            let first = separate(&logs[0], Totals::default())?;
            let later = |log: &Vec<Made>, knows| {
                separate(log, if knows { first.ahead(1 << 20, None) } else { Totals::default() })
            };
            let (mut second, third) = (later(&logs[1], knows[0])?, later(&logs[2], knows[1])?);
            let mut expected = separate(&logs[0], Totals::default())?;
            expected.absorb(later(&logs[1], knows[0])?)?;
            expected.absorb(later(&logs[2], knows[1])?)?;
            prop_assume!(second.has_room_for(&third));
            let mut found = first;
            second.absorb(third)?;
            found.absorb(second)?;
            prop_assert!(contents(&found)? == contents(&expected)?);
        }
    }
}
