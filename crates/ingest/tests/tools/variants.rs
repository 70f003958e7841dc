//! Logs that no fixture has: other versions, other columns, and numbers beyond their types. All are written here by the
//! descriptions of the formats.

use perfpipe_ingest::{ErrorKind, IngestOptions};

use crate::support::*;

/// A log: its name and text, the numbers of successes, failures and rejects, and the labels.
type Variant<'a> = (&'a str, String, (usize, usize), u64, &'a [&'a str]);

fn check(variants: &[Variant<'_>]) {
    for (name, text, outcomes, rejects, labels) in variants {
        let (_folder, file) = written(name, text.as_bytes());
        let log = read(&file);
        assert_eq!((log.outcomes(), log.done.info.rejects), (*outcomes, *rejects), "{text}");
        let found: Vec<String> = log.labels().into_iter().map(|(label, _)| label).collect();
        assert_eq!(found, *labels, "{text}");
        for block_size in [1, 20] {
            assert_eq!(read_by(&file, block_size).samples, log.samples, "by {block_size}: {text}");
        }
    }
}

/// A request of k6, of which each metric is a line with these further columns.
fn k6(stamp: &str, duration: &str, failed: u8, more: &str) -> String {
    format!(
        "http_reqs,{stamp},1.000000{more}\nhttp_req_duration,{stamp},{duration}{more}\n\
         http_req_failed,{stamp},{failed}.000000{more}\n"
    )
}

#[test]
fn k6_with_other_columns_and_stamps() {
    let first = "metric_name,timestamp,metric_value";
    let good = |more: &str| k6("1795348045", "5.5", 0, more);
    check(&[
        ("k6.csv", format!("{first}\n{}", good("")), (1, 0), 0, &[""]),
        (
            "k6.csv",
            format!(
                "{first},status,extra_tags,name\n{}{}",
                good(",200,,a"),
                k6("1795348046", "5.5", 1, ",500,,b")
            ),
            (1, 1),
            0,
            &["a", "b"],
        ),
        (
            "k6.csv",
            format!(
                "{first},name,error,status\n{}",
                k6("1795348045", "5.5", 1, ",\"a,b\"\"c\",\"dial: x, y\",0")
            ),
            (0, 1),
            0,
            &["a,b\"c"],
        ),
        (
            "k6.csv",
            format!(
                "{first},name,status\n{}{}",
                k6("2026-11-22T11:47:25+02:00", "5.5", 0, ",a,200"),
                k6("2026-11-22T09:47:25.5Z", "5.5", 0, ",a,200")
            ),
            (2, 0),
            0,
            &["a"],
        ),
        // What is no number, or none that fits, loses the line, and with it the request.
        (
            "k6.csv",
            format!(
                "{first},name,status\n{}{}{}",
                good(",a,200"),
                k6("1795348045", "NaN", 0, ",a,200"),
                k6("1795348045", "99999999999999999999", 0, ",a,200")
            ),
            (1, 0),
            4,
            &["a"],
        ),
        // Other protocols are no requests of HTTP.
        (
            "k6.csv",
            format!("{first},name,status\nws_sessions,1795348045,1.0,w,101\n{}", good(",a,200")),
            (1, 0),
            0,
            &["a"],
        ),
    ]);
}

/// Stamps in whole seconds are told in any of k6's formats of time.
#[test]
fn k6_with_whole_seconds_is_told() {
    for (stamp, is_told) in [
        ("1795348045", true),
        ("1795348045123", false),
        ("2026-11-22T11:47:25+02:00", true),
        ("2026-11-22T09:47:25Z", true),
        ("2026-11-22T09:47:25.123456789Z", false),
    ] {
        let text =
            format!("metric_name,timestamp,metric_value,name,status\n{}", k6(stamp, "5.5", 0, ",a,200"));
        let (_folder, file) = written("k6.csv", text.as_bytes());
        let notes: String = read(&file).done.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.contains("whole seconds"), is_told, "{stamp}: {notes}");
    }
}

#[test]
fn k6_json_without_tags_and_with_odd_names() {
    let point = |metric: &str, value: &str, tags: &str| {
        format!(
            "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"2026-11-22T11:47:25.000034431Z\",\"value\":{value},\"tags\":{tags}}}}}\n"
        )
    };
    let request = |duration: &str, tags: &str| {
        point("http_reqs", "1", tags)
            + &point("http_req_duration", duration, tags)
            + &point("http_req_failed", "0", tags)
    };
    let first = "{\"type\":\"Metric\",\"data\":{\"name\":\"http_reqs\",\"type\":\"counter\"},\"metric\":\"http_reqs\"}\n";
    check(&[
        ("k6.json", format!("{first}{}", request("5.6", "null")), (1, 0), 0, &[""]),
        (
            "k6.json",
            format!("{first}{}", request("5.6", "{\"name\":\"tab\\there \\\"q\\\" \\u00fc\"}")),
            (1, 0),
            0,
            &["tab\there \"q\" ü"],
        ),
        (
            "k6.json",
            format!(
                "{first}{}{}not json\n",
                request("5.6", "{\"name\":\"a\"}"),
                request("1e300", "{\"name\":\"b\"}")
            ),
            (1, 0),
            2,
            &["a"],
        ),
    ]);
}

