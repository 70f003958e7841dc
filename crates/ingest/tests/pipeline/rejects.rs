//! What is not accepted: how it is told, and what there may be too much of.

use perfpipe_ingest::run::{Reject, RejectReason};
use perfpipe_ingest::{Error, ErrorKind};

use crate::memory::in_memory;
use crate::support::{Desk, options, usual};

const HEADER: &str = "timeStamp,elapsed,label,success\n";

fn good(record: usize) -> String {
    format!("{},7,a,true\n", 1_795_203_738_615 + record)
}

fn code(reject: &Reject) -> &str {
    reject.code.as_deref().unwrap()
}

/// A log whose records 1, 3, 5 … of twenty are bad.
fn half_bad() -> String {
    let bad = |record: usize| if record % 2 == 1 { format!("bad {record}\n") } else { good(record) };
    HEADER.to_owned() + &(0..20).map(bad).collect::<String>()
}

#[test]
fn more_rejects_than_allowed_fail_the_run_and_store_nothing() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", half_bad())];
    for (max_rejects, line) in [(0, 3), (1, 5), (9, 21)] {
        for sizes in [usual(), options(3, 1, 0), options(1, 30, 50)] {
            let failed = desk.ingest(&files, &sizes.with_max_rejects(max_rejects)).unwrap_err();
            let Error::Rejects { place, reason, rejects, limit, .. } = &failed else { panic!("{failed:?}") };
            assert_eq!((place.line, *rejects, *limit), (Some(line), max_rejects + 1, max_rejects));
            let before: usize = half_bad().lines().take(line as usize - 1).map(|line| line.len() + 1).sum();
            assert_eq!((place.byte, &place.file), (Some(before as u64), &files[0]));
            assert_eq!(*reason, RejectReason::FieldCount { found: 1, expected: 4 });
            assert!(failed.to_string().contains(&format!("line {line}")), "{failed}");
            assert_eq!(failed.kind(), ErrorKind::TooManyRejects);
        }
    }
    desk.assert_empty();
    let done = desk.ingest(&files, &usual().with_max_rejects(10)).unwrap();
    assert_eq!((done.info.rejects, done.info.records()), (10, 20));
}

#[test]
fn lines_longer_than_four_mib_are_rejects_whatever_the_blocks() {
    let desk = Desk::new();
    let long = "x".repeat(9 << 20);
    let files = [desk.file("log.csv", format!("{HEADER}{}{long}\n{}{}", good(0), good(1), good(2)))];
    for block_size in [1000, 1 << 20, 64 << 20] {
        let stored = in_memory(&files, &options(2, block_size, 1 << 20));
        let [reject] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects.len()) };
        assert_eq!((reject.line, reject.byte), (3, (HEADER.len() + good(0).len()) as u64));
        assert_eq!(code(reject), RejectReason::LongLine.code());
        assert!(reject.record.len() == 64 << 10 && long.starts_with(&reject.record));
        assert_eq!(stored.run.info.successes, 3);
    }
}

#[test]
fn long_lines_may_be_many() {
    let desk = Desk::new();
    let long = "x".repeat(9 << 19);
    let log: String = (0..9).map(|record| format!("{}{long}\n", good(record))).collect();
    let files = [desk.file("log.csv", format!("{HEADER}{log}"))];
    let stored = in_memory(&files, &options(1, 1 << 20, 0));
    assert_eq!((stored.rejects.len(), stored.run.info.successes), (9, 9));
}

#[test]
fn quote_never_closed_costs_one_record_where_much_follows() {
    let desk = Desk::new();
    let many: String = (0..250_000).map(good).collect();
    assert!(many.len() > 5 << 20);
    let files = [desk.file("log.csv", format!("{HEADER}{}1,\"2\n{many}oops\n", good(0)))];
    for block_size in [5000, 1 << 20, 64 << 20] {
        let stored = in_memory(&files, &options(2, block_size, 1 << 20));
        let [first, last] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects.len()) };
        assert_eq!((first.line, first.record.as_str()), (3, "1,\"2"));
        assert_eq!(code(first), RejectReason::LongQuote.code());
        assert_eq!((last.line, last.record.as_str()), (250_004, "oops"));
        assert_eq!(stored.run.info.successes, 250_001);
    }
}

