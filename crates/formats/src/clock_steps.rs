//! Detects steps of the clocks that wrote a log. If a clock is put back, seconds are counted twice, and nothing else in
//! the log shows it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use hashbrown::HashMap;

use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::text_list::TextList;

/// The maximum time by which a record may end before the start of one logged earlier, in ms. A request is logged when
/// it ends, and an injector delivers its records in the order in which they ended; so a larger difference is a step.
const PATIENCE_MS: i64 = 10_000;

/// The same maximum for records whose injectors are not distinguished: each injector delivers its records once a
/// minute.
const NAMELESS_PATIENCE_MS: i64 = 100_000;

/// A silence longer than this, in ms, may be a clock that was put forward.
const SILENCE_MS: i64 = 3_600_000;

/// The number of consecutive early records that confirm a step: parts of a long request are logged after it.
const CONFIRMED: u32 = 20;

/// The maximum number of clocks of a log that are watched.
const CLOCKS: usize = 10_000;

/// A step of a clock from one record to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// The line of the record after the step.
    pub line: u64,
    /// The size of the step, in ms: positive if the clock was put forward, negative if back.
    pub ms: i64,
    /// The start of the record after it, epoch ms.
    pub at_ms: i64,
}

/// Consecutive records that are too early.
#[derive(Debug, Clone, Copy)]
struct EarlyRecords {
    step: ClockStep,
    records: u32,
    latest: i64,
}

/// The clock of one injector, as seen in the records of a block.
#[derive(Debug, Clone)]
struct InjectorClock {
    patience: i64,
    first_line: u64,
    first_start: i64,
    /// The latest end of its first few records, and their number.
    first_end: i64,
    first_records: u32,
    /// The latest start since the last step.
    latest: i64,
    early: Option<EarlyRecords>,
    steps: u64,
    step: Option<ClockStep>,
}

impl InjectorClock {
    fn new(patience: i64, line: u64, start: i64, end: i64) -> Self {
        Self {
            patience,
            first_line: line,
            first_start: start,
            first_end: end,
            first_records: 0,
            latest: start,
            early: None,
            steps: 0,
            step: None,
        }
    }

    /// Returns true if records with these earliest and latest starts show no step, whenever they ended.
    #[inline]
    fn is_usual(&self, earliest: i64, latest: i64) -> bool {
        self.first_records >= CONFIRMED
            && earliest.saturating_add(self.patience) >= self.latest.max(latest)
            && latest <= self.latest.saturating_add(SILENCE_MS)
    }

    /// Adds such records.
    #[inline]
    fn advance(&mut self, latest: i64) {
        self.latest = self.latest.max(latest);
        self.early = None;
    }

    /// Adds one record.
    fn add_record(&mut self, line: u64, start: i64, end: i64) {
        if self.first_records < CONFIRMED {
            self.first_records += 1;
            self.first_end = self.first_end.max(end);
        }
        if end < self.latest.saturating_sub(self.patience) {
            self.add_early(line, start, end);
            return;
        }
        if start > self.latest.saturating_add(SILENCE_MS) {
            self.note(ClockStep { line, ms: start.saturating_sub(self.latest), at_ms: start });
        }
        self.advance(start);
    }

    fn add_early(&mut self, line: u64, start: i64, end: i64) {
        let step = ClockStep { line, ms: end.saturating_sub(self.latest), at_ms: start };
        let early = self.early.get_or_insert(EarlyRecords { step, records: 0, latest: start });
        early.records += 1;
        early.latest = early.latest.max(start);
        if early.records >= CONFIRMED {
            let EarlyRecords { step, latest, .. } = *early;
            self.note(step);
            self.early = None;
            self.latest = latest;
        }
    }

    /// Converts lines of the block to lines of the log.
    fn count_lines_from(&mut self, first_line: u64) {
        self.first_line += first_line;
        self.step = self.step.map(|step| ClockStep { line: first_line + step.line, ..step });
    }

    fn note(&mut self, step: ClockStep) {
        self.steps += 1;
        self.step.get_or_insert(step);
    }

    /// Returns true if its first records are too early after `latest`, the latest start in the previous blocks.
    fn is_early(&self, latest: i64) -> bool {
        self.first_end < latest.saturating_sub(self.patience)
    }

