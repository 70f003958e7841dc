//! The data of the charts of a run: its seconds and its details, packed.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::prelude::BASE64_STANDARD;
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use perfpipe_analyze::breakdown::{
    Details, Distribution, HeatColumn, Heatmap, LabelOverTime, Network, NetworkOverTime, OverTime,
};
use perfpipe_analyze::sweep::LoadStep;
use perfpipe_analyze::{Second, SeriesBySecond, Span, Summary, Sweep, Timeline};
use serde::{Serialize, Serializer};

use crate::charts::series::ScaledSeries;
use crate::error::{Error, Result};
use crate::output::drawing::TextLine;

/// A part of a run, with its exact percentiles.
#[derive(Serialize)]
pub(super) struct HtmlPart {
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
    network: NetworkCourses,
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
    /// Failures a second.
    failed: Vec<Number>,
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

impl HtmlPart {
    pub(super) fn new(name: &'static str, span: Span, summary: &Summary) -> Self {
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
            base: TextLine::clean(&series.unit),
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
            network: NetworkCourses::new(&details.network),
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
            failed: values(&|step| {
                Some(step.summary.failures as f64 / f64::from(step.summary.seconds.max(1)))
            }),
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
            label: TextLine::clean(&label.label),
            successes: label.successes.clone(),
            failures: label.failures.clone(),
            p50: times(&label.p50),
            p95: times(&label.p95),
        };
        let failures = over_time.failures.iter().map(|failures| FailureCourse {
            label: TextLine::clean(&failures.label),
            code: TextLine::clean(&failures.response_code),
            counts: failures.counts.clone(),
        });
        Self {
            width: over_time.width.max(1),
            labels: over_time.labels.iter().map(label).collect(),
            failures: failures.collect(),
        }
    }
}

/// Waits and bytes over time: of all labels, and of each that can be picked, in the order of the labels.
#[derive(Serialize)]
struct NetworkCourses {
    all: NetworkCourse,
    labels: Vec<NetworkCourse>,
}

/// Means of waits in ms, and sums of bytes: a value for each column of `width` seconds. What the log does not record is
/// empty.
#[derive(Serialize)]
struct NetworkCourse {
    width: u32,
    elapsed: Vec<Number>,
    latency: Vec<Number>,
    connect: Vec<Number>,
    received: Vec<Number>,
    sent: Vec<Number>,
}

/// Counts of elapsed times in bins.
#[derive(Serialize)]
struct Bins<'a> {
    /// The number of units of the times in a ms; absent if it is 1.
    #[serde(skip_serializing_if = "is_one")]
    scale: u32,
    width: u32,
    first: i64,
    counts: &'a [u64],
    beyond: u64,
    max: Option<i32>,
}

impl NetworkCourses {
    fn new(network: &Network) -> Self {
        Self {
            all: NetworkCourse::new(&network.all, |value| rounded(value, 4)),
            labels: network.labels.iter().map(NetworkCourse::of_label).collect(),
        }
    }
}

impl NetworkCourse {
    /// Returns the series of a label. Its elapsed times have a chart of their own.
    fn of_label(label: &NetworkOverTime) -> Self {
        Self { elapsed: Vec::new(), ..Self::new(label, |value| rounded(value, 3)) }
    }

    fn new(over_time: &NetworkOverTime, digits: fn(f64) -> f64) -> Self {
        let numbers = |list: &[Option<f64>]| list.iter().map(|value| Number(value.map(digits))).collect();
        let sums = |list: &[i64]| list.iter().map(|sum| Number(Some(digits(*sum as f64)))).collect();
        Self {
            width: over_time.width.max(1),
            elapsed: numbers(&over_time.elapsed_mean),
            latency: numbers(&over_time.latency_mean),
            connect: numbers(&over_time.connect_mean),
            received: sums(&over_time.bytes),
            sent: sums(&over_time.sent_bytes),
        }
    }
}

/// Returns true for the usual number of units in a ms.
fn is_one(scale: &u32) -> bool {
    *scale == 1
}

/// Rounds a value to a number of digits: the charts show no more, and a report is to be small.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powf(value.abs().max(1e-3).log10().floor() + 1.0 - f64::from(digits));
    (value / scale).round() * scale
}

impl<'a> Bins<'a> {
    fn new(found: &'a Distribution) -> Self {
        let Distribution { unit, width, first, beyond, max, .. } = *found;
        Self { scale: unit.per_ms(), width, first, counts: &found.counts, beyond, max }
    }
}

/// An exact number; integers have no decimal point. `null` if absent or not finite.
#[derive(Clone, Copy)]
struct Number(Option<f64>);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.filter(|value| value.is_finite()) {
            None => to.serialize_none(),
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => to.serialize_i64(whole as i64),
            Some(value) => to.serialize_f64(value),
        }
    }
}

/// Appends JSON, deflated and as base64.
pub(super) fn deflated(out: &mut String, data: &impl Serialize) -> Result<()> {
    let mut deflated = deflater(out, Compression::best());
    serde_json::to_writer(&mut deflated, data).map_err(|error| Error::Html(error.to_string()))?;
    deflated.finish().map_err(|error| Error::Html(error.to_string()))?.into_inner();
    Ok(())
}

/// Appends bytes, deflated and as base64.
pub(super) fn deflated_bytes(out: &mut String, bytes: &[u8]) -> Result<()> {
    // Numbers without a pattern get no smaller by more effort.
    let mut deflated = deflater(out, Compression::fast());
    deflated.write_all(bytes).map_err(|error| Error::Html(error.to_string()))?;
    deflated.finish().map_err(|error| Error::Html(error.to_string()))?.into_inner();
    Ok(())
}

fn deflater(out: &mut String, effort: Compression) -> Deflater<'_> {
    ZlibEncoder::new(EncoderStringWriter::from_consumer(out, &BASE64_STANDARD), effort)
}

type Deflater<'a> = ZlibEncoder<EncoderStringWriter<'static, GeneralPurpose, &'a mut String>>;

/// The most bytes that are inflated: some hundred times those of a run's figures.
const MOST_INFLATED: u64 = 64 << 20;

/// Reads what [`deflated_bytes`] appended; `None` if it is something else.
pub(super) fn inflated_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let deflated = BASE64_STANDARD.decode(text).ok()?;
    ZlibDecoder::new(&*deflated).take(MOST_INFLATED).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine as _;
    use flate2::read::ZlibDecoder;

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

    #[test]
    fn values_have_as_many_digits_as_asked_for() {
        let values = [0.0, 0.123_45, 9.996, 57.25, 1234.0, 987_654.0, -3.456].map(|value| rounded(value, 3));
        let expected = [0.0, 0.123, 10.0, 57.3, 1230.0, 988_000.0, -3.46];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} for {expected}");
        }
    }

    #[test]
    fn numbers_are_short_and_absent_ones_null() {
        let values = [Some(12.0), Some(1.23456), None, Some(f64::NAN), Some(-0.5), Some(1e300)].map(Number);
        assert_eq!(serde_json::to_string(&values).unwrap(), "[12,1.23456,null,null,-0.5,1e+300]");
    }

    #[test]
    fn packed_data_can_be_unpacked() {
        let data: Vec<u32> = (0..5000).map(|at| at % 77).collect();
        let mut html = String::new();
        deflated(&mut html, &data).unwrap();
        assert!(html.len() < 1000, "{} bytes", html.len());
        let deflated = BASE64_STANDARD.decode(&html).unwrap();
        let mut json = String::new();
        ZlibDecoder::new(&deflated[..]).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<Vec<u32>>(&json).unwrap(), data);
    }
}
