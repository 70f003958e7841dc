//! Rules that a run must keep, and the check of a run against them.

mod bound;
mod figures;
mod lasting;
mod measure;
mod rule;
mod verdict;

pub use self::rule::Rule;
pub use self::verdict::{Verdict, check, verdict_table};
