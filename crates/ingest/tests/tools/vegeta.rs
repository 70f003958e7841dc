//! vegeta's results, as CSV and as JSON.

use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::source::LayoutOptions;
use perfpipe_ingest::{ErrorKind, IngestOptions};

use crate::support::*;

#[test]
fn both_forms_have_the_counts_of_the_server() {
    for name in ["vegeta/results.csv.gz", "vegeta/results.json.gz"] {
        let log = read(&fixture(name));
        assert_eq!(
            (log.outcomes(), log.done.info.resolution),
            ((1079, 121), Resolution::MICROSECOND),
            "{name}"
        );
        assert_eq!(log.labels(), [("GET /hello".to_owned(), 1200)]);
        let seconds =
            [(136, 15), (135, 15), (135, 15), (134, 15), (135, 16), (135, 15), (135, 15), (134, 15)];
        assert_eq!(log.by_second(), seconds, "{name}");
        // In ns: 5.470636, 9.951474 and 15.660495 ms.
        for (percent, ms) in [(50.0, 5.471), (95.0, 9.951), (99.0, 15.660)] {
            assert!((log.percentile(percent) - ms).abs() < 5.1e-4, "{percent}: {}", log.percentile(percent));
        }
        assert!((log.mean() - 5.958_658).abs() < 1e-5);
        assert_eq!((log.done.info.rejects, log.done.notes.len()), (0, 0), "{:?}", log.done.notes);
    }
}

#[test]
fn both_forms_hold_the_same_samples_in_blocks_of_any_size() {
    let whole = read(&fixture("vegeta/results.csv.gz")).samples;
    assert_eq!(read(&fixture("vegeta/results.json.gz")).samples, whole);
    for block_size in [1, 1000, 40_000] {
        assert_eq!(read_by(&fixture("vegeta/results.csv.gz"), block_size).samples, whole, "by {block_size}");
    }
}

/// The load is the number of requests in flight, counted here from the log by a program of its own.
#[test]
fn load_is_the_number_of_requests_in_flight() {
    let packed = std::fs::read(fixture("vegeta/results.csv.gz")).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text).unwrap();
    let times: Vec<(i64, i64)> = text
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let start: i64 = fields[0].parse().unwrap();
            (start, start + fields[2].parse::<i64>().unwrap())
        })
        .collect();
    let log = read(&fixture("vegeta/results.csv.gz"));
    for ((start, _), sample) in times.iter().zip(&log.samples) {
        let in_flight = times.iter().filter(|(other, end)| other <= start && end > start).count();
        assert_eq!(sample.threads, Some(in_flight as i32));
    }
}

#[test]
fn resolution_can_be_coarser_and_not_finer() {
    let options = |unit: &str| {
        let mut options = IngestOptions::default();
        options.source.layout = LayoutOptions::default().with_resolution(unit.parse().unwrap());
        options
    };
    let file = fixture("vegeta/results.csv.gz");
    let fine = read(&file);
    for (unit, us) in [("10us", 10.0), ("100us", 100.0), ("1ms", 1000.0)] {
        let coarse = read_with(&file, options(unit)).unwrap();
        assert_eq!(coarse.done.info.resolution.to_string(), unit);
        for (coarse, fine) in coarse.samples.iter().zip(&fine.samples) {
            assert!((f64::from(coarse.elapsed) - f64::from(fine.elapsed) / us).abs() <= 0.5);
        }
    }
    let (_folder, jtl) = written("run.csv", b"timeStamp,elapsed,success\n1795203738000,5,true\n");
    let error = read_with(&jtl, options("10us")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Resolution);
    assert!(error.to_string().contains("units of 1ms, and 10us"), "{error}");
}