#[test]
fn quote_never_closed_costs_one_record_where_little_follows() {
    let desk = Desk::new();
    let end = format!("1,\"2\n{}{}", good(1), good(2));
    let files = [desk.file("log.csv", format!("{HEADER}{}{end}", good(0)))];
    for block_size in [3, 50, 1 << 20] {
        let stored = desk.stored(&files, &options(2, block_size, 0));
        let [reject] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects) };
        assert_eq!((reject.line, reject.record.as_str()), (3, "1,\"2"));
        assert_eq!(code(reject), RejectReason::OpenQuote.code());
        assert_eq!(stored.run.info.successes, 3);
    }
}

#[test]
fn record_cut_within_a_quote_is_one_reject_of_all_its_lines() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", format!("{HEADER}{}1795203738616,7,\"a,\nb,c", good(0)))];
    let stored = desk.stored(&files, &options(2, 3, 0));
    let [reject] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects) };
    assert_eq!((reject.line, reject.record.as_str()), (3, "1795203738616,7,\"a,\nb,c"));
}

#[test]
fn last_line_of_a_killed_run_is_one_reject() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", format!("{HEADER}{}{}17952037", good(0), good(1)))];
    let stored = desk.stored(&files, &usual());
    let [reject] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects) };
    assert_eq!((reject.line, reject.record.as_str(), reject.file.as_str()), (4, "17952037", "log.csv"));
    assert_eq!(stored.run.info.successes, 2);
}

#[test]
fn records_far_from_the_head_are_rejects_as_max_span_says() {
    let desk = Desk::new();
    let head = 1_795_203_738_615i64;
    let log = [0, 5000, 5001, -5000, -5001, i64::MAX - head].map(|ms| format!("{},7,a,true\n", head + ms));
    let files = [desk.file("log.csv", HEADER.to_owned() + &log.concat())];
    for sizes in [usual(), options(2, 1, 0)] {
        let stored = desk.stored(&files, &sizes.with_max_span_ms(5000));
        let lines: Vec<u64> = stored.rejects.iter().map(|reject| reject.line).collect();
        assert_eq!(lines, [4, 6, 7]);
        let far = RejectReason::FarTime { first_ms: head };
        assert!(
            stored
                .rejects
                .iter()
                .all(|reject| code(reject) == far.code() && reject.reason == far.to_string())
        );
        assert_eq!((stored.run.info.t0_ms, stored.run.info.seconds), (head - 5000, 11));
    }
    let failed = desk.ingest(&files, &usual().with_max_span_ms(13 * 86_400_000));
    assert!(matches!(failed, Err(Error::Usage { kind: ErrorKind::SpanTooLong, .. })));
}

#[test]
fn second_header_of_other_columns_is_an_error_that_names_its_line() {
    let desk = Desk::new();
    let log = format!("{HEADER}{}{}timeStamp,elapsed,success,label\n{}", good(0), good(1), good(2));
    let files = [desk.file("log.csv", &log)];
    for sizes in [usual(), options(3, 1, 0)] {
        let failed = desk.ingest(&files, &sizes).unwrap_err();
        let at = log.find("timeStamp,elapsed,success").unwrap();
        let told = failed.to_string();
        assert!(told.contains("line 4") && told.contains(&format!("byte {at}")), "{told}");
        assert_eq!(failed.kind(), ErrorKind::SecondHeader);
    }
    desk.assert_empty();
}

#[test]
fn log_without_a_record_that_can_be_taken_says_so() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", format!("{HEADER}noon,7,a,true\n1,x,a,true\n"))];
    for sizes in [usual(), options(3, 1, 0)] {
        let failed = desk.ingest(&files, &sizes).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::NoValidRecord, "{failed}");
        assert!(
            [": 2)", "line 2", "timeStamp"].iter().all(|fact| failed.to_string().contains(fact)),
            "{failed}"
        );
    }
    desk.assert_empty();
}

#[test]
fn blank_lines_at_the_beginning_are_lines_and_nothing_else() {
    let desk = Desk::new();
    for (name, start) in [("bare", "\n\r\n\n"), ("marked", "\u{feff}\r\n\r\n\n")] {
        let log = format!("{start}{HEADER}{}oops\n", good(0));
        let stored = desk.stored(&[desk.file(name, &log)], &options(1, 1, 0));
        let [reject] = stored.rejects.as_slice() else { panic!("{:?}", stored.rejects) };
        assert_eq!((reject.line, reject.byte), (6, log.find("oops").unwrap() as u64));
        assert_eq!(stored.run.info.successes, 1);
    }
    let bare = "\n\n1795203738615,12,a,200,OK,T,text,true,,1,2,3,4,u,5,6,7\n";
    assert_eq!(desk.stored(&[desk.file("headless", bare)], &usual()).run.info.records(), 1);
}
