//! Spans of seconds, and the phases of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A phase of a run, defined by its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// The seconds before the hold; in a run without a hold, a climb all the way.
    Ramp,
    /// The seconds in which the load is level.
    Hold,
    /// The seconds after the hold.
    Tail,
}

impl Phase {
    /// All phases, in the order of time.
    pub const ALL: [Self; 3] = [Self::Ramp, Self::Hold, Self::Tail];

    /// Returns the phase's name: `ramp`, `hold` or `tail`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ramp => "ramp",
            Self::Hold => "hold",
            Self::Tail => "tail",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Consecutive seconds from a first to a last one, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first second.
    pub first: u32,
    /// The last second.
    pub last: u32,
}

impl Span {
    /// Returns the number of seconds.
    pub fn seconds(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Divides the span into stretches of at most `seconds` seconds.
    pub(crate) fn stretches(self, seconds: u32) -> impl Iterator<Item = Self> {
        let length = seconds.max(1);
        let firsts = (self.first..=self.last).step_by(length as usize);
        firsts.map(move |first| Self { first, last: self.last.min(first.saturating_add(length - 1)) })
    }

    /// Returns true if the span contains a second.
    pub fn holds(self, second: u32) -> bool {
        (self.first..=self.last).contains(&second)
    }

    /// Returns the intersection of two spans, if they overlap.
    pub(crate) fn shared(self, other: Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Self { first, last })
    }
}

/// The seconds of a run's ramp, hold and tail.
///
/// They follow from the load of the seconds. A second without a report has the load of the one before it. A longer gap
/// than 20 times the usual distance of seconds with a report is a *silence*, with load 0. The rule:
///
/// 1. A moving median of five removes outliers. The *peak* is the largest load after that.
/// 2. The load is held from the first to the last second within a band below the peak, if at least nine in ten seconds
///    between them are within the band. The *level* is the median of these seconds. Seconds at either end are cut off
///    if they are further from the level than 1 % and than three times the median distance from it.
/// 3. It is a hold if it has at least 5 seconds, if the medians of its first and its last third are equal (to 3 %, or
///    to four standard errors for a noisy load), and if it is at least three seconds longer than one and a half times
///    any other stretch in which the load is as level. So a load that climbs in steps is not held at the last of them,
///    nor is one that only passes through its peak.
/// 4. Bands of 1, 2, 5, 10 and 20 % of the peak are tried; the longest hold is chosen.
/// 5. A load that is not held at its peak is held where it is level for longest, silences excepted, if that is at
///    least a fifth of the run. Bands are then shares of the usual load (the median). Dips and spikes in between belong
///    to the hold if they are no longer than the level seconds on either side, and at most a fifth of the hold in
///    total. Of several stretches of similar length (as in 3) the one with the highest load is chosen, since that is
///    what a test is made for, and of equal ones the first. There is no hold if the load climbs to it from one of the
///    others without coming down.
/// 6. The seconds before the hold are the ramp, those after it the tail. Without a hold, the whole run is ramp if the
///    load climbs all the way: the medians of its tenths gain more than a fifth of the peak, and lose at most a fifth
///    of that gain. Otherwise there are no phases.
///
/// The result does not change if the load is multiplied by a constant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// The seconds before the hold.
    pub ramp: Option<Span>,
    /// The seconds in which the load is level.
    pub hold: Option<Span>,
    /// The seconds after the hold.
    pub tail: Option<Span>,
}
