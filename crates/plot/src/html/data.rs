//! The data of the charts, as JSON that is safe within a script element.

use std::borrow::Cow;
use std::io::{self, Write};

use perfpipe_analyze::breakdown::{Details, Heatmap};
use perfpipe_analyze::sweep::LoadStep;
use perfpipe_analyze::{Second, Sweep, Timeline};
use serde::{Serialize, Serializer};

use crate::columns;
use crate::error::{Error, Result};
use crate::output::drawing::Text;
use crate::output::svg::hex;
use crate::palette::{SERIES, STEPS};
use crate::style::{ColorBy, Style};

/// The data of all charts.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    /// The colours of the measure, from its smallest value to its largest.
    scale: Vec<String>,
    /// The number of colours for lines.
    series: usize,
    runs: Vec<Run<'a>>,
}

/// The data of a run; values by second begin at `first`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    name: String,
    color_by: &'static str,
    /// The name of the field that the colours stand for.
    measure: &'static str,
    cpu_top: Option<f64>,
    /// The first and the last second of the hold; `None` without a hold, or if it is all of the selection.
    hold: Option<(u32, u32)>,
    first: u32,
    successes: BySecond<'a, u64>,
    failures: BySecond<'a, u64>,
    load: BySecond<'a, Number>,
    cpu: BySecond<'a, Number>,
    percentiles: &'a [f64],
    /// Values by second, for each of the percentiles.
    elapsed: Vec<BySecond<'a, Number>>,
    heat: Heat,
    curve: Vec<(f64, Number)>,
    sweep: Option<ByLoad>,
}

/// The run by load: one value for each step.
#[derive(Serialize)]
struct ByLoad {
    loads: Vec<Number>,
    throughput: Vec<Number>,
    /// The standard deviation of the seconds' throughput.
    spread: Vec<Number>,
    /// Values for each of the percentiles.
    elapsed: Vec<Vec<Number>>,
    cpu: Vec<Number>,
    /// The load of the knee.
    knee: Option<Number>,
    /// The throughput of the knee.
    capacity: Option<Number>,
    /// True if the sweep begins beyond the knee.
    beyond: bool,
}

/// A heat map. In each column, buckets and counts alternate.
#[derive(Serialize)]
struct Heat {
    width: u32,
    /// The lower edges of the buckets in ms, up to the upper edge of the last one used.
    edges: Vec<u64>,
    columns: Vec<Vec<u64>>,
}

/// A number with at most three decimals; integers have no decimal point. `null` if absent or not finite.
struct Number(Option<f64>);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.filter(|value| value.is_finite()).map(|value| (value * 1000.0).round() / 1000.0) {
            None => to.serialize_none(),
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => to.serialize_i64(whole as i64),
            Some(value) => to.serialize_f64(value),
        }
    }
}

/// A value of every second from the first to the last, computed while it is written: a run may have a million seconds.
struct BySecond<'a, T> {
    seconds: &'a [Second],
    value: Box<dyn Fn(&Second) -> T + 'a>,
}

impl<T: Serialize> Serialize for BySecond<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_seq(every_second(self.seconds).map(|second| (self.value)(&second)))
    }
}

impl<'a> Data<'a> {
    pub(super) fn new(runs: &[(&'a Timeline, &'a Details)], style: &Style) -> Self {
        Self {
            scale: (0..STEPS).map(|step| hex(style.palette.step(step))).collect(),
            series: SERIES.len(),
            runs: runs.iter().map(|(timeline, details)| Run::new(timeline, details, style)).collect(),
        }
    }

    /// Appends the JSON, with nothing in it that could end a script element or a line of script.
    pub(super) fn write(&self, out: &mut String) -> Result<()> {
        serde_json::to_writer(Escaped(out), self).map_err(|error| Error::Html(error.to_string()))
    }
}