#[test]
fn vegeta_of_earlier_versions_and_with_errors_in_quotes() {
    let line = |start: &str, code: u16, latency: &str, error: &str, rest: &str| {
        format!("{start},{code},{latency},0,12,{error},aGVs,{rest}\n")
    };
    let now = "1795348034787926537";
    let whole = |code, error: &str, seq: u8| {
        line(now, code, "6604590", error, &format!("a,{seq},GET,http://h/x?y,Q29u"))
    };
    check(&[
        (
            "v.csv",
            whole(0, "\"Get \"\"http://h/\"\": dial, tcp: \"\"q\"\"\"", 0) + &whole(200, "", 1),
            (1, 1),
            0,
            &["GET /x"],
        ),
        // Before the method, the URL and the headers were written.
        (
            "v.csv",
            line(now, 200, "6604590", "", "big bang,0") + &line(now, 500, "6604590", "500", "big bang,1"),
            (1, 1),
            0,
            &["big bang"],
        ),
        // A line that was cut is none of an earlier version.
        ("v.csv", whole(200, "", 0) + &line(now, 200, "6604590", "", "a,1,GET"), (1, 0), 1, &["GET /x"]),
        // Beyond the types, and far from the other records.
        (
            "v.csv",
            whole(200, "", 0)
                + &line(now, 200, "99999999999999999999", "", "a,1,GET,http://h/x,")
                + &line("9223372036854775807", 200, "9223372036854775807", "", "a,2,GET,http://h/x,")
                + &line("-1", 200, "5", "", "a,3,GET,http://h/x,"),
            (1, 0),
            3,
            &["GET /x"],
        ),
        (
            "v.csv",
            whole(200, "", 0) + &line(now, 200, "6604590", "", "a\tb,1,GET,http://h/a\tb,"),
            (2, 0),
            0,
            &["GET /a\tb", "GET /x"],
        ),
    ]);
}

#[test]
fn h2load_with_numbers_beyond_their_types() {
    let good = "1795347889514196\t200\t8154\n";
    let bad = [
        "1795347889514196\t200\t99999999999999999999",
        "9223372036854775807\t200\t9223372036854775807",
        "1795347889514\t200\t7",
    ];
    check(&[
        ("h2.log", format!("1795347889514196\t-1\t8154\n{good}{}\n", bad.join("\n")), (1, 1), 3, &[""]),
        // A log that goes on as that of another tool.
        (
            "h2.log",
            format!("{good}1795348034787926537,200,6604590,0,12,,,a,0,GET,http://h/,\ntimeStamp,elapsed\n"),
            (1, 0),
            2,
            &[""],
        ),
    ]);
    let (_folder, file) = written("h2.log", b"12345\t200\t8154\n");
    assert_eq!(read_with(&file, IngestOptions::default()).unwrap_err().kind(), ErrorKind::Unrecognised);
}

#[test]
fn gatling_of_each_version() {
    let begin = "RUN\tSim\tsim\t1795348622935\t \t";
    let times = "1795348623005\t1795348623020";
    for (version, user, lead) in [
        ("2.3.1", "scn\t1\t", "scn\t1\t"),
        ("3.0.2", "scn\t1\t", "1\t"),
        ("3.3.1", "scn\t1\t", "1\t"),
        ("3.4.0", "scn\t", ""),
        ("3.12.0", "scn\t", ""),
    ] {
        let text = format!(
            "{begin}{version}\nUSER\t{user}START\t1795348623000\nREQUEST\t{lead}shop\thello\t{times}\tOK\t \n\
             REQUEST\t{lead}\tjson\t{times}\tKO\tstatus.find.is(200)\nGROUP\t{lead}shop\t{times}\t15\tOK\n\
             USER\t{user}END\t1795348623100\n"
        );
        let (_folder, file) = written("simulation.log", text.as_bytes());
        let log = read(&file);
        assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 1), 0), "{version}");
        assert_eq!(log.labels(), [("json".to_owned(), 1), ("shop / hello".to_owned(), 1)], "{version}");
        let group = log.samples.iter().find(|sample| sample.transaction).unwrap();
        assert_eq!((group.label.as_str(), group.elapsed, group.threads), ("shop", 15, Some(1)), "{version}");
    }
}

#[test]
fn jmeter_xml_with_numbers_beyond_their_types() {
    let sample = |attributes: &str| format!("<httpSample {attributes} s=\"true\"/>\n");
    let good = sample("t=\"12\" ts=\"1795348785951\" lb=\"a&#9;b\"");
    let bad: String =
        ["t=\"99999999999\" ts=\"1795348785951\"", "ts=\"1795348785951\"", "t=\"5\""].map(sample).concat();
    check(&[(
        "x.jtl",
        format!(
            "<?xml version=\"1.0\"?>\n<testResults version=\"1.3\">\n{good}<other t=\"1\"/>\n{bad}</testResults>\n"
        ),
        (1, 0),
        4,
        &["a\tb"],
    )]);
}
