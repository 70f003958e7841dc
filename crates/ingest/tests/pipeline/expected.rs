//! What is to come out of a run, worked out from the slow reader's samples one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use perfpipe_ingest::counts::{ErrorCount, LabelCount, Spread};
use perfpipe_ingest::run::Reject;

use crate::oracle::{OracleRun, OracleSample};
use crate::read_back::{NamedCells, Row, row};

/// Second, texts and transaction of a failure, and how many there were.
type Counted = ((u32, [Arc<str>; 3], bool), u64);

/// A run as the slow reader has it, with what the run's files say beside.
pub(crate) struct Expected<'a> {
    pub(crate) run: &'a OracleRun,
    /// The logs' names.
    pub(crate) files: &'a [&'a str],
    /// CPU readings by epoch second.
    pub(crate) cpu: &'a BTreeMap<i64, f64>,
}

impl Expected<'_> {
    /// The rows, in the order of the logs.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let t0 = self.run.t0_ms();
        self.run.samples.iter().map(|sample| self.row(sample, t0)).collect()
    }

    fn row(&self, s: &OracleSample, t0: i64) -> Row {
        let second = s.timestamp_ms.div_euclid(1000);
        let cpu = (0..=self.lookback()).find_map(|back| self.cpu.get(&(second - back)));
        row(
            (s.timestamp_ms - t0, s.label.as_deref(), s.elapsed as i32, s.response_code.as_deref()),
            (s.success, s.bytes, s.sent_bytes, small(s.all_threads), small(s.latency), small(s.idle_time)),
            (small(s.connect), cpu.copied(), self.injector(s).as_deref(), s.transaction),
        )
    }

    /// How old a reading may be: as old as the one before is when it comes, in the median, from 3 s to an hour.
    fn lookback(&self) -> i64 {
        let clocks: Vec<&i64> = self.cpu.keys().collect();
        let mut steps: Vec<i64> = clocks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_unstable();
        steps.get(steps.len() / 2).copied().unwrap_or_default().clamp(3, 3600)
    }

    /// The injector: where there are several logs, one of its log's.
    fn injector(&self, sample: &OracleSample) -> Option<String> {
        match (self.files, &sample.injector) {
            ([_], injector) => injector.clone(),
            (files, None) => Some(files[sample.log].to_owned()),
            (files, Some(injector)) => Some(format!("{}/{injector}", files[sample.log])),
        }
    }

    pub(crate) fn cells(&self) -> NamedCells {
        let mut cells = NamedCells::new();
        let t0 = self.run.t0_ms();
        for sample in &self.run.samples {
            let second = (sample.timestamp_ms - t0) / 1000;
            let label = sample.label.clone().unwrap_or_default();
            let key = (second as u32, label, sample.success, sample.transaction);
            let (cell, loads) = cells.entry(key).or_default();
            let at = cell.elapsed.partition_point(|(elapsed, _)| i64::from(*elapsed) < sample.elapsed);
            match cell.elapsed.get_mut(at) {
                Some((elapsed, count)) if i64::from(*elapsed) == sample.elapsed => *count += 1,
                _ => cell.elapsed.insert(at, (sample.elapsed as i32, 1)),
            }
            add_latency(&mut cell.latency, small(sample.latency));
            cell.connect += sample.connect.unwrap_or(0);
            cell.bytes += sample.bytes.unwrap_or(0);
            cell.sent_bytes += sample.sent_bytes.unwrap_or(0);
            let boundary = t0.div_euclid(1000) + second;
            cell.before_boundary += u64::from(sample.timestamp_ms.div_euclid(1000) == boundary);
            if let Some(threads) = sample.all_threads {
                let load = loads.entry(self.injector(sample).unwrap_or_default()).or_default();
                *load = (load.0 + 1, load.1 + threads);
            }
        }
        cells
    }

    /// Failures, ascending.
    pub(crate) fn errors(&self) -> Vec<ErrorCount> {
        let mut counts: BTreeMap<(u32, [Arc<str>; 3], bool), u64> = BTreeMap::new();
        let t0 = self.run.t0_ms();
        for sample in self.run.samples.iter().filter(|sample| !sample.success) {
            let second = ((sample.timestamp_ms - t0) / 1000) as u32;
            let label = Arc::from(sample.label.clone().unwrap_or_default());
            let code = Arc::from(sample.response_code.clone().unwrap_or_default());
            let message = Arc::from(sample.message.chars().take(500).collect::<String>());
            *counts.entry((second, [label, code, message], sample.transaction)).or_default() += 1;
        }
        let error = |((second, [label, response_code, message], transaction), count): Counted| ErrorCount {
            second,
            label,
            response_code,
            message,
            transaction,
            count,
        };
        counts.into_iter().map(error).collect()
    }

    /// Whole-run counts by label, ascending.
    pub(crate) fn labels(&self) -> Vec<LabelCount> {
        let mut labels: BTreeMap<String, LabelCount> = BTreeMap::new();
        for sample in &self.run.samples {
            let label = sample.label.clone().unwrap_or_default();
            let count = labels.entry(label.clone()).or_insert(LabelCount { label, ..LabelCount::default() });
            match (sample.transaction, sample.success) {
                (true, _) => count.transactions += 1,
                (false, true) => count.successes += 1,
                (false, false) => count.failures += 1,
            }
        }
        labels.into_values().collect()
    }

    /// Each reject's file, line, byte and record, in the order of the logs.
    pub(crate) fn rejects(&self) -> Vec<(String, u64, u64, String)> {
        let rejects = self.run.rejects.iter().zip(&self.run.rejected);
        rejects
            .map(|(line, r)| (self.files[r.log].to_owned(), *line, r.byte as u64, r.record.clone()))
            .collect()
    }
}

/// What can be known of rejects without the reasons' words; a reject without a reason fails.
pub(crate) fn places(rejects: &[Reject]) -> Vec<(String, u64, u64, String)> {
    assert!(rejects.iter().all(|reject| !reject.reason.is_empty()), "{rejects:?}");
    rejects.iter().map(|r| (r.file.clone(), r.line, r.byte, r.record.clone())).collect()
}

fn small(number: Option<i64>) -> Option<i32> {
    number.map(|number| number as i32)
}

fn add_latency(latency: &mut Spread, ms: Option<i32>) {
    let Some(ms) = ms else { return };
    let first = latency.n == 0;
    latency.min = if first { ms } else { latency.min.min(ms) };
    latency.max = if first { ms } else { latency.max.max(ms) };
    latency.sum += i64::from(ms);
    latency.n += 1;
}
