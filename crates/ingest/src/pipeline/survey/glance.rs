//! How far the beginning of a log that will be opened again is looked at.

use crate::counts::counter::step::Span;
use crate::formats::jtl::parsed::Parsed;
use crate::sample::pool::{Buffers, PooledBuffer};

/// The size of the blocks in which a beginning is looked at, in bytes. They are small, since most beginnings tell enough in
/// one of them.
pub(super) const BLOCK: usize = 256 << 10;

/// A record is written when its response has come. So one that began before those that were seen took as long as these
/// span; with this many times the longest response, there is most likely none.
const TIMES: i64 = 4;

/// The number of samples that are enough in any case: few logs have more users, who all begin at once.
const ENOUGH: usize = 4 << 10;

/// What was looked at of one log.
#[derive(Default)]
pub(super) struct Glance {
    /// The number of its bytes.
    pub(super) bytes: usize,
    samples: usize,
    span: Option<Span>,
    /// The longest response, in ms.
    longest: i64,
}

impl Glance {
    /// Adds a block of the log.
    pub(super) fn add(&mut self, parsed: &Parsed) {
        let Some(span) = parsed.earliest_ms.zip(parsed.latest_ms) else { return };
        self.span = Some(self.span.map_or(span, |seen| (seen.0.min(span.0), seen.1.max(span.1))));
        let batch = &parsed.batch;
        self.samples += batch.t_ms.len();
        let longest = batch.elapsed.iter().copied().max().unwrap_or_default();
        self.longest = self.longest.max(batch.resolution.whole_ms(longest));
    }

    /// Returns true if no record is likely to follow that began before all that were seen, or if these are many.
    pub(super) fn is_settled(&self) -> bool {
        let spanned = self.span.map(|(earliest, latest)| latest.saturating_sub(earliest));
        self.samples >= ENOUGH || spanned.is_some_and(|spanned| spanned > self.longest.saturating_mul(TIMES))
    }
}

/// A single buffer, which is empty again once the block in it was looked at.
#[derive(Default)]
pub(super) struct OneBuffer(pub(super) PooledBuffer);

impl Buffers for OneBuffer {
    fn take(&mut self) -> Option<PooledBuffer> {
        Some(std::mem::take(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block with samples of these times and lengths, in ms.
    fn parsed(samples: &[(i64, i32)]) -> Parsed {
        let mut parsed = Parsed::default();
        for &(t_ms, elapsed) in samples {
            parsed.batch.t_ms.push(t_ms);
            parsed.batch.elapsed.push(elapsed);
        }
        let times = || samples.iter().map(|(t_ms, _)| *t_ms);
        (parsed.earliest_ms, parsed.latest_ms) = (times().min(), times().max());
        parsed
    }

    #[test]
    fn beginning_is_settled_once_it_spans_several_of_its_longest_response() {
        let mut glance = Glance::default();
        glance.add(&parsed(&[]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(1000, 300), (1900, 10)]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(2200, 5)]));
        assert!(!glance.is_settled(), "exactly four times");
        glance.add(&parsed(&[(2201, 301)]));
        assert!(!glance.is_settled(), "a longer one has come");
        glance.add(&parsed(&[(995, 1), (2200, 5)]));
        assert!(glance.is_settled());
    }

    #[test]
    fn many_samples_are_enough() {
        let mut glance = Glance::default();
        glance.add(&parsed(&[(1000, 300); ENOUGH - 1]));
        assert!(!glance.is_settled());
        glance.add(&parsed(&[(1000, 300)]));
        assert!(glance.is_settled());
    }
}
