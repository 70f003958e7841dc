//! Runs made of samples one by one, and what the definitions say of them, worked out slowly and obviously.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]

use perfpipe_analyze::View;
use perfpipe_ingest::counts::{Cell, CellKey, CellTable, InjectorLoad, LabelCount, Spread};
use perfpipe_ingest::series::{CpuJoin, TimeSeries};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use proptest::prelude::*;

/// One request or transaction as it was logged.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// timeStamp minus t0.
    pub(crate) t_ms: i64,
    pub(crate) label: &'static str,
    pub(crate) injector: &'static str,
    pub(crate) elapsed: i32,
    pub(crate) latency: Option<i32>,
    pub(crate) threads: Option<i32>,
    pub(crate) bytes: i64,
    pub(crate) success: bool,
    pub(crate) transaction: bool,
}

/// A run before anything was counted.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) t0_ms: i64,
    pub(crate) samples: Vec<Sample>,
    /// (epoch second, percent) in the order of the export.
    pub(crate) cpu: Vec<(i64, f64)>,
}

pub(crate) const LABELS: [&str; 3] = ["Get 2048", "Größe, \"x\"", ""];

impl Sample {
    pub(crate) fn second(&self) -> u32 {
        u32::try_from(self.t_ms.div_euclid(1000)).unwrap_or(u32::MAX)
    }

    /// The time to connect: most requests use a connection that is open.
    pub(crate) fn connect(&self) -> i32 {
        if self.bytes % 4 == 0 { self.elapsed.max(0) / 2 } else { 0 }
    }

    fn cell(&self, labels: &[String], injectors: &[String], t0_ms: i64) -> (CellKey, Cell) {
        let index = |names: &[String], name: &str| names.iter().position(|n| n == name).unwrap_or(0) as u32;
        let key = CellKey {
            second: self.second(),
            label: index(labels, self.label),
            success: self.success,
            transaction: self.transaction,
        };
        let mut latency = Spread::default();
        self.latency.iter().for_each(|ms| latency.add(*ms));
        let first_epoch_second = t0_ms.div_euclid(1000) + i64::from(self.second());
        let before = (t0_ms + self.t_ms).div_euclid(1000) == first_epoch_second;
        let injector = index(injectors, self.injector);
        let load = |threads: i32| InjectorLoad { injector, samples: 1, threads: threads.into() };
        let cell = Cell {
            elapsed: vec![(self.elapsed, 1)],
            latency,
            connect: self.connect().into(),
            bytes: self.bytes,
            sent_bytes: 2 * self.bytes,
            before_boundary: before.into(),
            injectors: self.threads.map(load).into_iter().collect(),
        };
        (key, cell)
    }
}

fn names(samples: &[Sample], name: impl Fn(&Sample) -> &'static str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for sample in samples {
        if !names.iter().any(|n| n == name(sample)) {
            names.push(name(sample).into());
        }
    }
    names
}

impl Raw {
    /// The run as a store gives it back.
    pub(crate) fn stored(&self) -> StoredRun {
        let labels = names(&self.samples, |sample| sample.label);
        let injectors = names(&self.samples, |sample| sample.injector);
        let cells = self.samples.iter().map(|sample| sample.cell(&labels, &injectors, self.t0_ms));
        let cells = CellTable::new(labels.clone(), injectors.clone(), cells.collect::<Vec<_>>());
        let last = self.samples.iter().map(|sample| sample.t_ms).max().unwrap_or(0);
        let mut label_counts: Vec<LabelCount> = labels.iter().map(|label| self.label_count(label)).collect();
        label_counts.sort_by(|a, b| a.label.cmp(&b.label));
        let end = |transactions: bool| {
            let own = self.samples.iter().filter(|sample| sample.transaction == transactions);
            own.map(|sample| self.t0_ms + sample.t_ms + i64::from(sample.elapsed.max(0))).max()
        };
        let mut info = RunInfo::new(RunKey::new("spring", "2048"), self.t0_ms, self.t0_ms + last);
        (info.last_end_ms, info.transactions_end_ms) = (end(false), end(true));
        info.options.measures = "bytes connect sent-bytes".parse().ok();
        let mut run = StoredRun::new(info, cells);
        run.cpu = TimeSeries::new(self.cpu.clone());
        run.labels = label_counts;
        run
    }

