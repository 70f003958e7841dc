//! A running test on a terminal: its figures, their last minutes, its phases and what fails, drawn by the control sequences
//! that all terminals have.

use std::io;
use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use perfpipe_analyze::breakdown::{ErrorKind, error_kinds};
use perfpipe_analyze::format::{decimals, duration, one_line, thousands};
use perfpipe_analyze::{Second, Summary, Timeline, View};
use perfpipe_ingest::watch::{Look, Watch};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::lines::{PERCENTILES, Pace, recent};
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
    /// Switches the terminal to a screen of its own.
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
        self.pace.pause_after(begun.elapsed());
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

/// The heights of a column, from least to greatest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The terminal's other screen, without the cursor. What was on the first one is shown again once this is dropped.
pub(super) struct Frame(());

impl Frame {
    pub(super) fn begin() -> io::Result<Self> {
        let frame = Self(());
        write!(io::stdout(), "\x1b[?1049h\x1b[?25l\x1b[2J")?;
        io::stdout().flush()?;
        Ok(frame)
    }

    /// Draws lines over those that were drawn before, as much of them as there is room for. Whatever they contain, they
    /// do not act on the terminal.
    pub(super) fn draw(&mut self, lines: &[String], width: usize, height: usize) -> io::Result<()> {
        let mut text = String::from("\x1b[H");
        for (at, line) in lines.iter().take(height).enumerate() {
            if at > 0 {
                text.push_str("\r\n");
            }
            text.push_str(&clipped(&one_line(line), width));
            // To the end of the line, as it was drawn before.
            text.push_str("\x1b[K");
        }
        text.push_str("\x1b[J");
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        let _ = write!(out, "\x1b[?25h\x1b[?1049l");
        let _ = out.flush();
    }
}

/// Returns a text of at most this many columns. Some characters take two of them.
fn clipped(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |character: &char| {
        taken += character.width().unwrap_or_default();
        taken < width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Returns values as columns, at most `room` of them: each is the mean of the same number of values. A column without a value is blank.
fn spark(values: &[Option<f64>], room: usize) -> String {
    let each = values.len().div_ceil(room.max(1)).max(1);
    let mean = |part: &[Option<f64>]| {
        let known: Vec<f64> = part.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = values.chunks(each).map(mean).collect();
    let most = means.iter().copied().flatten().fold(0.0, f64::max);
    let column = |mean: &Option<f64>| match mean {
        None => ' ',
        Some(mean) => height(*mean, most),
    };
    means.iter().map(column).collect()
}

/// Returns the column of a value, of which the greatest is `most`.
fn height(value: f64, most: f64) -> char {
    let share = if most > 0.0 { value / most } else { 0.0 };
    let at = (share * (HEIGHTS.len() - 1) as f64).round() as usize;
    HEIGHTS.get(at).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_means_and_absent_values_are_blank() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(spark(&some(&[0.0, 7.0, 3.5]), 10), "▁█▅");
        assert_eq!(spark(&[Some(2.0), None, Some(4.0)], 3), "▅ █");
        assert_eq!(spark(&some(&[1.0, 3.0, 4.0, 4.0]), 2), "▅█");
        assert_eq!(spark(&some(&[0.0, 0.0]), 2), "▁▁");
        assert_eq!(spark(&[], 2), "");
    }

    #[test]
    fn text_that_is_too_long_is_cut() {
        assert_eq!(clipped("abcdef", 6), "abcdef");
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(clipped("測試測試", 8), "測試測試");
        assert_eq!(clipped("測試測試", 6), "測試…");
        assert_eq!(clipped("測試測試", 5), "測試…");
        assert_eq!(clipped("測試", 1), "…");
    }
}
