//! Steps of the clocks by which a log was written: where one is put back, seconds are counted twice, and nothing else
//! tells of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use crate::sample::text_list::TextList;

/// A request is logged when it ends, so by one clock none ends long before another one begins that was logged earlier:
/// not by more than this, as an injector hands its records over in the order in which they ended.
const PATIENCE_MS: i64 = 10_000;

/// The same where injectors may be among the records that aren't told apart: each hands its own over once a minute.
const UNTOLD_PATIENCE_MS: i64 = 100_000;

/// A silence of this length may be a clock that was put forward.
const SILENCE_MS: i64 = 3_600_000;

/// How many records in a row have to be early: parts of a long request are logged behind it.
const CONFIRMED: u32 = 20;

/// How many clocks of a log are watched.
const CLOCKS: usize = 10_000;

/// What a clock did from one record to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The line of the record behind it.
    pub(crate) line: u64,
    /// By how much the clock was put forward or, below 0, back, in ms.
    pub(crate) ms: i64,
}

/// Records in a row that are too early.
#[derive(Debug, Clone, Copy)]
struct Early {
    step: Step,
    records: u32,
    latest: i64,
}

/// The clock of one injector, by the records of a block.
#[derive(Debug, Clone)]
struct Hand {
    patience: i64,
    first_line: u64,
    first_start: i64,
    /// The latest end of its first few records, and how many these are.
    first_end: i64,
    first_records: u32,
    /// The latest start since the last step.
    latest: i64,
    early: Option<Early>,
    steps: u64,
    step: Option<Step>,
}

impl Hand {
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

    /// Whether records of these earliest and latest starts are as they should be, whenever they ended.
    #[inline]
    fn is_usual(&self, earliest: i64, latest: i64) -> bool {
        self.first_records >= CONFIRMED
            && earliest.saturating_add(self.patience) >= self.latest.max(latest)
            && latest <= self.latest.saturating_add(SILENCE_MS)
    }

    /// Takes such records.
    #[inline]
    fn go_on(&mut self, latest: i64) {
        self.latest = self.latest.max(latest);
        self.early = None;
    }

    /// Takes one record.
    fn see(&mut self, line: u64, start: i64, end: i64) {
        if self.first_records < CONFIRMED {
            self.first_records += 1;
            self.first_end = self.first_end.max(end);
        }
        if end < self.latest.saturating_sub(self.patience) {
            self.see_early(line, start, end);
            return;
        }
        if start > self.latest.saturating_add(SILENCE_MS) {
            self.note(Step { line, ms: start.saturating_sub(self.latest) });
        }
        self.go_on(start);
    }

    fn see_early(&mut self, line: u64, start: i64, end: i64) {
        let step = Step { line, ms: end.saturating_sub(self.latest) };
        let early = self.early.get_or_insert(Early { step, records: 0, latest: start });
        early.records += 1;
        early.latest = early.latest.max(start);
        if early.records >= CONFIRMED {
            let Early { step, latest, .. } = *early;
            self.note(step);
            self.early = None;
            self.latest = latest;
        }
    }

    /// Turns lines of the block into those of the log.
    fn count_lines_from(&mut self, first_line: u64) {
        self.first_line += first_line;
        self.step = self.step.map(|step| Step { line: first_line + step.line, ..step });
    }

    fn note(&mut self, step: Step) {
        self.steps += 1;
        self.step.get_or_insert(step);
    }

    /// Whether its first records are too early, after this latest start in the blocks before.
    fn is_early(&self, latest: i64) -> bool {
        self.first_end < latest.saturating_sub(self.patience)
    }

    /// What the clock did from the blocks before to its first record.
    fn step_from(&self, latest: i64, first: i64) -> Step {
        Step { line: self.first_line, ms: first.saturating_sub(latest) }
    }
}

/// Records of which some times are to be looked at; all of the same number.
pub(crate) struct Times<'a> {
    /// When each began, epoch ms.
    pub(crate) starts: &'a [i64],
    /// How long it took, in ms.
    pub(crate) elapsed: &'a [i32],
    /// The codes of their injectors.
    pub(crate) injectors: &'a [u32],
    /// Line feeds in the block before each.
    pub(crate) lines: &'a [u64],
}

/// The clocks of a block's records.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// By an injector's code and 1; that of records without an injector comes first.
    hands: Vec<Option<Hand>>,
    /// Those of records before headers within the block: other files were joined there.
    joined: Vec<Vec<Option<Hand>>>,
}

impl Clocks {
    /// Lets go of all.
    pub(crate) fn clear(&mut self) {
        self.hands.clear();
        self.joined.clear();
    }

