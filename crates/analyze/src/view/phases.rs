//! Parts of a run: spans of seconds, and the phases by what its load does.

use std::fmt;

/// A part of a run, by what its load does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// All that comes before the hold; in a run without a hold, a climb all the way.
    Ramp,
    /// The load is level, at its peak.
    Hold,
    /// All that comes after the hold.
    Tail,
}

impl Phase {
    /// The three, in the order of time.
    pub const ALL: [Self; 3] = [Self::Ramp, Self::Hold, Self::Tail];

    /// The phase's name: `ramp`, `hold` or `tail`.
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

/// Seconds from a first to a last one, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first second.
    pub first: u32,
    /// The last second.
    pub last: u32,
}

impl Span {
    /// How many seconds there are.
    pub fn seconds(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Whether a second is one of them.
    pub fn holds(self, second: u32) -> bool {
        (self.first..=self.last).contains(&second)
    }

    /// The seconds that two spans share.
    pub fn shared(self, other: Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Self { first, last })
    }
}

/// Which seconds of a run are its ramp, its hold and its tail.
///
/// The rule, on the load of the seconds (a second in which nobody reported has that of the second before it; where they
/// are more in a row than 20 times the usual distance of seconds with a report, they are a *silence*, of load 0):
///
/// 1. Odd seconds are taken out by the median of five. The *peak* is the largest load then.
/// 2. The load is held from the first second to the last in which it is within a band below the peak, if it is
///    there in nine of ten seconds between them. The *level* is the median of these seconds; at their ends, those
///    are left out that are further from it than 1 % and than three times the median distance from it.
/// 3. It is a hold if it has 5 seconds or more, if its first third is as high as its last (medians; to 3 %, or to
///    four standard errors, where the load is noisy), and if it is at least one and a half times as long, and three
///    seconds more, as any other stretch in which the load is as level: a load that climbs in steps is not held at
///    the last of them, nor is one that only passes through its peak.
/// 4. Bands of 1, 2, 5, 10 and 20 % of the peak are tried; the longest hold is taken.
/// 5. A load that is not held at its peak is held where it is level for longest, silence apart: within such a band, of
///    the usual load (the median), with the dips and spikes in between that are no longer than the level seconds on either
///    side, a fifth of the hold together, if that is a fifth of the run. Of several about as long (as in 3) it is the one
///    of the highest load, which is what a test is made for, and of equal ones the first; if the load climbs to it from
///    one of the others without coming down, there is no hold.
/// 6. What comes before the hold is the ramp, what comes after it the tail. Without a hold, all of the run is ramp
///    if the load climbs all the way (the medians of its tenths gain more than a fifth of the peak, and lose at most
///    a fifth of what they gain); else there are no phases.
///
/// Multiplying the load changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phases {
    /// Before the hold.
    pub ramp: Option<Span>,
    /// The load is level.
    pub hold: Option<Span>,
    /// After the hold.
    pub tail: Option<Span>,
}