#[test]
fn quoted_errors_and_bad_lines_are_told() {
    let good = "1795348034787926537,0,1003147963,0,0,\"Get \"\"http://x/hello\"\": time, out\",,a,0,GET,http://x/hello?q=1,\n";
    let bad = ["1795348034787926537,200,soon,0,12,,,a,1,GET,http://x/hello,", "soon,200", "{\"attack\":1}"];
    let text = format!("{good}{}\n{good}", bad.join("\n"));
    let (_folder, file) = written("results.csv", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((0, 2), 3));
    assert_eq!(log.labels(), [("GET /hello".to_owned(), 2)]);
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("soon"), "{error}");
}

/// A response that can't be parsed has its first line in the error, which may itself have line ends.
#[test]
fn error_of_several_lines_is_one_record() {
    let start = "1795348034787926537,0,1003147963,0,0,";
    let end = ",,a,0,GET,http://x/hello,\n";
    let good = format!("1795348034787926537,200,5000,0,12,{end}");
    let quoted = format!("{start}\"malformed \"\"HTTP\"\" answer:\r\n\n,and more\"{end}");
    let text = [&quoted, &good, &quoted, "1795348034787926537,200,soon\n", &quoted].concat();
    let (_folder, file) = written("results.csv", text.as_bytes());
    for block_size in [1, 100, 1 << 20] {
        let log = read_by(&file, block_size);
        assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 3), 1), "by {block_size}");
        assert_eq!(log.labels(), [("GET /hello".to_owned(), 4)]);
    }
    // Lines are counted as an editor counts them.
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err().to_string();
    assert!(error.contains("line 8"), "{error}");
    let cut = &text[..text.len() - end.len() - 3];
    let (_folder, file) = written("cut.csv", cut.as_bytes());
    assert_eq!(read(&file).done.info.rejects, 2);
}

/// A quote that was never closed loses its own record, not those behind it.
#[test]
fn open_quote_ends_where_the_next_record_begins() {
    let end = ",,a,0,GET,http://x/hello,\n";
    let good = format!("1795348034787926537,200,5000,0,12,{end}");
    let open = format!("1795348034787926537,0,5000,0,0,\"open{end}");
    for rest in [good.repeat(2), good.repeat(2).trim_end().to_owned()] {
        let (_folder, file) = written("results.csv", [&open, &rest[..]].concat().as_bytes());
        for block_size in [1, 1 << 20] {
            let log = read_by(&file, block_size);
            assert_eq!((log.outcomes(), log.done.info.rejects), ((2, 0), 1), "by {block_size}");
        }
    }
}

#[test]
fn answer_that_took_longer_than_the_unit_holds_is_rejected_with_the_remedy() {
    let hour = "1795348034787926537,200,3600000000000,0,12,,,a,0,GET,http://x/,\n";
    let soon = "1795348034787926537,200,5000,0,12,,,a,0,GET,http://x/,\n";
    let (_folder, file) = written("results.csv", [soon, hour].concat().as_bytes());
    assert_eq!(read(&file).done.info.rejects, 1);
    let mut options = IngestOptions::default();
    options.source.layout.resolution = Some("10us".parse().unwrap());
    let log = read_with(&file, options).unwrap();
    assert_eq!((log.done.info.rejects, log.samples[1].elapsed), (0, 360_000_000));
}

#[test]
fn binary_results_are_refused_with_the_command_that_converts_them() {
    let error = read_with(&fixture("vegeta/results.bin"), IngestOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedFormat);
    assert!(error.remedy().unwrap().contains("vegeta encode --to csv"), "{error:?}");
}

#[test]
fn logs_of_one_run_have_one_unit() {
    let folder = tempfile::tempdir().unwrap();
    let jtl = folder.path().join("run.csv");
    std::fs::write(&jtl, "timeStamp,elapsed,label,success\n1795348034900,5,Get,true\n").unwrap();
    let files = [fixture("vegeta/results.csv.gz"), jtl];
    let error = read_files(&files, IngestOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Resolution);
    let mut options = IngestOptions::default();
    options.source.layout.resolution = Some(Resolution::MILLISECOND);
    assert_eq!(read_files(&files, options).unwrap().outcomes(), (1080, 121));
}
