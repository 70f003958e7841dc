//! What belongs to a [`League`](crate::League): its rows, the order of runs in it, and the choice among repeats.

mod apart;
pub(crate) mod points;
mod rank;
pub(crate) mod ranking;
mod repeats;
mod standing;

pub use self::repeats::{failing_frameworks, median_repeats};
pub use self::standing::{Standing, in_league_order};
