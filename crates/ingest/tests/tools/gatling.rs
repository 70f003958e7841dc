//! Gatling's logs, as text and binary.

use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::run::RejectReason;

use crate::support::*;

fn labels(hello: usize, json: usize) -> Vec<(String, usize)> {
    vec![("shop / hello".to_owned(), hello), ("shop / json, it's".to_owned(), json)]
}

#[test]
fn text_log_has_the_counts_of_the_server() {
    let log = read(&fixture("gatling/3.9.5.log"));
    assert_eq!(log.outcomes(), (742, 53));
    assert_eq!(log.samples.iter().filter(|sample| sample.transaction).count(), 398);
    assert_eq!(log.labels(), labels(398, 397));
    assert_eq!([50.0, 90.0, 95.0].map(|percent| log.percentile(percent)), [6.0, 12.0, 14.0]);
    assert!((log.percentile(99.0) - 26.18).abs() < 1e-9 && (log.mean() - 8.323_450).abs() < 1e-6);
    let seconds = [(36, 2), (88, 6), (125, 9), (122, 9), (132, 9), (120, 9), (82, 6), (36, 2), (1, 1)];
    assert_eq!(log.by_second(), seconds);
    // Eight users, whose starts and ends the log tells.
    assert_eq!(log.samples.iter().filter_map(|sample| sample.threads).max(), Some(8));
    assert_eq!((log.done.info.rejects, log.done.notes.len()), (0, 0), "{:?}", log.done.notes);
}

#[test]
fn binary_log_has_the_counts_of_the_server() {
    let log = read(&fixture("gatling/3.13.5.log"));
    assert_eq!(log.outcomes(), (749, 53));
    assert_eq!(log.labels(), labels(402, 400));
    assert_eq!([50.0, 90.0, 95.0].map(|percent| log.percentile(percent)), [6.0, 10.0, 12.0]);
    assert!((log.percentile(99.0) - 24.52).abs() < 1e-9 && (log.mean() - 7.790_387).abs() < 1e-6);
    let seconds = [(36, 2), (90, 6), (126, 10), (129, 9), (131, 9), (119, 9), (80, 5), (35, 3), (3, 0)];
    assert_eq!(log.by_second(), seconds);
    assert_eq!(log.samples.iter().filter_map(|sample| sample.threads).max(), Some(8));
    assert_eq!((log.done.info.rejects, log.done.notes.len()), (0, 0), "{:?}", log.done.notes);
}

#[test]
fn blocks_of_any_size_hold_the_same_samples() {
    for name in ["gatling/3.9.5.log", "gatling/3.13.5.log", "jmeter/min.xml", "jmeter/full.xml.gz"] {
        let whole = read(&fixture(name)).samples;
        for block_size in [1, 1000, 40_000] {
            assert_eq!(read_by(&fixture(name), block_size).samples, whole, "{name} by {block_size}");
        }
    }
}

#[test]
fn tab_in_a_name_is_part_of_it() {
    let log = read(&fixture("gatling/tab-in-name.log"));
    assert_eq!(log.done.info.rejects, 0);
    assert!(log.labels().iter().any(|(label, _)| label == "shop / json, \t quoted"), "{:?}", log.labels());
}

#[test]
fn earlier_versions_have_users_and_scenarios_before_the_groups() {
    for (version, lead) in [("2.3.1", "scenario\t17\t"), ("3.0.2", "17\t"), ("3.9.5", "")] {
        let text = format!(
            "RUN\tSim\tsim\t1795348622935\t \t{version}\n\
             USER\tscenario\t17\tSTART\t1795348623000\t1795348623000\n\
             REQUEST\t{lead}a,b\tget\t1795348623000\t1795348623050\tOK\t \n\
             REQUEST\t{lead}\tget\t1795348623000\t1795348623070\tKO\tno\tanswer\n\
             REQUEST\t{lead}\tget\t1795348623000\t1795348623070\tOK\n"
        );
        let (_folder, file) = written("simulation.log", text.as_bytes());
        let log = read(&file);
        assert_eq!(log.labels(), [("a / b / get".to_owned(), 1), ("get".to_owned(), 2)], "{version}");
        assert_eq!(log.outcomes(), (2, 1));
        assert_eq!((log.samples[0].elapsed, log.samples[0].threads), (50, Some(1)));
    }
}

#[test]
fn bad_line_is_rejected_as_it_is_in_the_log() {
    let good = "REQUEST\t\tget\t1795348623000\t1795348623050\tOK\t \n";
    let bad = [
        "REQUEST\t\tget \"x\", y\t1795348623000\tsoon\tOK\t ",
        "REQUEST\t\tget",
        "WHAT\tis\tthis",
        "GROUP\tshop\t1795348623000\t1795348623050\tmany\tOK",
    ];
    let text = format!("RUN\tS\ts\t1\t \t3.9.5\n{good}{}\n{good}", bad.join("\n"));
    let (_folder, file) = written("simulation.log", text.as_bytes());
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("line 3") && told.contains("soon"), "{told}");
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((2, 0), 4));
    let inspected = inspect(&file);
    let told: Vec<_> = inspected.first_rejects.iter().map(|reject| (reject.line, &*reject.record)).collect();
    assert_eq!(told, [(3, bad[0]), (4, bad[1]), (5, bad[2]), (6, bad[3])]);
    let byte = text.find(bad[0]).unwrap() as u64;
    assert_eq!(inspected.first_rejects[0].byte, byte);
    assert_eq!(inspected.first_rejects[2].code.as_deref(), Some(RejectReason::UnknownRecord.code()));
}

fn inspect(file: &std::path::Path) -> perfpipe_ingest::Inspection {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(perfpipe_ingest::inspect(&[file.to_owned()], &IngestOptions::default())).unwrap()
}

#[test]
fn cut_logs_lose_their_last_record_only() {
    for (name, cut) in [("gatling/3.9.5.log", 20_010), ("gatling/3.13.5.log", 9_003)] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let (_folder, file) = written("simulation.log", &bytes[..cut]);
        let (log, whole) = (read(&file), read(&fixture(name)));
        assert_eq!(log.done.info.rejects, 1, "{name}");
        assert_eq!(log.samples, whole.samples[..log.samples.len()], "{name}");
        assert!(log.samples.len() > 100, "{name}");
    }
}

#[test]
fn binary_log_of_something_else_is_an_error_that_tells_the_byte() {
    let mut bytes = std::fs::read(fixture("gatling/3.13.5.log")).unwrap();
    bytes[71] = 9;
    let (_folder, file) = written("simulation.log", &bytes);
    let error = read_with(&file, IngestOptions::default()).unwrap_err().to_string();
    assert!(error.contains("3.13.5") && error.contains("byte 70"), "{error}");
}
