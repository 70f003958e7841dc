//! A count of which only bounds may be known.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A count that lies between two bounds, which are equal if it is known.
///
/// ```
/// use perfpipe_ingest::points::Bounds;
///
/// assert_eq!(Bounds::exactly(40).to_string(), "40");
/// assert_eq!(Bounds::between(40, 120).to_string(), "40..120");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bounds {
    /// The count is at least this.
    pub least: u64,
    /// The count is at most this.
    pub greatest: u64,
}

impl Bounds {
    /// A known count.
    pub fn exactly(count: u64) -> Self {
        Self { least: count, greatest: count }
    }

    /// A count between two bounds, in either order.
    pub fn between(one: u64, other: u64) -> Self {
        Self { least: one.min(other), greatest: one.max(other) }
    }

    /// Returns true if the bounds are equal.
    pub fn is_exact(self) -> bool {
        self.least == self.greatest
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{}..{}", self.least, self.greatest)
        }
    }
}
