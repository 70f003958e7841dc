//! What belongs to a [`League`](crate::League): its rows, the order of runs in it, and the choice among repeats.

pub(crate) mod points;
pub(crate) mod ranking;
mod ranks;
mod standing;

pub use self::ranks::HoldRank;
pub use self::standing::{Standing, failing_frameworks, in_league_order, median_repeats};
