//! A running test on a terminal: its figures, their last minutes, its phases and what fails.

use std::time::Instant;

use anyhow::Result;
use perfpipe_analyze::breakdown::{ErrorKind, error_kinds};
use perfpipe_analyze::format::{decimals, duration, thousands};
use perfpipe_analyze::{Second, Summary, Timeline, View};
use perfpipe_ingest::watch::{Look, Watch};

use super::frame::{Frame, spark};
use super::pace::Pace;
use super::recent::{PERCENTILES, recent};
use crate::output::terminal::size;

/// The number of seconds that are looked back on.
const BACK: u32 = 300;

/// The columns before a row of sparks: the name of a figure and its latest value.
const BESIDE: usize = 24;

/// The most kinds of failures that are shown.
const FAILURES: usize = 5;

/// The silence, in seconds, from which on it is shown.
const SILENT: u64 = 3;

/// The screen of a running test.
pub(super) struct Screen {
    frame: Frame,
    title: String,
    pace: Pace,
    whole: Option<Summary>,
    drawn: Option<Instant>,
}

/// What the last minutes show.
struct Minutes {
    timeline: Timeline,
    failures: Vec<ErrorKind>,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn new(title: String) -> Result<Self> {
        Ok(Self { frame: Frame::begin()?, title, pace: Pace::default(), whole: None, drawn: None })
    }

    /// Draws the test as it is now, about once a second.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look, trouble: Option<String>) -> Result<()> {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed().as_millis() >= 900);
        if !is_due && !look.ended {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        let first = look.complete.saturating_sub(BACK);
        let minutes = match recent(watch, first)? {
            Some((run, timeline)) => {
                let failures = error_kinds(&run, &timeline.view)?;
                Some(Minutes { timeline, failures })
            }
            None => None,
        };
        self.look_at_all(watch)?;
        let (width, height) = size();
        let mut lines = self.lines(look, minutes.as_ref(), width);
        lines.extend(trouble.map(|trouble| format!("no CPU readings: {trouble}")));
        self.frame.draw(&lines, width, height)?;
        Ok(())
    }

    /// Computes the figures of the whole run, as often as that is cheap.
    fn look_at_all(&mut self, watch: &Watch) -> Result<()> {
        if !self.pace.is_due() {
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(run) = watch.run(0)? {
            let timeline = Timeline::new(&run, &View::of(&run.info).with_percentiles(PERCENTILES))?;
            self.whole = Some(timeline.summary);
        }
        self.pace.took(begun.elapsed());
        Ok(())
    }

    fn lines(&self, look: &Look, minutes: Option<&Minutes>, width: usize) -> Vec<String> {
        let mut lines = vec![self.heading(look), String::new()];
        let Some(minutes) = minutes else {
            lines.push("waiting for the first second to be complete".to_owned());
            lines.extend(look.unheard.iter().map(|log| format!("  nothing yet from {}", log.display())));
            return lines;
        };
        lines.extend(sparks(&minutes.timeline, width));
        lines.push(String::new());
        lines.extend(self.so_far(look));
        lines.extend(failing(&minutes.failures));
        lines
    }

    fn heading(&self, look: &Look) -> String {
        let at = duration(u64::from(look.complete));
        let silent = look.silent.map(|silent| silent.as_secs()).filter(|silent| *silent >= SILENT);
        let silent = silent.map(|silent| format!("   no new records for {silent} s")).unwrap_or_default();
        format!("{}   {at}{silent}   Ctrl-C stops and stores the run", self.title)
    }

    /// The figures of the whole run.
    fn so_far(&self, look: &Look) -> Vec<String> {
        let Some(summary) = &self.whole else { return Vec::new() };
        let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| decimals(value, 0));
        let share = summary.failure_share().unwrap_or_default() * 100.0;
        let mut lines = vec![format!(
            "so far: {} requests, {share:.2} % failed, {}/s, p50 {} p95 {} p99 {} ms",
            thousands(summary.requests()),
            decimals(summary.throughput, 0),
            ms(summary.p50),
            ms(summary.p95),
            ms(summary.p99),
        )];
        if look.rejects > 0 {
            lines.push(format!("rejected records: {}", thousands(look.rejects)));
        }
        lines
    }
}

/// A figure by second.
struct ScreenRow {
    name: &'static str,
    of: fn(&Second) -> Option<f64>,
    unit: &'static str,
    /// True if it is known some seconds later than others.
    is_late: bool,
}

impl ScreenRow {
    const fn new(name: &'static str, of: fn(&Second) -> Option<f64>, unit: &'static str) -> Self {
        Self { name, of, unit, is_late: false }
    }

    const fn late(self) -> Self {
        Self { is_late: true, ..self }
    }
}

/// The figures that are shown.
const ROWS: [ScreenRow; 7] = [
    ScreenRow::new("successes", |second| Some(second.successes as f64), "/s"),
    ScreenRow::new("load", |second| second.load.get(), ""),
    ScreenRow::new("p50", |second| second.percentile(0), " ms"),
    ScreenRow::new("p95", |second| second.percentile(1), " ms"),
    ScreenRow::new("p99", |second| second.percentile(2), " ms"),
    ScreenRow::new("failures", |second| Some(second.failures as f64), "/s"),
    ScreenRow::new("CPU", |second| second.cpu.get(), " %").late(),
];

/// Returns a line for each figure, with its latest value and its course, and a line that names the time.
fn sparks(timeline: &Timeline, width: usize) -> Vec<String> {
    let room = width.saturating_sub(BESIDE).clamp(1, BACK as usize);
    let rows = ROWS.iter().filter_map(|ScreenRow { name, of, unit, is_late }| {
        let values: Vec<Option<f64>> = timeline.seconds.iter().map(of).collect();
        values.iter().any(Option::is_some).then(|| {
            let known = values.iter().rposition(|value| !is_late || value.is_some());
            let latest = known.and_then(|known| *values.get(known)?);
            let latest = latest.map_or_else(|| "-".to_owned(), |value| decimals(value, 0) + unit);
            format!("{name:<9} {latest:>12}  {}", spark(&values, room))
        })
    });
    let mut lines: Vec<String> = rows.collect();
    let seconds = timeline.seconds.len();
    let each = seconds.div_ceil(room).max(1);
    let ago = format!("last {}, {each} s a column", duration(seconds as u64));
    lines.push(format!("{:BESIDE$}{ago}", ""));
    lines
}

/// Returns the most frequent failures of the last minutes.
fn failing(kinds: &[ErrorKind]) -> Vec<String> {
    if kinds.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), "failures of the last minutes".to_owned()];
    for kind in kinds.iter().take(FAILURES) {
        let labels: Vec<&str> = kind.labels.iter().take(2).map(|(label, _)| label.as_str()).collect();
        let more = if kind.labels.len() > labels.len() { ", …" } else { "" };
        let what = format!("{} {} ({}{more})", kind.response_code, kind.message, labels.join(", "));
        lines.push(format!("{:>9}  {what}", thousands(kind.count)));
    }
    lines
}