    /// Begins anew, as another log was joined here.
    #[cold]
    pub(crate) fn join(&mut self) {
        self.joined.push(std::mem::take(&mut self.hands));
    }

    /// Looks at records; `nameless` is the code of those whose injectors aren't told apart.
    #[inline]
    pub(crate) fn see(&mut self, times: &Times<'_>, nameless: u32) {
        let Some(first) = times.injectors.first() else { return };
        let same = times.injectors.iter().all(|injector| injector == first);
        let (earliest, latest) = (times.starts.iter().min(), times.starts.iter().max());
        if same
            && let Some(Some(hand)) = self.hands.get_mut(first.wrapping_add(1) as usize)
            && let (Some(earliest), Some(latest)) = (earliest, latest)
            && hand.is_usual(*earliest, *latest)
        {
            hand.go_on(*latest);
            return;
        }
        self.see_each(times, nameless);
    }

    fn see_each(&mut self, times: &Times<'_>, nameless: u32) {
        let records = times.starts.iter().zip(times.elapsed).zip(times.injectors).zip(times.lines);
        for (((start, elapsed), injector), line) in records {
            let end = start.saturating_add(i64::from((*elapsed).max(0)));
            let at = injector.wrapping_add(1) as usize;
            if self.hands.len() <= at {
                self.hands.resize(at + 1, None);
            }
            let patience = if *injector == nameless { UNTOLD_PATIENCE_MS } else { PATIENCE_MS };
            if let Some(slot) = self.hands.get_mut(at) {
                slot.get_or_insert_with(|| Hand::new(patience, *line, *start, end)).see(*line, *start, end);
            }
        }
    }

    /// What is known of each clock, from one joined log to the next; `names` are the injectors by code.
    pub(crate) fn take(&mut self, names: &TextList) -> BlockClocks {
        let logs = self.joined.drain(..).chain([std::mem::take(&mut self.hands)]);
        let named = |(at, hand): (usize, Option<Hand>)| {
            let mut hasher = DefaultHasher::new();
            at.checked_sub(1).and_then(|code| names.get(code)).hash(&mut hasher);
            Some((hasher.finish(), hand?))
        };
        BlockClocks(logs.map(|hands| hands.into_iter().enumerate().filter_map(named).collect()).collect())
    }
}

/// The clocks of a block, by a hash of the injector's name; a list for each log that was joined in it.
#[derive(Debug, Default)]
pub(crate) struct BlockClocks(Vec<Vec<(u64, Hand)>>);

/// The clock of one injector, by the blocks so far.
#[derive(Debug)]
struct Watched {
    /// The latest start since the last step.
    latest: i64,
    early: Option<Early>,
}

impl Watched {
    /// Adds a block; what the clock did just before it, or before the few records of blocks before it.
    fn add(&mut self, hand: &Hand) -> Option<Step> {
        if hand.is_early(self.latest) {
            return self.add_early(hand);
        }
        self.early = None;
        let is_late = hand.first_start > self.latest.saturating_add(SILENCE_MS);
        let step = is_late.then(|| hand.step_from(self.latest, hand.first_start));
        self.latest = if hand.steps == 0 { self.latest.max(hand.latest) } else { hand.latest };
        step
    }

    fn add_early(&mut self, hand: &Hand) -> Option<Step> {
        let step = hand.step_from(self.latest, hand.first_end);
        let early = self.early.get_or_insert(Early { step, records: 0, latest: hand.latest });
        early.records += hand.first_records;
        early.latest = early.latest.max(hand.latest);
        let Early { step, records, latest } = *early;
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
pub(crate) struct LogClocks {
    watched: HashMap<u64, Watched>,
    /// How often one of them was put back or forward.
    pub(crate) steps: u64,
    /// The first time.
    pub(crate) first: Option<Step>,
}

impl LogClocks {
    /// Adds a block, which begins on a line; blocks come in the order of the log.
    pub(crate) fn add(&mut self, block: BlockClocks, first_line: u64) {
        for (at, mut hands) in block.0.into_iter().enumerate() {
            if at > 0 {
                self.watched.clear();
            }
            for (_, hand) in &mut hands {
                hand.count_lines_from(first_line);
            }
            hands.iter().for_each(|(name, hand)| self.add_hand(*name, hand));
        }
    }

    fn add_hand(&mut self, name: u64, hand: &Hand) {
        let between = self.watched.get_mut(&name).map(|watched| watched.add(hand));
        if between.is_none() && self.watched.len() < CLOCKS {
            self.watched.insert(name, Watched { latest: hand.latest, early: None });
        }
        let between = between.flatten();
        self.steps += hand.steps + u64::from(between.is_some());
        self.first = self.first.or(between).or(hand.step);
    }
}
