//! How far a log has come, by its own clock.

use std::time::{Duration, Instant};

/// A second is complete when a record was read that ended this many ms after it: requests are logged when they end.
const SETTLED_MS: i64 = 1000;

/// A log of which nothing was read for this long holds up no second, as long as others go on.
const SILENT: Duration = Duration::from_secs(3);

/// A log that jumps further than this, in ms, is believed only once its next block does so too: a single clock may be mad.
const JUMP_MS: i64 = 600_000;

/// How far a log has come.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The latest end of a record, epoch ms.
    end_ms: Option<i64>,
    /// When the last record was read.
    at: Option<Instant>,
    /// True if the last block jumped too far.
    jumped: bool,
    /// True once nothing more comes.
    pub(super) ended: bool,
}

impl Heard {
    /// Takes note of a block with records, of which the last ended at `end_ms`.
    pub(super) fn took(&mut self, end_ms: i64) {
        self.at = Some(Instant::now());
        let jumps = self.end_ms.is_some_and(|known| end_ms - known > JUMP_MS);
        if jumps && !self.jumped {
            self.jumped = true;
            return;
        }
        self.jumped = false;
        self.end_ms = self.end_ms.max(Some(end_ms));
    }

    /// Begins again.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns true if a record was read.
    pub(super) fn is_heard(&self) -> bool {
        self.at.is_some()
    }

    /// The time since the last record was read.
    pub(super) fn silent(&self) -> Option<Duration> {
        self.at.map(|at| at.elapsed())
    }

    fn goes_on(&self) -> bool {
        !self.ended && self.silent().is_some_and(|silent| silent < SILENT)
    }
}

/// The number of complete seconds since `t0_ms`. The slowest of the logs that go on decides, or else the one that has come
/// furthest.
pub(super) fn complete(logs: &[Heard], t0_ms: i64) -> u32 {
    let going = logs.iter().filter(|log| log.goes_on()).filter_map(|log| log.end_ms).min();
    let end = going.or_else(|| logs.iter().filter_map(|log| log.end_ms).max());
    let seconds = end.map(|end| end.saturating_sub(t0_ms).saturating_sub(SETTLED_MS).div_euclid(1000));
    u32::try_from(seconds.unwrap_or_default().max(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(ends: &[i64]) -> Heard {
        let mut heard = Heard::default();
        ends.iter().for_each(|end| heard.took(*end));
        heard
    }

    #[test]
    fn second_is_complete_a_second_later_by_the_slowest_log_that_goes_on() {
        assert_eq!(complete(&[], 0), 0);
        assert_eq!(complete(&[heard(&[1_999])], 0), 0);
        assert_eq!(complete(&[heard(&[2_000])], 0), 1);
        assert_eq!(complete(&[heard(&[9_000]), heard(&[5_500])], 0), 4);
        let ended = Heard { ended: true, ..heard(&[5_500]) };
        assert_eq!(complete(&[heard(&[9_000]), ended], 0), 8);
        assert_eq!(complete(&[heard(&[9_000]), Heard::default()], 0), 8);
        assert_eq!(complete(&[heard(&[500])], 9_000), 0);
    }

    #[test]
    fn log_that_ended_first_counts_once_none_goes_on() {
        let ended = |end| Heard { ended: true, ..heard(&[end]) };
        assert_eq!(complete(&[ended(9_000), ended(5_500)], 0), 8);
    }

    #[test]
    fn single_mad_clock_is_not_believed() {
        assert_eq!(heard(&[1_000, 90_000_000]).end_ms, Some(1_000));
        assert_eq!(heard(&[1_000, 90_000_000, 2_000]).end_ms, Some(2_000));
        assert_eq!(heard(&[1_000, 90_000_000, 90_000_500]).end_ms, Some(90_000_500));
    }
}
