//! Summaries that load tools print of one run, as points of a sweep. One file a tool.

mod command;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fixtures;
mod json;
pub mod keys;
#[cfg(test)]
mod oracles;
pub mod others;
mod section;
mod tool;
pub mod tools;
mod units;
pub mod unwrapped;
#[cfg(test)]
mod variants;
pub mod walk;

use self::tools::TOOLS;
use self::unwrapped::unwrapped;
use self::walk::{FoundSections, SectionWalk};

/// Finds what load tools printed among the lines of a text: many sections, of several tools, with other text between.
///
/// Colours, and times or names before each line, are removed. Bytes that are no UTF-8 or UTF-16 are replaced. A section
/// that was cut, or whose tool gave up, has no figures but the reason.
///
/// ```
/// # mod perfpipe_ingest { pub mod points { pub use perfpipe_formats::summaries::sections; } }
/// use perfpipe_ingest::points::sections;
///
/// let text = "wrk -c 64 -t 2 http://h:80/hello\nRunning 10s test @ http://h:80/hello\n  2 threads and 64 connections\n";
/// let found = sections(text.as_bytes());
/// assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("wrk", Some(64)));
/// assert!(found.sections[0].figures.aborted.is_some(), "wrk was stopped before it printed any figure");
/// ```
pub fn sections(bytes: &[u8]) -> FoundSections {
    SectionWalk::over(&TOOLS, unwrapped(bytes).trim_start_matches('\u{feff}'))
}
