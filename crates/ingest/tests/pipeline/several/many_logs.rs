//! Runs of many logs, under a watchdog: none hangs, and none loses anything.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use perfpipe_ingest::store::RunStore;
use perfpipe_ingest::store::{BatchEncoder, FinishedRun, RunWriter};
use perfpipe_ingest::{IngestOptions, Ingested, Result, RunKey, SampleBatch, ingest};

use crate::log::NOON;
use crate::memory::in_memory;
use crate::support::{Desk, block_on, options, within};

/// How long the slowest machine may take for a run of a few kilobytes.
const LIMIT: Duration = Duration::from_secs(120);

const HEADER: &str = "timeStamp,elapsed,label,responseCode,success,threadName,allThreads\n";

/// A log of so many records: their elapsed times count on from `first`.
fn log(first: usize, records: usize) -> String {
    let record = |at| format!("{},{at},l{},200,true,t 1-1,3\n", NOON + at as i64, at % 3);
    HEADER.to_owned() + &(first..first + records).map(record).collect::<String>()
}

/// Logs of different lengths, those of one record and of `least` among them, and how many records they have together.
fn logs(count: usize, least: usize) -> (Vec<String>, usize) {
    let mut records = 0;
    let log = |at: usize| {
        // The first has the run's t0.
        let length = if at == 0 { 1 } else { [7, least, 1, 40][at % 4] };
        let log = log(records, length);
        records += length;
        log
    };
    let logs = (0..count).map(log).collect();
    (logs, records)
}

/// The log's elapsed times in the order in which they are stored.
fn elapsed(rows: &[String]) -> Vec<usize> {
    let of = |row: &String| row.split(", ").nth(2).and_then(|field| field.parse().ok());
    rows.iter().map(|row| of(row).unwrap()).collect()
}

/// Ingests the files into memory, which must not hang, and holds what is stored against what is known.
fn check(files: Vec<PathBuf>, options: IngestOptions, records: usize) {
    let told = format!("{} files, {:?}", files.len(), options.sizes);
    let stored = within(LIMIT, move || in_memory(&files, &options));
    assert_eq!(stored.run.info.successes, records as u64, "{told}");
    assert_eq!(elapsed(&stored.rows), (0..records).collect::<Vec<_>>(), "in the order of the logs: {told}");
}

#[test]
fn any_number_of_logs_is_read_by_any_number_of_workers() {
    for count in 1..=64 {
        // A file without any record is refused, which a member of a zip is not.
        let (logs, records) = logs(count, 1);
        let desk = Desk::new();
        let files: Vec<PathBuf> =
            logs.iter().enumerate().map(|(at, log)| desk.file(&format!("{at:02}.csv"), log)).collect();
        for (workers, block_size) in [(1, 1 << 20), (2, 100), (16, 1)] {
            check(files.clone(), options(workers, block_size, 1000), records);
        }
    }
}

fn zip(logs: &[String]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (at, log) in logs.iter().enumerate() {
        zip.start_file(format!("{at:02}.csv"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(log.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn zip_of_any_number_of_logs_is_read_by_any_number_of_workers() {
    for count in [1, 2, 5, 8, 24, 64] {
        let (logs, records) = logs(count, 0);
        let desk = Desk::new();
        let file = desk.file("all.zip", zip(&logs));
        for workers in [1, 2, 16] {
            check(vec![file.clone()], options(workers, 1 << 20, 1000), records);
        }
    }
}

#[test]
#[cfg(unix)]
fn zip_of_many_logs_from_a_pipe_is_read() {
    let (logs, records) = logs(64, 0);
    let desk = Desk::new();
    let bytes = zip(&logs);
    crate::support::through_pipe(&desk, "logs", &bytes, |fifo| {
        check(vec![fifo], options(2, 1 << 20, 0), records);
    });
}

#[test]
fn both_many_logs_and_records_too_long_give_their_buffers_back() {
    let (mut logs, records) = logs(24, 1);
    let long = "x".repeat(5 << 20);
    logs.iter_mut().skip(1).step_by(2).for_each(|log| log.push_str(&format!("{long}\n")));
    let desk = Desk::new();
    let files: Vec<PathBuf> =
        logs.iter().enumerate().map(|(at, log)| desk.file(&format!("{at:02}.csv"), log)).collect();
    check(files, options(1, 1000, 0), records);
}

/// A store of which the encoders panic at their second batch.
struct Fragile;

struct Breaking(usize);

impl RunStore for Fragile {
    type Writer = Self;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<Self> {
        Ok(Self)
    }
}

impl BatchEncoder for Breaking {
    type Chunk = ();

    fn encode(&mut self, _batch: &SampleBatch) -> Result<Option<()>> {
        self.0 += 1;
        assert!(self.0 < 2, "this panic is meant");
        Ok(None)
    }
}

impl RunWriter for Fragile {
    type Encoder = Breaking;

    fn encoder(&self) -> Result<Breaking> {
        Ok(Breaking(0))
    }

    async fn write(&mut self, _chunk: ()) -> Result<()> {
        Ok(())
    }

    async fn commit(self, _run: FinishedRun<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn worker_that_panics_ends_the_ingest_with_an_error() {
    let desk = Desk::new();
    let file = desk.file("a.csv", log(0, 2000));
    for workers in [1, 2, 5] {
        let files = [file.clone()];
        let ended: Result<Ingested> =
            within(LIMIT, move || block_on(ingest(&Fragile, &files, &options(workers, 100, 0))));
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("stopped unexpectedly"), "{error}");
    }
}