    fn label_count(&self, label: &str) -> LabelCount {
        let count = |success: Option<bool>| {
            let wanted = |s: &&Sample| s.label == label && s.transaction == success.is_none();
            self.samples.iter().filter(wanted).filter(|s| success.is_none_or(|x| x == s.success)).count()
                as u64
        };
        LabelCount {
            label: label.into(),
            successes: count(Some(true)),
            failures: count(Some(false)),
            transactions: count(None),
        }
    }

    /// How long the run lasted, in ms, and how much of its last second there was.
    pub(crate) fn lasted(&self, view: &View) -> (i64, i64) {
        let of_view = |sample: &&Sample| view.transactions || !sample.transaction;
        let ends = self.samples.iter().filter(of_view).map(|s| s.t_ms + i64::from(s.elapsed.max(0)));
        let last = self.samples.iter().map(|sample| sample.t_ms).max().unwrap_or(0);
        // Without a request, to the end of its last second.
        let end = ends.max().unwrap_or((last / 1000 + 1) * 1000);
        (end.max(1), (end - last / 1000 * 1000).clamp(0, 1000))
    }

    /// The requests that a view counts within a range of seconds.
    pub(crate) fn counted(&self, view: &View, seconds: std::ops::RangeInclusive<u32>) -> Vec<Sample> {
        let mut requests = self.requests(view, seconds);
        requests.retain(|sample| view.label.as_deref().is_none_or(|label| label == sample.label));
        requests
    }

    /// All requests within a range of seconds.
    pub(crate) fn requests(&self, view: &View, seconds: std::ops::RangeInclusive<u32>) -> Vec<Sample> {
        let wanted = |s: &&Sample| seconds.contains(&s.second()) && (view.transactions || !s.transaction);
        self.samples.iter().filter(wanted).cloned().collect()
    }

    /// Those of some samples that a view takes averages over.
    pub(crate) fn averaged(view: &View, samples: &[Sample]) -> Vec<Sample> {
        samples.iter().filter(|sample| sample.success || view.include_failures).cloned().collect()
    }

    /// The sum over injectors of the mean of their threads, that of their latest second while they are silent.
    pub(crate) fn load(&self, view: &View, second: u32) -> Option<f64> {
        let mut requests = self.requests(view, 0..=u32::MAX);
        requests.retain(|sample| sample.threads.is_some());
        let mut load = None;
        for injector in names(&requests, |sample| sample.injector) {
            let own = || requests.iter().filter(|sample| sample.injector == injector);
            let latest = own().map(Sample::second).filter(|at| *at <= second).max();
            let ended = own().map(Sample::second).max() < Some(second);
            let threads: Vec<f64> = own()
                .filter(|sample| Some(sample.second()) == latest && !ended)
                .filter_map(|sample| sample.threads.map(f64::from))
                .collect();
            load = mean(&threads).map(|mean| mean + load.unwrap_or(0.0)).or(load);
        }
        let told_apart = self.samples.iter().any(|sample| !sample.injector.is_empty());
        load.map(|load| if told_apart { load } else { load * f64::from(view.injectors) })
    }

    /// The mean of the readings joined to each sample, or else that of the epoch second a second begins in.
    pub(crate) fn cpu(&self, view: &View, second: u32) -> Option<f64> {
        let averaged = Self::averaged(view, &self.counted(view, second..=second));
        if averaged.is_empty() {
            return self.reading(view, (self.t0_ms + i64::from(second) * 1000).div_euclid(1000));
        }
        let joined = |s: &Sample| self.reading(view, (self.t0_ms + s.t_ms).div_euclid(1000));
        mean(&averaged.iter().filter_map(joined).collect::<Vec<_>>())
    }

