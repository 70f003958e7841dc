//! What the tests share: logs that are read in one go, and figures of their samples.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use perfpipe_ingest::{IngestOptions, Ingested, PipelineOptions, Result, SampleBatch, stream};

/// A sample, as the tests look at it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub(crate) t_ms: i64,
    pub(crate) elapsed: i32,
    pub(crate) label: String,
    pub(crate) success: bool,
    pub(crate) threads: Option<i32>,
    pub(crate) transaction: bool,
}

/// A log that was read.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) samples: Vec<Sample>,
    pub(crate) done: Ingested,
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/other").join(name)
}

/// Reads a log with these options. The key is given, so that nothing needs to be inferred.
pub(crate) fn read_with(file: &Path, options: IngestOptions) -> Result<Log> {
    read_files(&[file.to_owned()], options)
}

/// Reads the logs of a run.
pub(crate) fn read_files(files: &[PathBuf], options: IngestOptions) -> Result<Log> {
    let options = options.with_framework("f").with_test("t");
    let mut samples = Vec::new();
    let (send, received) = std::sync::mpsc::channel();
    let sink = move |batch: SampleBatch| {
        send.send(batch).unwrap();
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (_, done) = runtime.block_on(stream(sink, files, &options))?;
    for batch in received {
        samples.extend((0..batch.len()).map(|at| Sample {
            t_ms: batch.t_ms[at],
            elapsed: batch.elapsed[at],
            label: batch.label.get(at).unwrap_or_default().to_owned(),
            success: batch.success[at],
            threads: batch.all_threads.get(at),
            transaction: batch.transaction[at],
        }));
    }
    Ok(Log { samples, done })
}

pub(crate) fn read(file: &Path) -> Log {
    read_with(file, IngestOptions::default()).unwrap()
}

/// Reads a log by blocks of this size.
pub(crate) fn read_by(file: &Path, block_size: usize) -> Log {
    let sizes = PipelineOptions::default().with_block_size(block_size).with_workers(2);
    read_with(file, IngestOptions::default().with_sizes(sizes)).unwrap()
}

/// Writes a log into a folder of its own.
pub(crate) fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

impl Log {
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.transaction)
    }

    /// The numbers of successes and failures.
    pub(crate) fn outcomes(&self) -> (usize, usize) {
        let successes = self.requests().filter(|sample| sample.success).count();
        (successes, self.requests().count() - successes)
    }

    /// The numbers of successes and failures of each second since the first request.
    pub(crate) fn by_second(&self) -> Vec<(u32, u32)> {
        let first = self.requests().map(|sample| sample.t_ms).min().unwrap();
        let mut seconds: BTreeMap<i64, (u32, u32)> = BTreeMap::new();
        for sample in self.requests() {
            let second = (sample.t_ms - first).div_euclid(1000);
            let counts = seconds.entry(second).or_default();
            *(if sample.success { &mut counts.0 } else { &mut counts.1 }) += 1;
        }
        seconds.into_values().collect()
    }

    /// A percentile of the successes' response times in ms, as PostgreSQL's `percentile_cont` defines it.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        let mut times: Vec<i32> =
            self.requests().filter(|sample| sample.success).map(|s| s.elapsed).collect();
        times.sort_unstable();
        let position = percent / 100.0 * (times.len() - 1) as f64;
        let (low, high) = (times[position.floor() as usize], times[position.ceil() as usize]);
        self.done.info.resolution.ms(f64::from(low) + f64::from(high - low) * position.fract())
    }

    /// The mean of the successes' response times in ms.
    pub(crate) fn mean(&self) -> f64 {
        let sum: i64 = self.requests().filter(|sample| sample.success).map(|s| i64::from(s.elapsed)).sum();
        self.done.info.resolution.ms(sum as f64 / self.outcomes().0 as f64)
    }

    /// The numbers of requests by label.
    pub(crate) fn labels(&self) -> Vec<(String, usize)> {
        let mut labels: BTreeMap<String, usize> = BTreeMap::new();
        self.requests().for_each(|sample| *labels.entry(sample.label.clone()).or_default() += 1);
        labels.into_iter().collect()
    }
}
