//! Rules that a run or the points of a sweep must keep, and the check against them.

mod baseline;
mod bound;
mod gate;
mod measure;
mod not_worse;
mod objective;
mod points;
mod rule;
mod server;
mod value;
mod verdict;
mod words;

pub use self::baseline::Baseline;
pub use self::gate::{Comparison, Gate, RuleFigures};
pub use self::objective::Objective;
pub use self::points::check_points;
pub use self::rule::{Outlook, Rule};
pub use self::verdict::{RuleOutcome, Verdict, check, verdict_table};
