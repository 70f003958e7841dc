//! Interval logs of HdrHistogram, which have no requests.

use std::path::{Path, PathBuf};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use perfpipe_ingest::counts::CellTable;
use perfpipe_ingest::run::{Intervals, Reject, Resolution};
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{ErrorKind, IngestOptions, Ingested, Result, RunKey, StoredRun, ingest};

use crate::support::{fixture, read, read_with, written};

/// Ingests logs into a store of its own. Returns what is stored, and its rejects.
fn all_stored(files: &[PathBuf], options: IngestOptions) -> Result<(Ingested, StoredRun, Vec<Reject>)> {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = ParquetStore::open(folder.path().join("data"))?;
        let options = options.with_framework("f").with_test("t");
        let done = ingest(&store, files, &options).await?;
        let run = store.read(&RunKey::new("f", "t"))?.unwrap();
        let mut rejects = Vec::new();
        store.rejects(&run.info.key, &mut |reject| {
            rejects.push(reject);
            Ok(())
        })?;
        Ok((done, run, rejects))
    })
}

fn stored(files: &[PathBuf], options: IngestOptions) -> Result<(Ingested, StoredRun)> {
    all_stored(files, options).map(|(done, run, _)| (done, run))
}

fn stored_of(text: &str) -> Result<(Ingested, StoredRun)> {
    let (_folder, file) = written("run.hlog", text.as_bytes());
    stored(&[file], IngestOptions::default())
}

/// The requests of each second by response time.
fn seconds(cells: &CellTable) -> Vec<(u32, Vec<(i32, u64)>)> {
    let cells = cells.iter().map(Result::unwrap);
    cells.map(|(key, cell)| (key.second, cell.elapsed)).collect()
}

/// The time in µs below which a share of all requests is, as PostgreSQL's `percentile_cont` defines it.
fn percentile(cells: &CellTable, percent: f64) -> f64 {
    let mut times = Vec::new();
    for (time, requests) in seconds(cells).into_iter().flat_map(|(_, counts)| counts) {
        times.extend((0..requests).map(|_| f64::from(time)));
    }
    times.sort_by(f64::total_cmp);
    let position = percent / 100.0 * (times.len() - 1) as f64;
    let (low, high) = (times[position.floor() as usize], times[position.ceil() as usize]);
    low + (high - low) * position.fract()
}

fn notes(done: &Ingested) -> String {
    done.notes.iter().map(|note| format!("{note}\n")).collect()
}

/// The log was made from h2load's log of the same requests, which is exact.
#[test]
fn log_has_the_counts_of_the_requests_and_times_within_a_thousandth() {
    let exact = read(&fixture("h2load/clean.log"));
    let (done, run) = stored(&[fixture("hdrhistogram/clean.hlog")], IngestOptions::default()).unwrap();
    assert_eq!((run.info.successes, run.info.failures, run.info.rejects), (3000, 0, 0));
    let sums =
        |(second, counts): (u32, Vec<(i32, u64)>)| (second, counts.iter().map(|(_, n)| n).sum::<u64>());
    let by_second: Vec<_> = seconds(&run.cells).into_iter().map(sums).collect();
    assert_eq!(by_second, [(0, 1726), (1, 1274)]);
    for percent in [0.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
        let (rounded, exact) = (percentile(&run.cells, percent) / 1000.0, exact.percentile(percent));
        assert!(rounded >= exact && rounded <= exact * 1.001, "{percent}: {rounded} for {exact}");
    }
    // As HdrHistogram's own programs print them.
    assert_eq!([50.0, 99.0].map(|percent| percentile(&run.cells, percent).floor()), [9119.0, 14535.0]);
    assert_eq!((run.info.resolution, run.info.t0_ms), (Resolution::MICROSECOND, 1_795_347_889_503));
    // The run lasts as long as its intervals.
    assert_eq!((run.info.seconds, run.info.last_end_ms), (2, Some(1_795_347_891_503)));
    assert_eq!((run.info.tool().as_str(), run.info.samples_stored), ("hdrhistogram", false));
    // Each interval is in the log twice, with a tag and without.
    assert_eq!(run.cells.labels, ["hello"]);
    let told = run.info.options.intervals.unwrap();
    assert_eq!(told.to_string(), "digits=3 per-ms=1000 intervals=2 across=0 longest-ms=1000 sums=2");
    assert_eq!(told.to_string().parse::<Intervals>(), Ok(told));
    for text in ["3 significant digits", "failures are not in the log", "µs", "are left out"] {
        assert!(notes(&done).contains(text), "{text}: {}", notes(&done));
    }
}

