//! Odd logs and odd names: what one store can hold the other holds too, and both tell it alike.

use std::fmt::Write as _;

use crate::support::*;

const EXPORTS: [&str; 7] = ["seconds", "errors", "cpu", "summary", "labels", "rejects", "samples"];

/// Ingests a log into both stores, and checks that they tell the same of it; returns its exports.
fn same_in_both(name: &str, log: &[u8], flags: &[&str], views: &[&str]) -> Vec<String> {
    let exports = Store::each().into_iter().map(|store| {
        let path = store.file(name, log);
        store.run(&[&["ingest", &path], flags].concat()).said();
        let key = store.only_key();
        EXPORTS.map(|what| store.export(&key, what, "csv", views)).to_vec()
    });
    let exports: Vec<Vec<String>> = exports.collect();
    for other in &exports[1..] {
        for (what, (ours, theirs)) in EXPORTS.iter().zip(exports[0].iter().zip(other)) {
            assert_eq!(ours, theirs, "{what} of {name}");
        }
    }
    exports[0].clone()
}

#[test]
fn texts_of_every_kind_are_kept_alike() {
    let mut log = b"timeStamp,elapsed,label,responseCode,responseMessage,success,threadName\n".to_vec();
    let texts: [&[u8]; 10] = [
        b"NUL \0 inside",
        b"not UTF-8 \xff\xfe",
        b"\"two\nlines, \"\"quoted\"\"\"",
        "Größe/配额 🚀".as_bytes(),
        b"",
        b"\\N",
        b"\\.",
        b"back\\slash\ttab",
        b"  spaces  ",
        b"\"cr\r\nlf\"",
    ];
    for (at, text) in texts.iter().enumerate() {
        for success in ["true", "false"] {
            log.extend(format!("{},{at},", 1_795_203_738_000 + 300 * at).bytes());
            log.extend(
                [text, b",".as_slice(), text, b",", text, b",", success.as_bytes(), b",", text, b"\n"]
                    .concat(),
            );
        }
    }
    let exports = same_in_both("nio_odd.csv", &log, &[], &[]);
    assert_eq!(rows(&exports[6]).len(), 20);
    assert_eq!(rows(&exports[1]).len(), 10);
    assert_eq!(rows(&exports[4]).len(), 10);
}

#[test]
fn smallest_log_gives_gaps_and_no_zeros() {
    let log = b"timeStamp,elapsed,success\n1795203738615,12,true\n1795203741615,7,FALSE\n";
    let exports = same_in_both("nio_small.csv", log, &[], &[]);
    let expected =
        "0,1,0,,12,12,12,,,,12,12,12,12,\n1,0,0,,,,,,,,,,,,\n2,0,0,,,,,,,,,,,,\n3,0,1,,,,,,,,,,,,\n";
    assert_eq!(exports[0].split_once('\n').unwrap().1, expected);
}

#[test]
fn numbers_at_their_limits_are_kept_alike() {
    let mut log =
        "timeStamp,elapsed,label,responseCode,success,bytes,sentBytes,allThreads,Latency,IdleTime,Connect\n"
            .to_owned();
    let (max, big) = (i32::MAX, (1_i64 << 40) - 1);
    for (at, number) in [0, 1, -1, max, -max].iter().enumerate() {
        let t = 1_795_203_738_000 + at as i64;
        writeln!(log, "{t},{number},Get,200,true,{big},{big},{number},{number},{number},{number}").unwrap();
        writeln!(log, "{t},{max},Get,200,true,,,,,,").unwrap();
    }
    // Beyond the limits: each is a reject in either store, or kept in both.
    let wide = i64::from(max) + 1;
    writeln!(log, "1795203738009,{wide},Get,200,true,1,1,1,1,1,1").unwrap();
    writeln!(log, "1795203738009,1,Get,200,true,99999999999999999999,1,1,1,1,1").unwrap();
    writeln!(log, "1795203738009,1,Get,200,true,1,1,{wide},1,1,1").unwrap();
    writeln!(log, "1795203738009,1,Get,200,true,1,1,1,{wide},1,1").unwrap();
    writeln!(log, "1795203738009,1,Get,200,true,{},1,1,1,1,1", big + 1).unwrap();
    let exports = same_in_both("nio_limits.csv", log.as_bytes(), &[], &[]);
    assert_eq!(rows(&exports[5]).len() + rows(&exports[6]).len(), 15);
}

