//! The data of the charts: an index of all runs as JSON, and for each run its seconds and its details, packed.

mod network;
mod number;
pub(super) mod packed;

use std::borrow::Cow;

use perfpipe_analyze::breakdown::{Details, HeatColumn, Heatmap, LabelOverTime, OverTime};
use perfpipe_analyze::sweep::LoadStep;
use perfpipe_analyze::{Second, SeriesBySecond, Span, Summary, Sweep, Timeline};
use serde::{Serialize, Serializer};

use self::network::{Bins, Waits, is_one};
use self::number::Number;
use super::report::Grouped;
use crate::charts::shared::ScaledSeries;
use crate::columns;
use crate::output::drawing::Text;
use crate::output::svg::hex;
use crate::palette::{SERIES, STEPS};
use crate::style::{ColorBy, Palette, Style, Times};
use crate::text::clock::RunClock;

/// What is known of all runs before their data are unpacked.
#[derive(Serialize)]
pub(super) struct RunIndex {
    runs: Vec<RunHead>,
    /// The number of colours for frameworks.
    colors: usize,
    /// The colours of the measure, from its smallest value to its largest; `None` for shades of one colour.
    scale: Option<Vec<String>>,
}

/// A run, without its data.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunHead {
    name: String,
    framework: String,
    color: usize,
    median: bool,
    failing: bool,
    first: u32,
    seconds: u32,
    /// The part of the last second that the run lasted, 0 to 1.
    last_part: Number,
    percentiles: Vec<f64>,
    color_by: &'static str,
    /// The name of the field that the colours stand for.
    measure: &'static str,
    cpu_top: Option<f64>,
    /// What the clock showed at second 0, in seconds since midnight.
    clock: u32,
    /// True if the time axes show the time of day.
    by_clock: bool,
    /// The whole selection, then its phases.
    parts: Vec<HtmlPart>,
}

/// A part of a run, with its exact percentiles.
#[derive(Serialize)]
struct HtmlPart {
    name: &'static str,
    from: u32,
    to: u32,
    duration: Number,
    times: [Number; 3],
}

/// The seconds of a run.
#[derive(Serialize)]
pub(super) struct SeriesData<'a> {
    successes: BySecond<'a, u64>,
    failures: BySecond<'a, u64>,
    load: BySecond<'a, Number>,
    cpu: BySecond<'a, Number>,
    /// For each of the percentiles.
    elapsed: Vec<BySecond<'a, Number>>,
    curve: Vec<(f64, Number)>,
    /// The server's series other than its CPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    server: Vec<ServerSeconds<'a>>,
}

/// A series of the server, by second.
#[derive(Serialize)]
struct ServerSeconds<'a> {
    name: &'a str,
    unit: String,
    /// The unit as given at the ingest, of which the values' unit is so many: charts of several runs have one unit.
    base: String,
    factor: f64,
    note: Option<String>,
    values: Vec<Number>,
}

/// What is drawn of a run besides its seconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DetailData<'a> {
    heat: HeatCounts<'a>,
    sweep: Option<ByLoad>,
    over_time: TimeCourses,
    network: Waits,
    /// How often each elapsed time occurred.
    successes: Bins<'a>,
    failures: Bins<'a>,
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

/// Counts of elapsed times: for each column the distances of the times or buckets, then their counts.
#[derive(Serialize)]
struct HeatCounts<'a> {
    /// The number of units of the times in a ms; absent if it is 1.
    #[serde(skip_serializing_if = "is_one")]
    scale: u32,
    width: u32,
    exact: bool,
    columns: Vec<Packed<'a>>,
}

/// A column of counts, split into places and samples while it is written.
struct Packed<'a>(&'a HeatColumn);

impl Serialize for Packed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let counts = &self.0.counts;
        let before = std::iter::once(0).chain(counts.iter().map(|(place, _)| *place));
        let steps: Vec<i32> = counts.iter().zip(before).map(|((place, _), before)| place - before).collect();
        let samples: Vec<u64> = counts.iter().map(|(_, samples)| *samples).collect();
        (steps, samples).serialize(to)
    }
}

/// Labels and failures by time.
#[derive(Serialize)]
struct TimeCourses {
    width: u32,
    labels: Vec<LabelCourse>,
    failures: Vec<FailureCourse>,
}

#[derive(Serialize)]
struct LabelCourse {
    label: String,
    successes: Vec<u64>,
    failures: Vec<u64>,
    p50: Vec<Number>,
    p95: Vec<Number>,
}

