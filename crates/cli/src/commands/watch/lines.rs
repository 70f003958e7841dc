//! One line for each second of a running test, where standard output is no terminal.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::Second;
use perfpipe_analyze::format::{decimals, thousands};
use perfpipe_ingest::watch::{Look, Watch};

use super::recent::recent;
use crate::output::Output;

/// The number of seconds, up to the latest, that are shown again if a late record changes them.
const CORRECTED: u32 = 300;

/// The first line.
const HEADER: &str = "  second  throughput      load    p50 ms    p95 ms    p99 ms  failures";

/// The lines so far.
#[derive(Default)]
pub(super) struct WatchLines {
    /// The first second that was not shown.
    next: u32,
    /// The lines of the latest seconds, without those that are too old to be corrected.
    shown: BTreeMap<u32, String>,
    recounts: u64,
}

impl WatchLines {
    /// Prints the seconds that became complete, and those that late records changed.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look) -> Result<()> {
        let counted_again = std::mem::replace(&mut self.recounts, look.recounts) != look.recounts;
        let known = self.shown.first_key_value().map_or(self.next, |(first, _)| *first);
        let changed = look.changed.range(known..self.next).next().copied();
        let first = if counted_again { known } else { changed.unwrap_or(self.next) };
        if first >= look.complete {
            return Ok(());
        }
        let Some((_, timeline)) = recent(watch, first)? else { return Ok(()) };
        let mut output = Output::open(None)?;
        for second in &timeline.seconds {
            self.line(second, &mut output)?;
        }
        let latest = self.next;
        self.shown.retain(|second, _| second.saturating_add(CORRECTED) >= latest);
        output.finish()
    }

    /// Prints a second if it is new or differs from how it was printed.
    fn line(&mut self, second: &Second, output: &mut Output) -> Result<()> {
        let line = line(second);
        let is_new = second.second >= self.next;
        if !is_new && self.shown.get(&second.second) == Some(&line) {
            return Ok(());
        }
        if self.next == 0 {
            writeln!(output, "{HEADER}")?;
        }
        writeln!(output, "{line}{}", if is_new { "" } else { "  corrected" })?;
        self.next = self.next.max(second.second + 1);
        self.shown.insert(second.second, line);
        Ok(())
    }
}

/// Returns the line of a second. What it lacks is `-`.
fn line(second: &Second) -> String {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| decimals(value, 0));
    let [p50, p95, p99] = [0, 1, 2].map(|at| shown(second.percentile(at)));
    format!(
        "{:>8}  {:>10}  {:>8}  {p50:>8}  {p95:>8}  {p99:>8}  {:>8}",
        second.second,
        thousands(second.successes),
        shown(second.load.get()),
        thousands(second.failures),
    )
}
