//! The latest seconds of a running test, how often work on the whole run is due, and one line for each second where
//! standard output is no terminal.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_analyze::format::{decimals, thousands};
use perfpipe_analyze::{Second, Timeline, View};
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::watch::{Look, Watch};

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

/// The percentiles that are shown, in percent.
pub(in crate::commands::watch) const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// The number of seconds before those that are shown from which the load of an injector that is silent is known.
const BEFORE: u32 = 60;

/// Returns the complete seconds from `first` on; `None` if none is complete.
pub(super) fn recent(watch: &Watch, first: u32) -> Result<Option<(StoredRun, Timeline)>> {
    let Some(run) = watch.run(first.saturating_sub(BEFORE))? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES).with_window(first, None);
    let timeline = Timeline::new(&run, &view)?;
    Ok(Some((run, timeline)))
}

/// The pause after some work, as a multiple of its duration: it uses a tenth of the time, however long a run is.
const REST: u32 = 9;

/// The least time between two pieces of work: there is nothing new within a second.
const LEAST: Duration = Duration::from_millis(900);

/// When work on the whole run is due again.
#[derive(Debug, Default)]
pub(super) struct Pace {
    rests_until: Option<Instant>,
}

impl Pace {
    /// Returns true if the work is due.
    pub(super) fn is_due(&self) -> bool {
        self.rests_until.is_none_or(|until| Instant::now() >= until)
    }

    /// Sets the pause after work of this duration.
    pub(super) fn pause_after(&mut self, long: Duration) {
        self.rests_until = Some(Instant::now() + (long * REST).max(LEAST));
    }
}
