//! How long more of a second is expected.

/// More of a second is expected at most until one comes that is more than this many seconds newer.
pub(super) const MOST: u32 = 60;

/// The number of blocks that tell how late records come. Until then, as much as can be is expected.
const BLOCKS: u32 = 8;

/// How far blocks went back behind the newest second before them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lateness {
    /// The number of blocks that have told.
    blocks: u32,
    /// The most that one of them went back, in seconds.
    most: u32,
}

impl Lateness {
    /// Learns from a block whose earliest second this is, where `newest` is the newest one of the blocks before.
    pub(super) fn learn(&mut self, earliest: u32, newest: u32) {
        self.blocks = self.blocks.saturating_add(1);
        self.most = self.most.max(newest.saturating_sub(earliest));
    }

    /// More of a second is expected until one comes that is more than this many seconds newer: twice what was needed so far,
    /// and two.
    pub(super) fn expected(self) -> u32 {
        // A cell that stays open costs more than one that is packed at once. But one that comes too late, which is added to
        // those packed before, costs the most.
        if self.blocks < BLOCKS { MOST } else { self.most.saturating_mul(2).saturating_add(2).min(MOST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_as_late_as_any_before_is_expected_but_no_more_than_a_minute() {
        let mut lateness = Lateness::default();
        for block in 0..BLOCKS {
            assert_eq!(lateness.expected(), MOST);
            lateness.learn(10 * block + 7, 10 * block + 10);
        }
        assert_eq!(lateness.expected(), 8);
        lateness.learn(100, 90);
        assert_eq!(lateness.expected(), 8);
        lateness.learn(0, u32::MAX);
        assert_eq!(lateness.expected(), MOST);
    }
}