    /// The step from the previous blocks to its first record.
    fn step_from(&self, latest: i64, first: i64) -> ClockStep {
        ClockStep { line: self.first_line, ms: first.saturating_sub(latest), at_ms: self.first_start }
    }
}

/// Times of records, in lists of equal length.
pub struct RecordTimes<'a> {
    /// The start of each record, epoch ms.
    pub starts: &'a [i64],
    /// The earliest and the latest of them.
    pub span: &'a RangeInclusive<i64>,
    /// The elapsed time of each record, in this unit.
    pub elapsed: &'a [i32],
    /// The unit of the times of the log.
    pub unit: Resolution,
    /// The code of each record's injector.
    pub injectors: &'a [u32],
    /// The number of line feeds in the block before each record.
    pub lines: &'a [u64],
}

/// The smallest and the largest of some times; `None` if there are none.
pub fn span_of(times: &[i64]) -> Option<RangeInclusive<i64>> {
    let first = *times.first()?;
    let ends = times.iter().fold((first, first), |(least, most), ms| (least.min(*ms), most.max(*ms)));
    Some(ends.0..=ends.1)
}

/// The clocks of a block.
#[derive(Debug, Default)]
pub struct ClockTracker {
    /// The clocks by the injector's code plus 1. Index 0 is for records without an injector.
    hands: Vec<Option<InjectorClock>>,
    /// The clocks of records before a header within the block, where other files were joined.
    joined: Vec<Vec<Option<InjectorClock>>>,
}

impl ClockTracker {
    /// Removes all clocks.
    pub fn clear(&mut self) {
        self.hands.clear();
        self.joined.clear();
    }

    /// Starts over, since another log was joined here.
    #[cold]
    pub fn join(&mut self) {
        self.joined.push(std::mem::take(&mut self.hands));
    }

    /// Adds records. `nameless` is the code of those whose injectors are not distinguished.
    #[inline]
    pub fn add(&mut self, times: &RecordTimes<'_>, nameless: u32) {
        let Some(first) = times.injectors.first() else { return };
        // All are compared, since most are the same and many are compared at once.
        let same = times.injectors.iter().fold(true, |same, injector| same & (injector == first));
        if same
            && let Some(Some(hand)) = self.hands.get_mut(first.wrapping_add(1) as usize)
            && hand.is_usual(*times.span.start(), *times.span.end())
        {
            hand.advance(*times.span.end());
            return;
        }
        self.add_each(times, nameless);
    }

    fn add_each(&mut self, times: &RecordTimes<'_>, nameless: u32) {
        let records = times.starts.iter().zip(times.elapsed).zip(times.injectors).zip(times.lines);
        for (((start, elapsed), injector), line) in records {
            let end = start.saturating_add(times.unit.whole_ms((*elapsed).max(0)));
            let at = injector.wrapping_add(1) as usize;
            if self.hands.len() <= at {
                self.hands.resize(at + 1, None);
            }
            let patience = if *injector == nameless { NAMELESS_PATIENCE_MS } else { PATIENCE_MS };
            if let Some(slot) = self.hands.get_mut(at) {
                slot.get_or_insert_with(|| InjectorClock::new(patience, *line, *start, end))
                    .add_record(*line, *start, end);
            }
        }
    }

    /// Returns the state of each clock and clears it, one list for each joined log. `names` are the injectors by code.
    pub fn take(&mut self, names: &TextList) -> BlockClocks {
        let logs = self.joined.drain(..).chain([std::mem::take(&mut self.hands)]);
        let named = |(at, hand): (usize, Option<InjectorClock>)| {
            let mut hasher = DefaultHasher::new();
            at.checked_sub(1).and_then(|code| names.get(code)).hash(&mut hasher);
            Some((hasher.finish(), hand?))
        };
        BlockClocks(logs.map(|hands| hands.into_iter().enumerate().filter_map(named).collect()).collect())
    }
}

/// The clocks of a block, keyed by a hash of the injector's name, one list for each joined log.
#[derive(Debug, Default)]
pub struct BlockClocks(Vec<Vec<(u64, InjectorClock)>>);