#[derive(Serialize)]
struct FailureCourse {
    label: String,
    code: String,
    counts: Vec<u64>,
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

impl RunIndex {
    pub(super) fn new(runs: &[Grouped<'_>], style: &Style) -> Self {
        let scale = |palette: Palette| (0..STEPS).map(|step| hex(palette.step(step))).collect();
        Self {
            // Red is for failures here, so the original scale gives way to shades of blue.
            scale: (style.palette == Palette::Viridis).then(|| scale(style.palette)),
            colors: SERIES.len(),
            runs: runs.iter().map(|run| RunHead::new(run, style)).collect(),
        }
    }
}

impl RunHead {
    fn new(run: &Grouped<'_>, style: &Style) -> Self {
        let timeline = run.timeline;
        let (first, end) = columns::span(timeline);
        let cut = timeline.duration.cut().filter(|cut| cut.saturating_add(1) == end);
        let measure = match style.color_by {
            ColorBy::Load => "load",
            ColorBy::Cpu => "cpu",
            ColorBy::Throughput => "successes",
        };
        let whole = HtmlPart::new("whole", Span { first, last: end - 1 }, &timeline.summary);
        let phases = run.details.phases.iter();
        let phases = phases.map(|(phase, span, summary)| HtmlPart::new(phase.name(), *span, summary));
        Self {
            name: Text::clean(&run.name()),
            framework: Text::clean(&timeline.info.key.framework),
            color: run.color,
            median: run.median,
            failing: run.failing,
            first,
            seconds: end - first,
            last_part: Number(Some(cut.map_or(1.0, |cut| timeline.duration.seconds - f64::from(cut)))),
            percentiles: timeline.percentiles.clone(),
            color_by: style.color_by.noun(),
            measure,
            cpu_top: style.cpu_top(),
            clock: RunClock::new(timeline.info.t0_ms, &style.time_zone).start().rem_euclid(86_400.0) as u32,
            by_clock: style.times == Times::RunClock,
            parts: std::iter::once(whole).chain(phases).collect(),
        }
    }
}

/// Returns the name of the requests that averages are taken over.
pub(super) fn averaged(timeline: &Timeline) -> &'static str {
    if timeline.view.include_failures { "all requests" } else { "successes" }
}

impl HtmlPart {
    fn new(name: &'static str, span: Span, summary: &Summary) -> Self {
        Self {
            name,
            from: span.first,
            to: span.last.saturating_add(1),
            duration: Number(Some(summary.duration)),
            times: [summary.p50, summary.p95, summary.p99].map(Number),
        }
    }
}

impl<'a> SeriesData<'a> {
    pub(super) fn new(timeline: &'a Timeline, details: &Details) -> Self {
        let seconds = timeline.seconds.as_slice();
        let counts = |value: fn(&Second) -> u64| BySecond { seconds, value: Box::new(value) };
        let values = |value: fn(&Second) -> Option<f64>| BySecond {
            seconds,
            value: Box::new(move |s| Number(value(s))),
        };
        let percentile =
            |at: usize| BySecond { seconds, value: Box::new(move |s: &Second| Number(s.percentile(at))) };
        Self {
            successes: counts(|second| second.successes),
            failures: counts(|second| second.failures),
            load: values(|second| second.load.get()),
            cpu: values(|second| second.cpu.get()),
            elapsed: (0..timeline.percentiles.len()).map(percentile).collect(),
            curve: details.curve.iter().map(|(percent, ms)| (*percent, Number(Some(*ms)))).collect(),
            server: timeline.series.iter().map(ServerSeconds::new).collect(),
        }
    }
}

impl<'a> ServerSeconds<'a> {
    fn new(series: &'a SeriesBySecond) -> Self {
        let scaled = ScaledSeries::of(series);
        let value = |value: &Option<f64>| Number(value.map(|value| value / scaled.factor));
        Self {
            name: &series.name,
            base: Text::clean(&series.unit),
            factor: scaled.factor,
            values: series.values.iter().map(value).collect(),
            note: scaled.note(),
            unit: scaled.unit,
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

impl<'a> DetailData<'a> {
    pub(super) fn new(details: &'a Details) -> Self {
        Self {
            heat: HeatCounts::new(&details.heatmap),
            sweep: details.by_load().map(ByLoad::new),
            over_time: TimeCourses::new(&details.over_time),
            network: Waits::new(&details.network),
            successes: Bins::new(&details.successes),
            failures: Bins::new(&details.failures),
        }
    }
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

impl<'a> HeatCounts<'a> {
    fn new(map: &'a Heatmap) -> Self {
        Self {
            scale: map.unit.per_ms(),
            width: map.width.max(1),
            exact: map.exact,
            columns: map.columns.iter().map(Packed).collect(),
        }
    }
}

impl TimeCourses {
    fn new(over_time: &OverTime) -> Self {
        let times = |list: &[Option<f64>]| list.iter().copied().map(Number).collect();
        let label = |label: &LabelOverTime| LabelCourse {
            label: Text::clean(&label.label),
            successes: label.successes.clone(),
            failures: label.failures.clone(),
            p50: times(&label.p50),
            p95: times(&label.p95),
        };
        let failures = over_time.failures.iter().map(|failures| FailureCourse {
            label: Text::clean(&failures.label),
            code: Text::clean(&failures.response_code),
            counts: failures.counts.clone(),
        });
        Self {
            width: over_time.width.max(1),
            labels: over_time.labels.iter().map(label).collect(),
            failures: failures.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support;

    #[test]
    fn missing_second_is_there_and_empty() {
        let mut run = support::short(4);
        run.seconds.remove(2);
        let seconds: Vec<_> = every_second(&run.seconds).collect();
        assert_eq!(seconds.iter().map(|second| second.second).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!((seconds[2].successes, seconds[2].load.get()), (0, None));
    }

    #[test]
    fn column_of_counts_has_distances_and_counts() {
        let mut column = HeatColumn::default();
        column.counts = vec![(12, 3), (15, 1), (400, 2)];
        assert_eq!(serde_json::to_string(&Packed(&column)).unwrap(), "[[12,3,385],[3,1,2]]");
    }
}