#[test]
fn many_labels_and_messages_are_counted_alike() {
    let mut log = "timeStamp,elapsed,label,responseCode,success,failureMessage\n".to_owned();
    for at in 0..3_000 {
        let t = 1_795_203_738_000_i64 + at * 3;
        let success = if at % 2 == 0 { "true" } else { "false" };
        writeln!(log, "{t},{},Label {},200,{success},message {at}", at % 50, at % 300).unwrap();
    }
    let exports = same_in_both("nio_many.csv", log.as_bytes(), &[], &[]);
    let sum = |csv: &str, column: &str| -> u64 {
        rows(csv).iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum(&exports[1], "count"), 1_500);
    assert_eq!((sum(&exports[4], "successes"), sum(&exports[4], "failures")), (1_500, 1_500));
}

#[test]
fn label_beyond_the_limit_is_counted_from_the_samples() {
    let log = |others: &str| {
        let mut log = "timeStamp,elapsed,label,success,allThreads,threadName\n".to_owned();
        for at in 0..6_000_i64 {
            let label =
                if at % 300 == 250 { "Label 250" } else { &others.replace('#', &(at % 300).to_string()) };
            let (t, success) = (1_795_203_738_400 + at * 3, at % 7 != 0);
            writeln!(log, "{t},{},{label},{success},{},10.0.0.{}-T 1-1", at % 50, at % 20, at % 3).unwrap();
        }
        log
    };
    let cpu = "clock,value\n1795203738,10\n1795203739,70\n1795203745,33.3\n";
    for store in Store::each() {
        let cpu = store.file("cpu.csv", cpu);
        let (many, two) =
            (store.file("nio_many.csv", log("Label #")), store.file("nio_two.csv", log("rest")));
        for path in [many, two] {
            store.run(&["ingest", &path, &cpu]).said();
        }
        let view = ["--label", "Label 250", "--percentiles", "50,99.9"];
        for (what, view) in [("seconds", &view[..]), ("labels", &view[..2])] {
            let of = |test| store.export(&Key::new("nio", test), what, "csv", view);
            assert_eq!(of("many"), of("two"), "{what}");
        }
        let export = ["export", "--framework", "nio", "--test", "many"];
        let done = store.run(&[&export[..], &view].concat());
        assert!(done.err.contains("reading the samples"), "{}", done.err);
        store.run(&["report", "--test", "many", "--label", "Label 250", "--format", "svg"]).text();
        let errors = [&export[..], &["--what", "errors", "--label", "Label 250"]].concat();
        let complaint = store.run(&errors).complaint(2);
        assert!(complaint.contains("Label 250") && complaint.contains("--what samples"), "{complaint}");
    }
}

#[test]
fn runs_of_any_name_are_kept_apart() {
    let log = "timeStamp,elapsed,success\n1795203738615,12,true\n";
    let long = "x".repeat(200);
    let long_too = format!("{long}y");
    let keys = [
        ("perfect nio", "2048"),
        ("Nio", "2048"),
        ("nio", "2048"),
        ("nio_2048", "x"),
        ("nio", "2048_x"),
        ("../../etc", "passwd"),
        ("a'b\"c;--", "d\\e"),
        ("Größe", "配额 🚀"),
        // The layout's own tables have names too.
        ("runs", "runs"),
        ("elapsed_counts", "layout"),
        (&long, "x"),
        (&long_too, "x"),
        (".", ".."),
    ];
    for store in Store::each() {
        let path = store.file("log.csv", log);
        for (framework, test) in &keys {
            store.run(&["ingest", &path, "--framework", framework, "--test", test]).said();
        }
        assert_eq!(store.list().len(), keys.len());
        for (framework, test) in &keys {
            let key = Key::new(framework, test);
            assert_eq!(store.export(&key, "samples", "csv", &[]).lines().count(), 2);
            let out = store.folder.path().join("charts");
            store.run(&["report", "--test", test, "--out", out.to_str().unwrap(), "--format", "svg"]).text();
            store.run(&["drop", "--framework", framework, "--test", test]).said();
        }
        assert!(store.list().is_empty());
        assert_eq!(store.leftovers(), Vec::<String>::new());
        assert!(!store.folder.path().join("../etc").exists());
    }
}

#[test]
fn idle_time_that_jmeter_rounded_below_0_is_no_reject() {
    let store = Store::embedded();
    let log = "timeStamp,elapsed,label,success,IdleTime\n1795203738001,11,Page,true,-1\n1795203738100,12,Page,true,3\n";
    let log = store.file("idle.csv", log);
    let said = store.run(&["ingest", &log, "--framework", "go", "--test", "t"]).said();
    assert!(said.contains("2, 0 of them failures"), "{said}");
    let samples = store.run(&["export", "go_t", "--what", "samples"]).text();
    assert!(samples.lines().nth(1).unwrap().split(',').any(|field| field == "-1"), "{samples}");
}
