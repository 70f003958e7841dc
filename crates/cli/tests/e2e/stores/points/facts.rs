//! What a reader of each tool's summary must get right, held against the counts of the server that answered.

use super::output;
use crate::support::*;

/// An output and its section, from 0; requests, successes, failures and time-outs, empty where the tool counts none; what the
/// notes have to say.
type Fact = (&'static str, usize, [&'static str; 4], &'static str);

const FACTS: [Fact; 18] = [
    // Its 200 answers of another length are the 200 of status 500.
    ("ab/http500.txt", 0, ["2000", "1800", "200", ""], "latencies include those of failures"),
    // It prints 16,567 requests/s.
    ("ab/jempower/64.8101", 0, ["4000", "195", "3805", ""], "latencies include those of failures"),
    ("wrk/timeouts-2s.txt", 0, ["28563", "28521", "42", "42"], "without any answer are not counted"),
    // Its resets are not among the requests.
    ("wrk/drop.txt", 0, ["5706", "5706", "116", "0"], ""),
    ("wrk/ladder.log", 6, ["2591", "893", "1698", "1698"], "1698 time-outs are not in the latencies"),
    ("wrk/dump.txt", 0, ["5000", "5000", "0", "0"], "41 of 5041 latencies were invented"),
    ("hey/failures-summary.out", 0, ["2000", "1800", "200", "6"], "sends again what was reset"),
    // oha's success rate of 0.9845 counts its 192 answers of status 500.
    ("oha/failures-json.out", 0, ["2000", "1777", "223", "6"], ""),
    ("h2load/failures.out", 0, ["913", "812", "101", "3"], "1087 of 2000 requests were never sent"),
    ("vegeta/report.json", 0, ["1200", "1079", "121", ""], "are estimated, and include failures"),
    ("k6/handleSummary.json", 0, ["200", "180", "20", ""], ""),
    ("k6/summary-export.json", 0, ["200", "180", "20", ""], ""),
    ("locust/run.json", 0, ["1501", "1335", "166", ""], "two digits"),
    ("locust/run_stats.csv", 0, ["1467", "1304", "163", ""], "left out the end of the run"),
    // 906 answers of status 500 and 149 errors, 26 of them time-outs. Its count of resets is 0, though there were 123.
    ("autocannon/failures.out", 0, ["9501", "8430", "1055", "26"], "26 time-outs are not in the latencies"),
    // The server saw 8320.
    ("bombardier/failures.out", 0, ["8185", "7390", "795", ""], "sends again what was reset or timed out"),
    // The server saw 4058: 40 resets and 20 late answers, of which Fortio reports 2.
    ("fortio/failures.json", 0, ["4000", "3755", "245", ""], "sends again what was reset or late"),
    ("artillery/report.json", 0, ["578", "514", "64", "5"], ""),
];

#[test]
fn summaries_have_the_counts_of_the_server() {
    let store = Store::embedded();
    for (file, section, counts, note) in FACTS {
        let keyed = ["--framework", file, "--test", "t", "--concurrency", "16"];
        store.run(&[&["ingest", &output(file)], &keyed[..]].concat()).said();
        let points = store.run(&["export", "--test", "t", "--framework", file, "--what", "points"]).text();
        let point = &rows(&points)[section];
        let told = ["requests", "successes", "failures", "timeouts"].map(|name| point[name].as_str());
        assert_eq!(told, counts, "{file}");
        assert_told(&point["notes"], &[note]);
    }
}

/// By second since 1795348056: the requests of all names, and those that failed, as Locust's own JSON adds them up.
const LOCUST: [(u64, u64); 13] = [
    (24, 2),
    (58, 7),
    (81, 8),
    (99, 11),
    (125, 14),
    (155, 17),
    (158, 18),
    (175, 19),
    (135, 15),
    (159, 19),
    (127, 13),
    (149, 16),
    (56, 7),
];

#[test]
fn seconds_of_locust_are_those_of_its_json_in_both_stores() {
    for store in Store::each() {
        store.run(&["ingest", &output("locust/run.json"), "--framework", "go", "--test", "shop"]).said();
        let export = |test: &str| store.run(&["export", "--test", test, "--what", "point-seconds"]);
        let seconds = rows(&export("shop").text());
        assert_eq!(seconds.len(), LOCUST.len());
        for ((row, (requests, failures)), clock) in seconds.iter().zip(LOCUST).zip(1_795_348_056_u64..) {
            let told = ["tool", "framework", "clock", "requests", "successes", "failures"]
                .map(|name| row[name].as_str());
            let counts = [clock, requests, requests - failures, failures].map(|count| count.to_string());
            assert_eq!(told, ["locust", "go", &counts[0], &counts[1], &counts[2], &counts[3]]);
        }
        store
            .run(&["ingest", &output("locust/run_stats.csv"), "--framework", "go", "--test", "other"])
            .said();
        let none = export("other");
        assert!(none.err.contains("no point of other has counts per second"), "{}", none.err);
        assert_eq!(none.text().lines().count(), 1);
        let run = store.run(&["export", "go_shop", "--what", "point-seconds"]).complaint(2);
        assert!(run.contains("Give --test"), "{run}");
        store.run(&["verify"]).text();
    }
}