/// The lines of the fixture: four of head, then each interval without and with a tag.
fn lines() -> Vec<String> {
    let text = std::fs::read_to_string(fixture("hdrhistogram/clean.hlog")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A log of these intervals, (stamp, length), each with the requests of the fixture's first one.
fn log_of(head: &str, intervals: &[(&str, &str)]) -> String {
    let first = lines()[5].clone();
    let rest = first.strip_prefix("0.000,1.000,").unwrap();
    let body: String = intervals.iter().map(|(start, length)| format!("{start},{length},{rest}\n")).collect();
    format!("{head}{body}")
}

const VERSION: &str = "#[Histogram log format version 1.3]\n";

#[test]
fn tags_are_labels_and_what_is_no_sum_of_them_is_counted() {
    let lines = lines();
    // A second tag makes the histogram without one another than the sum.
    let text = [&lines[..], &[lines[8].replace("Tag=hello", "Tag=other")]].concat().join("\n");
    let (done, run) = stored_of(&text).unwrap();
    assert_eq!(run.cells.labels, ["hello", "", "other"]);
    assert_eq!(run.info.successes, 1726 + 3 * 1274);
    assert_eq!(done.info.options.intervals.unwrap().sums, 1);
    let untagged: Vec<String> = lines.iter().filter(|line| !line.starts_with("Tag=")).cloned().collect();
    let (_, run) = stored_of(&untagged.join("\n")).unwrap();
    assert_eq!((run.cells.labels, run.info.successes), (vec![String::new()], 3000));
}

/// A line of a log: an interval of a second, and response times in µs.
fn line_of(tag: &str, second: u64, times: &[u64]) -> String {
    let mut histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
    times.iter().for_each(|time| histogram.record(*time).unwrap());
    let (mut out, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut builder = IntervalLogWriterBuilder::new();
    let mut log = builder.with_max_value_divisor(1000.0).begin_log_with(&mut out, &mut serializer).unwrap();
    let begin = std::time::Duration::from_secs(1_795_347_889 + second);
    log.write_histogram(
        &histogram,
        begin,
        std::time::Duration::from_secs(1),
        Tag::new(tag).filter(|_| !tag.is_empty()),
    )
    .unwrap();
    let text = String::from_utf8(out).unwrap();
    format!("{}\n", text.lines().find(|line| !line.starts_with('#')).unwrap())
}

/// A second, a label, and the requests by response time in µs.
type OfLabel = (u32, String, Vec<(i32, u64)>);

fn by_label(run: &StoredRun) -> Vec<OfLabel> {
    let cells = run.cells.iter().map(Result::unwrap);
    cells
        .map(|(key, cell)| (key.second, run.cells.labels[key.label as usize].clone(), cell.elapsed))
        .collect()
}

/// Where one histogram of an interval is rejected, the sum has its requests, and those of the others are counted once.
#[test]
fn sum_beside_a_rejected_part_counts_no_request_twice() {
    let (a, b, all) =
        (line_of("a", 1, &[100, 200]), line_of("b", 1, &[200, 300]), line_of("", 1, &[100, 200, 200, 300]));
    let first = line_of("a", 0, &[100]);
    let damaged =
        [b.replace("HISTF", "HISTE"), b.replacen(',', ",7,", 1), b.replacen("1795347890", "1795347880", 1)];
    let label = |text: &str| text.to_owned();
    let expected = [
        (0, label("a"), vec![(100, 1)]),
        (1, label("a"), vec![(100, 1), (200, 1)]),
        (1, label(""), vec![(200, 1), (300, 1)]),
    ];
    for bad in &damaged {
        for lines in [
            [&all, &a, bad],
            [&all, bad, &a],
            [bad, &all, &a],
            [&a, bad, &all],
            [&a, &all, bad],
            [bad, &a, &all],
        ] {
            let text = format!("{VERSION}{first}{}", lines.map(String::as_str).concat());
            let (done, run) = stored_of(&text).unwrap();
            let mut found = by_label(&run);
            found.sort_by_key(|(second, label, _)| (*second, label.is_empty()));
            assert_eq!((found, done.info.rejects), (expected.to_vec(), 1), "{text}");
        }
    }
    // A comment between them does not part an interval.
    let text = format!("{VERSION}{first}{all}{a}# here\n\n{b}");
    let (done, run) = stored_of(&text).unwrap();
    assert_eq!((run.info.successes, done.info.options.intervals.unwrap().sums), (5, 1));
    // What is no sum stays what it is.
    let other = line_of("", 1, &[100, 400]);
    let text = format!("{VERSION}{first}{other}{a}{}", damaged[0]);
    assert_eq!(stored_of(&text).unwrap().1.info.successes, 5);
}

#[test]
fn stamps_count_from_the_times_above_them_as_in_the_own_reader() {
    let moment = 1_795_347_889_503;
    for (head, stamp, t0_ms) in [
        (
            "#[StartTime: 1795347889.503 (seconds since epoch)]\n#[BaseTime: 1795347889.503 (seconds since epoch)]\n",
            "0.000",
            moment,
        ),
        ("#[StartTime: 1795347889.503 (seconds since epoch)]\n", "0.000", moment),
        ("#[StartTime: 1795347889.000 (seconds since epoch)]\n", "1795347889.503", moment),
        ("", "1795347889.503", moment),
        ("", "0.503", 503),
    ] {
        let (done, run) = stored_of(&log_of(&format!("{VERSION}{head}"), &[(stamp, "1.000")])).unwrap();
        assert_eq!((run.info.t0_ms, run.info.successes), (t0_ms, 1726), "{head}{stamp}");
        assert_eq!(notes(&done).contains("it has no clock"), t0_ms < moment, "{}", notes(&done));
    }
    let (_folder, file) = written("run.hlog", log_of(VERSION, &[("0.503", "1.000")]).as_bytes());
    let (_, run) = stored(&[file], IngestOptions::default().with_origin(moment)).unwrap();
    assert_eq!(run.info.t0_ms, moment + 503);
}

#[test]
fn intervals_beside_the_seconds_are_counted_where_they_begin_and_told() {
    let intervals = [
        ("10.000", "1.000"),
        ("11.000", "1.003"),
        ("12.003", "0.500"),
        ("12.503", "0.497"),
        ("13.000", "2.500"),
    ];
    let (done, run) = stored_of(&log_of(VERSION, &intervals)).unwrap();
    let counts: Vec<u64> =
        seconds(&run.cells).iter().map(|(_, counts)| counts.iter().map(|(_, n)| n).sum()).collect();
    assert_eq!(counts, [1726, 1726, 2 * 1726, 1726]);
    let told = done.info.options.intervals.unwrap();
    assert_eq!((told.intervals, told.across, told.longest_ms), (5, 2, 2500));
    assert!(notes(&done).contains("2 of 5 intervals, up to 2500 ms long"), "{}", notes(&done));
    assert_eq!(run.info.last_end_ms, Some(15_500));
}

#[test]
fn bad_intervals_are_rejected_with_line_and_reason() {
    let good = log_of("", &[("1795347889.000", "1.000")]);
    let changed = |from: &str, to: &str| good.replacen(from, to, 1);
    for (bad, reason) in [
        (changed("HISTFAAA", "HI%TFAAA"), "base64"),
        (format!("{}\n", &good.trim_end()[..good.len() - 9]), "damaged or cut short"),
        (changed("HISTF", "HISTE"), "not encoded as V2"),
        (changed(",19.999,", ",12.000,"), "not the largest value"),
        (changed(",19.999,", ",19999.0,"), "the unit is not known"),
        (changed("1795347889.000", "-5.000"), "timeStamp is not"),
        (changed("1795347889.000", "1795347888.000"), "before the interval above"),
        (changed("1.000", "1.000,7"), "5 fields instead of 4"),
        ("soon\n".to_owned(), "1 fields instead of 4"),
        (changed(",1.000,", ",9000.000,"), "too long to be counted"),
    ] {
        let text = format!("{VERSION}{good}{bad}");
        let (_folder, file) = written("run.hlog", text.as_bytes());
        let (done, _, rejects) = all_stored(&[file], IngestOptions::default()).unwrap();
        assert_eq!((done.info.successes, rejects.len()), (1726, 1), "{reason}: {bad}");
        let reject = &rejects[0];
        assert_eq!((reject.line, reject.record.as_str()), (3, bad.trim_end()), "{reason}");
        assert!(reject.reason.contains(reason), "{reason}: {}", reject.reason);
    }
}

#[test]
fn logs_that_can_not_be_counted_are_refused_with_the_reason() {
    let refused = |text: &str| stored_of(text).unwrap_err().to_string();
    let slow = [("1795347889.000", "10.000"), ("1795347899.000", "10.000")];
    let error = refused(&log_of(VERSION, &slow));
    assert!(error.contains("line 2") && error.contains("longer than 1.5 s"), "{error}");
    let version = "#[Histogram log format version 1.9]\n";
    let error = refused(&log_of(version, &[("0.000", "1.000")]));
    assert!(error.contains("line 2") && error.contains("another version than 1.2 and 1.3"), "{error}");
    assert!(refused(VERSION).contains("has no requests"));
}

#[test]
fn what_wants_samples_refuses_the_log_and_its_run() {
    let file = fixture("hdrhistogram/clean.hlog");
    let error = read_with(&file, IngestOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoRequests, "{error}");
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = ParquetStore::open(folder.path().join("data")).unwrap();
    let options = IngestOptions::default().with_framework("f").with_test("t");
    runtime.block_on(ingest(&store, &[file], &options)).unwrap();
    let error = store.samples(&RunKey::new("f", "t"), &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoRequests, "{error}");
}

#[test]
fn log_beside_one_of_requests_makes_a_run_of_counts() {
    let files = [fixture("hdrhistogram/clean.hlog"), fixture("h2load/clean.log")];
    let (_, run) = stored(&files, IngestOptions::default()).unwrap();
    assert_eq!((run.info.successes, run.info.samples_stored), (6000, false));
    assert_eq!(run.info.tool(), "h2load+hdrhistogram");
}

#[test]
fn inspection_finds_the_requests_and_the_rounding() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let file: &Path = &fixture("hdrhistogram/clean.hlog");
    let found =
        runtime.block_on(perfpipe_ingest::inspect(&[file.to_owned()], &IngestOptions::default())).unwrap();
    assert_eq!(found.logs[0].records(), 3000);
    assert!(found.notes.iter().any(|note| note.contains("3 significant digits")), "{:?}", found.notes);
}
