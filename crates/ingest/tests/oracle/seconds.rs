//! The per-second table in its simplest form: it sorts where the tool counts.

use std::collections::BTreeMap;

use super::{OracleRun, OracleSample};

/// What a reader of the run may choose.
#[derive(Debug, Clone)]
pub struct OracleView {
    pub percentiles: Vec<f64>,
    /// Only this label.
    pub label: Option<String>,
    /// Whether transactions count as requests.
    pub transactions: bool,
    /// How many injectors stand behind a single log that does not tell them apart.
    pub injectors: u32,
    pub cpu_offset: i64,
    pub cpu_lookback: i64,
}

impl Default for OracleView {
    fn default() -> Self {
        Self {
            percentiles: vec![25.0, 50.0, 75.0, 95.0],
            label: None,
            transactions: false,
            injectors: 1,
            cpu_offset: 0,
            cpu_lookback: 3,
        }
    }
}

/// Mean, smallest and largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OracleSpread {
    pub mean: f64,
    pub min: i64,
    pub max: i64,
}

/// One row of the per-second table.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleSecond {
    pub second: i64,
    pub successes: u64,
    pub failures: u64,
    pub load: Option<f64>,
    pub elapsed: Option<OracleSpread>,
    pub latency: Option<OracleSpread>,
    /// One for each percentile of the view.
    pub percentiles: Vec<Option<f64>>,
    pub cpu: Option<f64>,
}

impl OracleRun {
    /// A row for every second from 0 to the last, silent ones too.
    pub fn seconds(&self, cpu: &BTreeMap<i64, f64>, view: &OracleView) -> Vec<OracleSecond> {
        let t0 = self.t0_ms();
        let mut buckets = vec![Vec::new(); (self.last_ms() - t0) as usize / 1000 + 1];
        for sample in &self.samples {
            let wanted = view.label.is_none() || view.label == sample.label;
            if wanted && (view.transactions || !sample.transaction) {
                buckets[(sample.timestamp_ms - t0) as usize / 1000].push(sample);
            }
        }
        let rows = buckets.iter().enumerate();
        rows.map(|(second, samples)| self.second(second as i64, samples, cpu, view)).collect()
    }

    fn second(
        &self,
        second: i64,
        samples: &[&OracleSample],
        cpu: &BTreeMap<i64, f64>,
        view: &OracleView,
    ) -> OracleSecond {
        let successes: Vec<&OracleSample> = samples.iter().copied().filter(|s| s.success).collect();
        let mut elapsed: Vec<i64> = successes.iter().map(|s| s.elapsed).collect();
        elapsed.sort_unstable();
        let latency: Vec<i64> = successes.iter().filter_map(|s| s.latency).collect();
        let at = |epoch_ms: i64| reading(cpu, epoch_ms.div_euclid(1000), view);
        let readings: Vec<f64> = successes.iter().filter_map(|s| at(s.timestamp_ms)).collect();
        OracleSecond {
            second,
            successes: successes.len() as u64,
            failures: (samples.len() - successes.len()) as u64,
            load: self.load(samples, view),
            elapsed: spread(&elapsed),
            latency: spread(&latency),
            percentiles: view.percentiles.iter().map(|p| percentile(&elapsed, p / 100.0)).collect(),
            cpu: if successes.is_empty() { at(self.t0_ms() + second * 1000) } else { mean(&readings) },
        }
    }

    /// The sum over injectors of the mean allThreads, failures included.
    fn load(&self, samples: &[&OracleSample], view: &OracleView) -> Option<f64> {
        let mut threads: BTreeMap<(usize, Option<&str>), Vec<f64>> = BTreeMap::new();
        for sample in samples {
            if let Some(all) = sample.all_threads {
                threads.entry((sample.log, sample.injector.as_deref())).or_default().push(all as f64);
            }
        }
        let several_logs = self.samples.iter().any(|sample| sample.log > 0);
        let means = threads.iter().map(|((_, name), values)| {
            let alike = if name.is_none() && !several_logs { view.injectors } else { 1 };
            mean(values).unwrap() * f64::from(alike)
        });
        (!threads.is_empty()).then(|| means.sum())
    }
}

/// CPU readings by epoch second; the last of a second's readings wins.
pub fn read_cpu(bytes: &[u8]) -> BTreeMap<i64, f64> {
    let mut reader = csv::Reader::from_reader(bytes);
    let column = |reader: &mut csv::Reader<&[u8]>, name| {
        reader.headers().unwrap().iter().position(|h| h == name).unwrap()
    };
    let (clock, value) = (column(&mut reader, "clock"), column(&mut reader, "value"));
    let rows = reader.records().map(Result::unwrap);
    rows.map(|row| (row[clock].parse().unwrap(), row[value].parse().unwrap())).collect()
}

/// The reading of an epoch second, else of up to the look-back before it.
fn reading(cpu: &BTreeMap<i64, f64>, epoch_second: i64, view: &OracleView) -> Option<f64> {
    let wanted = epoch_second - view.cpu_offset;
    (0..=view.cpu_lookback).find_map(|back| cpu.get(&(wanted - back)).copied())
}

/// Postgres's `percentile_cont` over sorted values; `share` from 0 to 1.
pub fn percentile(sorted: &[i64], share: f64) -> Option<f64> {
    let position = share * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted[position.floor() as usize] as f64, sorted[position.ceil() as usize] as f64);
    Some(low + (high - low) * position.fract())
}

fn spread(values: &[i64]) -> Option<OracleSpread> {
    let sum: i64 = values.iter().sum();
    Some(OracleSpread {
        mean: sum as f64 / values.len() as f64,
        min: *values.iter().min()?,
        max: *values.iter().max()?,
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