    fn reading(&self, view: &View, epoch_second: i64) -> Option<f64> {
        (0..=i64::from(view.cpu.lookback)).find_map(|back| {
            let clock = epoch_second - back - view.cpu.offset;
            self.cpu.iter().rev().find(|(at, _)| *at == clock).map(|(_, value)| *value)
        })
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `percentile_cont` on the values themselves.
pub(crate) fn percentile(values: &[i32], percent: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    sorted.sort_by(f64::total_cmp);
    let position = percent / 100.0 * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted.get(position.floor() as usize)?, sorted.get(position.ceil() as usize)?);
    Some(low + (high - low) * (position - position.floor()))
}

/// Whether two values are equal but for rounding, or both absent.
pub(crate) fn same(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        (found, expected) => found.is_none() && expected.is_none(),
    }
}

/// Samples of up to 12 seconds, with silent seconds, outages and several of everything.
pub(crate) fn raw() -> impl Strategy<Value = Raw> {
    let t0 = prop_oneof![Just(1_700_000_000_000i64), 1_700_000_000_000..1_700_000_002_000i64, -3000..3000i64];
    let injectors = prop_oneof![
        Just(vec![""]),
        Just(vec!["host-a:1100"]),
        Just(vec!["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
        Just(vec!["", "10.0.0.1"]),
    ];
    (t0, injectors).prop_flat_map(|(t0_ms, injectors)| {
        let first = t0_ms.div_euclid(1000);
        let reading = (first - 5..first + 14, 0.0..7200.0f64);
        let samples = prop::collection::vec(sample(injectors), 1..120);
        (samples, prop::collection::vec(reading, 0..14)).prop_map(move |(samples, cpu)| Raw {
            t0_ms,
            samples: with_an_outage(samples),
            cpu,
        })
    })
}

fn sample(injectors: Vec<&'static str>) -> impl Strategy<Value = Sample> {
    let t_ms = prop_oneof![0..12_000i64, 0..2000i64, Just(0), Just(999), Just(1000)];
    let elapsed = prop_oneof![0..40i32, 0..40i32, 0..200_000i32, Just(-3)];
    let names = (prop::sample::select(LABELS.to_vec()), prop::sample::select(injectors));
    let optional = (prop::option::weighted(0.8, 0..90i32), prop::option::weighted(0.8, 0..60i32));
    let verdicts = (prop::bool::weighted(0.8), prop::bool::weighted(0.1));
    (t_ms, elapsed, names, optional, verdicts, 0..5000i64).prop_map(
        |(t_ms, elapsed, (label, injector), (latency, threads), (success, transaction), bytes)| Sample {
            t_ms,
            label,
            injector,
            elapsed,
            latency,
            threads,
            bytes,
            success,
            transaction,
        },
    )
}

/// Second 5 stays silent, and in seconds 7 and 8 everything fails.
fn with_an_outage(mut samples: Vec<Sample>) -> Vec<Sample> {
    samples.retain(|sample| sample.second() != 5);
    for sample in &mut samples {
        sample.success &= !(7..=8).contains(&sample.second());
    }
    samples
}

/// Any view of such a run but of a phase.
pub(crate) fn view() -> impl Strategy<Value = View> {
    let percent = prop_oneof![0.0..=100.0f64, Just(0.0), Just(50.0), Just(99.9), Just(100.0)];
    let window = (prop::option::weighted(0.4, 0..8u32), prop::option::weighted(0.4, 3..15u32));
    let label = prop::option::weighted(0.4, prop::sample::select(LABELS.to_vec()));
    let cpu = (-3..3i64, 0..4u32)
        .prop_map(|(offset, lookback)| CpuJoin::default().with_offset(offset).with_lookback(lookback));
    (prop::collection::vec(percent, 0..6), window, label, any::<(bool, bool)>(), 1..4u32, cpu).prop_map(
        |(percentiles, (from, to), label, (transactions, include_failures), injectors, cpu)| {
            View::default()
                .with_percentiles(percentiles)
                .with_window(from, to)
                .with_label(label.map(String::from))
                .with_transactions(transactions)
                .with_include_failures(include_failures)
                .with_injectors(injectors)
                .with_cpu(cpu)
        },
    )
}
