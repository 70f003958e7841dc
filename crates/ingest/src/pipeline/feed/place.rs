//! The place of a reader among those whose blocks make steps.

use std::collections::VecDeque;

use super::super::messages::Work;
use crate::sample::pool::Gauge;

/// A block is held back if it begins later than others by more than half of the time that one of theirs takes, and by less
/// than this many times of it: logs that are further apart never come together.
const FAR: u64 = 8;

/// The digits of a time in s or a finer unit since 1970.
const DIGITS: std::ops::RangeInclusive<usize> = 10..=19;

/// The blocks that a reader brought, and what it does.
pub(super) struct Place {
    pub(super) blocks: VecDeque<Work>,
    buffers: Gauge,
    pub(super) reader: Reader,
    /// When its last block in a step began.
    last: Option<u64>,
}

/// What a reader does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Reads,
    /// It waits for a buffer.
    Waits,
    /// It waits for all of its buffers to be free.
    WaitsForAll,
    Ended,
}

impl Place {
    pub(super) fn new(buffers: Gauge) -> Self {
        Self { blocks: VecDeque::new(), buffers, reader: Reader::Reads, last: None }
    }

    /// Returns true if the next block need not be waited for.
    pub(super) fn is_settled(&self) -> bool {
        let without = match self.reader {
            Reader::Reads => false,
            // It may be about to take one that came back.
            Reader::Waits => self.buffers.is_empty(),
            Reader::WaitsForAll | Reader::Ended => true,
        };
        without || !self.blocks.is_empty()
    }

    /// When the next block begins.
    fn time(&self) -> Option<u64> {
        self.blocks.front()?.time
    }

    fn take(&mut self) -> Option<Work> {
        let work = self.blocks.pop_front()?;
        self.last = work.time;
        Some(work)
    }
}

/// Takes the next blocks of all places, but for those that begin much later than others: if the records of one log have more
/// bytes than those of another, as many bytes tell of a shorter time.
pub(super) fn next_of(places: &mut [Place]) -> Vec<Work> {
    let earliest = places.iter().filter_map(|place| Some((place.time()?, place.last))).min();
    let length = earliest.and_then(|(time, last)| Some((time, time.checked_sub(last?)?)));
    let is_held = |place: &Place| {
        place.time().zip(length).is_some_and(|(time, (earliest, length))| {
            let later = time - earliest;
            later > length / 2 && later < length.saturating_mul(FAR)
        })
    };
    places.iter_mut().filter(|place| !is_held(place)).filter_map(Place::take).collect()
}

/// The number with which a block begins, if it may be a time.
pub(super) fn time_of(block: &[u8]) -> Option<u64> {
    let digits = block.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = block.get(..digits).filter(|_| DIGITS.contains(&digits))?;
    str::from_utf8(number).ok()?.parse().ok()
}