/// Appends JSON, and escapes characters that can only occur within its strings.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        // serde_json writes whole characters.
        let json = std::str::from_utf8(json).map_err(io::Error::other)?;
        for part in json.split_inclusive(['<', '\u{2028}', '\u{2029}']) {
            let (text, special) = match part.char_indices().next_back() {
                Some((at, special @ ('<' | '\u{2028}' | '\u{2029}'))) => (part.get(..at), Some(special)),
                _ => (Some(part), None),
            };
            self.0.push_str(text.unwrap_or_default());
            self.0.extend(special.map(|special| format!("\\u{:04x}", u32::from(special))));
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the name that distinguishes a run from the others of its test.
fn name(timeline: &Timeline) -> String {
    let key = &timeline.info.key;
    if key.repeat == 1 { key.framework.clone() } else { format!("{}#{}", key.framework, key.repeat) }
}

impl<'a> Run<'a> {
    fn new(timeline: &'a Timeline, details: &Details, style: &Style) -> Self {
        let seconds = timeline.seconds.as_slice();
        let counts = |value: fn(&Second) -> u64| BySecond { seconds, value: Box::new(value) };
        let values = |value: fn(&Second) -> Option<f64>| BySecond {
            seconds,
            value: Box::new(move |s| Number(value(s))),
        };
        let percentile =
            |at: usize| BySecond { seconds, value: Box::new(move |s: &Second| Number(s.percentile(at))) };
        let measure = match style.color_by {
            ColorBy::Load => "load",
            ColorBy::Cpu => "cpu",
            ColorBy::Throughput => "successes",
        };
        Self {
            name: Text::clean(&name(timeline)),
            color_by: style.color_by.noun(),
            measure,
            cpu_top: style.cpu_top(),
            hold: timeline.hold.as_ref().and(timeline.phases.hold).map(|span| (span.first, span.last)),
            first: columns::span(timeline).0,
            successes: counts(|second| second.successes),
            failures: counts(|second| second.failures),
            load: values(|second| second.load),
            cpu: values(|second| second.cpu),
            percentiles: &timeline.percentiles,
            elapsed: (0..timeline.percentiles.len()).map(percentile).collect(),
            heat: Heat::new(&details.heatmap),
            sweep: details.by_load().map(ByLoad::new),
            curve: details.curve.iter().map(|(percent, ms)| (*percent, Number(Some(*ms)))).collect(),
        }
    }
}

/// Returns a second of which nothing is known.
fn silent(at: u32) -> Second {
    let mut second = Second::default();
    second.second = at;
    second
}

/// Returns every second from the first to the last; missing ones are empty.
fn every_second(seconds: &[Second]) -> impl Iterator<Item = Cow<'_, Second>> {
    let mut expected = seconds.first().map_or(0, |first| first.second);
    seconds.iter().flat_map(move |second| {
        let missing = expected..second.second;
        expected = second.second + 1;
        missing.map(|second| Cow::Owned(silent(second))).chain(std::iter::once(Cow::Borrowed(second)))
    })
}

impl ByLoad {
    fn new(sweep: &Sweep) -> Self {
        let values = |value: &dyn Fn(&LoadStep) -> Option<f64>| {
            sweep.steps.iter().map(|step| Number(value(step))).collect()
        };
        let percentile = |at: usize| values(&|step| step.summary.percentiles.get(at).copied().flatten());
        Self {
            loads: values(&|step| Some(step.load)),
            throughput: values(&|step| Some(step.summary.throughput)),
            spread: values(&|step| step.throughput_sd),
            elapsed: (0..sweep.percentiles.len()).map(percentile).collect(),
            cpu: values(&|step| step.summary.cpu_mean),
            knee: sweep.knee.map(|knee| Number(Some(knee.load))),
            capacity: sweep.knee.map(|knee| Number(Some(knee.throughput))),
            beyond: sweep.knee.is_some_and(|knee| knee.begins_beyond),
        }
    }
}

impl Heat {
    fn new(map: &Heatmap) -> Self {
        let used = map.columns.iter().flat_map(|column| &column.counts).map(|(bucket, _)| *bucket).max();
        let turns = |counts: &[(u32, u64)]| {
            counts.iter().flat_map(|(bucket, samples)| [u64::from(*bucket), *samples]).collect()
        };
        Self {
            width: map.width.max(1),
            edges: used.map_or(0..0, |last| 0..last + 2).map(Heatmap::edge).collect(),
            columns: map.columns.iter().map(|column| turns(&column.counts)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support;

    #[test]
    fn no_name_ends_the_script_element() {
        let mut run = support::short(3);
        run.info.key.framework = "</script><!--\u{2028}\u{2029}\"".to_owned();
        let (details, mut json) = (Details::default(), String::new());
        Data::new(&[(&run, &details)], &Style::default()).write(&mut json).unwrap();
        assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["runs"][0]["name"], "</script><!--\u{2028}\u{2029}\"");
        assert_eq!(read["runs"][0]["successes"][2], run.seconds[2].successes);
    }

    #[test]
    fn numbers_are_short_and_absent_ones_null() {
        let values = [Some(12.0), Some(1.23456), None, Some(f64::NAN), Some(-0.5), Some(1e300)].map(Number);
        assert_eq!(serde_json::to_string(&values).unwrap(), "[12,1.235,null,null,-0.5,1e+300]");
    }

    #[test]
    fn missing_second_is_there_and_empty() {
        let mut run = support::short(4);
        run.seconds.remove(2);
        let seconds: Vec<_> = every_second(&run.seconds).collect();
        assert_eq!(seconds.iter().map(|second| second.second).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!((seconds[2].successes, seconds[2].load), (0, None));
    }
}
