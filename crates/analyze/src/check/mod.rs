//! Rules that a run must keep, and the check of a run against them.

mod baseline;
mod bound;
mod figures;
mod lasting;
mod measure;
mod rule;
mod verdict;

pub use self::baseline::Baseline;
pub use self::rule::Rule;
pub use self::verdict::{Verdict, check, verdict_table};