/// The clock of one injector over the blocks so far.
#[derive(Debug)]
struct WatchedClock {
    /// The latest start since the last step.
    latest: i64,
    early: Option<EarlyRecords>,
}

impl WatchedClock {
    /// Adds a block. Returns the step just before it, or before the few early records that ended the previous blocks.
    fn add(&mut self, hand: &InjectorClock) -> Option<ClockStep> {
        if hand.is_early(self.latest) {
            return self.add_early(hand);
        }
        self.early = None;
        let is_late = hand.first_start > self.latest.saturating_add(SILENCE_MS);
        let step = is_late.then(|| hand.step_from(self.latest, hand.first_start));
        self.latest = if hand.steps == 0 { self.latest.max(hand.latest) } else { hand.latest };
        step
    }

    fn add_early(&mut self, hand: &InjectorClock) -> Option<ClockStep> {
        let step = hand.step_from(self.latest, hand.first_end);
        let early = self.early.get_or_insert(EarlyRecords { step, records: 0, latest: hand.latest });
        early.records += hand.first_records;
        early.latest = early.latest.max(hand.latest);
        let EarlyRecords { step, records, latest } = *early;
        if records < CONFIRMED {
            return None;
        }
        self.early = None;
        self.latest = if hand.steps == 0 { latest } else { hand.latest };
        Some(step)
    }
}

/// The clocks of a log.
#[derive(Debug, Default)]
pub struct LogClocks {
    watched: HashMap<u64, WatchedClock>,
    /// The latest start of each injector in the log before, if another log was joined after it.
    before: HashMap<u64, i64>,
    /// The number of steps of all clocks.
    pub steps: u64,
    /// The first step.
    pub first: Option<ClockStep>,
    /// The number of logs that were joined after one with later records, and the line of the first record of the first.
    pub overlaps: u64,
    /// The line of the first record that overlaps the one before.
    pub first_overlap: Option<u64>,
}

impl LogClocks {
    /// Adds a block that begins on `first_line`. Blocks must come in the order of the log.
    pub fn add(&mut self, block: BlockClocks, first_line: u64) {
        for (at, mut hands) in block.0.into_iter().enumerate() {
            for (_, hand) in &mut hands {
                hand.count_lines_from(first_line);
            }
            if at > 0 && !self.watched.is_empty() {
                self.before = self.watched.drain().map(|(name, watched)| (name, watched.latest)).collect();
            }
            hands.iter().for_each(|(name, hand)| self.add_hand(*name, hand));
        }
    }

    fn add_hand(&mut self, name: u64, hand: &InjectorClock) {
        if self.before.remove(&name).is_some_and(|latest| hand.first_start < latest) {
            self.overlaps += 1;
            self.first_overlap.get_or_insert(hand.first_line);
            // One injector of a log shows it.
            self.before.clear();
        }
        let between = self.watched.get_mut(&name).map(|watched| watched.add(hand));
        if between.is_none() && self.watched.len() < CLOCKS {
            self.watched.insert(name, WatchedClock { latest: hand.latest, early: None });
        }
        let between = between.flatten();
        self.steps += hand.steps + u64::from(between.is_some());
        self.first = self.first.or(between).or(hand.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_seen_in_every_unit() {
        // One request a second takes 200 ms, then the clock is put back by 150 s.
        let starts: Vec<i64> =
            (0..200).map(|second| second * 1000 - i64::from(second >= 100) * 150_000).collect();
        let lines: Vec<u64> = (0..200).collect();
        for unit in Resolution::ALL {
            let elapsed = vec![200 * unit.per_ms() as i32; starts.len()];
            let mut clocks = ClockTracker::default();
            clocks.add(
                &RecordTimes {
                    starts: &starts,
                    span: &span_of(&starts).unwrap(),
                    elapsed: &elapsed,
                    unit,
                    injectors: &[7; 200],
                    lines: &lines,
                },
                7,
            );
            let mut log = LogClocks::default();
            log.add(clocks.take(&TextList::default()), 1);
            assert_eq!((log.steps, log.first.map(|step| step.line)), (1, Some(101)), "{unit}");
        }
    }
}
