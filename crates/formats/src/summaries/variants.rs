//! Outputs that no fixture has: other versions, other failures, and numbers at the borders of units and types. All are
//! written here by the descriptions of the formats.

use super::walk::FoundSection;

/// The sections of a text, which has no other lines.
fn sections(text: &str) -> Vec<FoundSection> {
    let found = super::sections(text.as_bytes());
    assert_eq!(found.ignored, 0, "{:?}", found.first_ignored);
    found.sections
}

/// The only section of a text.
fn only(text: &str) -> FoundSection {
    let mut all = sections(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Requests, successes, failures and time-outs as one text; or the reason why there are no figures.
fn counts_of(section: &FoundSection) -> String {
    let figures = &section.figures;
    let count = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
    let failures = figures.failures.map_or("-".to_owned(), |failures| failures.to_string());
    figures.aborted.clone().unwrap_or_else(|| {
        let [requests, successes, timeouts] =
            [figures.requests, figures.successes, figures.timeouts].map(count);
        format!("{requests} {successes} {failures} {timeouts}")
    })
}

/// What ab prints, with these lines about requests.
fn ab(requests: &str) -> String {
    format!(
        "This is ApacheBench, Version 2.3 <$Revision: 1903618 $>\nBenchmarking h (be patient)\nServer Hostname:        h\n\
         Server Port:            80\nDocument Path:          /\nConcurrency Level:      16\n\
         Time taken for tests:   1.000 seconds\n{requests}Total transferred:      640912 bytes\n\
         Requests per second:    2000.00 [#/sec] (mean)\n\
         Connection Times (ms)\n              min  mean[+/-sd] median   max\nTotal:          0    7  24.2      3     144\n\
         WARNING: The median and mean for the waiting time are not within a normal deviation\n\
         Percentage of the requests served within a certain time (ms)\n  50%      3\n 100%    144 (longest request)\n"
    )
}

#[test]
fn ab_of_other_versions_and_failures() {
    let three = "   (Connect: 0, Receive: 10, Length: 10, Exceptions: 10)\n";
    let table = [
        (
            "Complete requests:      2000\nFailed requests:        0\nWrite errors:           7\n".to_owned(),
            "2000 2000 7 -",
        ),
        (
            format!(
                "Complete requests:      2000\nFailed requests:        30\n{three}Write errors:           7\nNon-2xx responses:      5\n"
            ),
            "2000 1985 22 -",
        ),
        // The next version prints more lines.
        (
            "Number of workers:      4\nConcurrency achieved:   16\nRampup delay:           0 [ms]\n\
             Number of requests:     2000 (window)\nComplete requests:      1990\nFailed requests:        0\n\
             Keep-Alive requests:    1990\nKeep-Alive aborts:      3\n"
                .to_owned(),
            "1990 1990 0 -",
        ),
        ("Complete requests:      0\nFailed requests:        0\n".to_owned(), "0 0 0 -"),
        (
            "Complete requests:      99999999999999999999\nFailed requests:        0\n".to_owned(),
            "\"Complete requests: 99999999999999999999\" is not a count",
        ),
        (
            "Complete requests:      2000\nFailed requests:        30\n   (Connect: 0, Receive: 10)\n"
                .to_owned(),
            "the failures \"(Connect: 0, Receive: 10)\" have no count of Length:",
        ),
    ];
    for (requests, expected) in table {
        let found = super::sections(ab(&requests).as_bytes());
        assert_eq!((found.sections.len(), found.sections[0].concurrency), (1, Some(16)));
        assert_eq!(counts_of(&found.sections[0]), expected, "{requests}");
    }
}

#[test]
fn html_of_ab_is_refused_with_the_remedy() {
    let text = "<p>\n This is ApacheBench, Version 2.3 <i>&lt;$Revision: 1903618 $&gt;</i><br>\n</p>\n<table >\n\
                <tr ><th colspan=2 bgcolor=white>Concurrency Level:</th></tr></table>\n";
    let found = super::sections(text.as_bytes());
    assert_eq!(found.sections.len(), 1);
    assert!(counts_of(&found.sections[0]).contains("run ab without -w"), "{found:?}");
}

/// What wrk prints: mean, deviation and greatest latency; lines between; requests, time and bytes; rate.
fn wrk([latency, between, counts, rate, bytes]: [&str; 5]) -> String {
    format!(
        "Running 10s test @ http://h:80/x\n  2 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
         \x20   Latency   {latency}\n    Req/Sec     1.39k   308.80     2.43k    74.87%\n{between}  {counts} read\n\
         Requests/sec: {rate}\nTransfer/sec: {bytes}\n"
    )
}

#[test]
fn wrk_at_the_borders_of_its_units() {
    let spread = "  Latency Distribution\n     50%  849.00us\n     75%    0.85ms\n     90%   51.00s \n     99%    0.85m\n";
    let section = only(&wrk([
        "1.20m     1.00s     1.66m    86.39%",
        spread,
        "27811 requests in 2.00m, 0.91GB",
        "231.76",
        "0.87MB",
    ]));
    let (figures, latencies) = (&section.figures, &section.figures.latencies);
    assert_eq!(
        (counts_of(&section).as_str(), latencies.mean_ms, latencies.max_ms),
        ("27811 27811 0 0", Some(72e3), Some(99.6e3))
    );
    let percentiles = [50.0, 75.0, 90.0, 99.0].map(|percent| latencies.percentile(percent).unwrap());
    assert_eq!(percentiles, [0.849, 0.85, 51e3, 51e3]);
    assert!((figures.duration.unwrap() - 120.0).abs() < 0.01, "{figures:?}");
    for (printed, bytes) in [
        ("102.40B", 102.4),
        ("0.85KB", 870.4),
        ("346.39KB", 354_703.36),
        ("1.09GB", 1.09 * 1_073_741_824.0),
        ("0.90TB", 0.9 * 1_099_511_627_776.0),
    ] {
        let text = wrk(["1.00ms 1.00ms 2.00ms 86.39%", "", "10 requests in 1.00s, 1.00KB", "10.00", printed]);
        assert_eq!(only(&text).figures.bytes_per_second, Some(bytes), "{printed}");
    }
}

#[test]
fn wrk_without_latencies_or_answers() {
    let errors = "  Socket errors: connect 0, read 0, write 0, timeout 64\n";
    for (mean, between, counts, rate, expected, has_latency) in [
        (
            "434.02ms  971.73ms   4.03s    86.39%",
            "",
            "27811 requests in 10.11s, 3.42MB",
            "2749.68",
            "27811 27811 0 0",
            true,
        ),
        ("0.00us    0.00us   0.00us    -nan%", "", "0 requests in 10.00s, 0.00B", "0.00", "0 0 0 0", false),
        (
            "-nan     -nan   0.00us    0.00%",
            errors,
            "0 requests in 10.00s, 0.00B",
            "0.00",
            "0 0 64 64",
            false,
        ),
    ] {
        let section = only(&wrk([mean, between, counts, rate, "0.00B"]));
        assert_eq!((counts_of(&section).as_str(), section.concurrency), (expected, Some(64)));
        assert_eq!(section.figures.latencies.source.is_some(), has_latency, "{mean}");
    }
    for (counts, rate, reason) in [
        ("-5 requests in 10.00s, 0.00B", "5.00", "\"-5 requests\" is not a count"),
        (
            "99999999999999999999 requests in 10.00s, 0.00B",
            "5.00",
            "\"99999999999999999999 requests\" is not a count",
        ),
        ("5 requests in 10.00s, 0.00B", "inf", "\"Requests/sec: inf\" is not a number"),
    ] {
        let found =
            super::sections(wrk(["1.00ms 1.00ms 2.00ms 86.39%", "", counts, rate, "0.00B"]).as_bytes());
        assert_eq!(counts_of(&found.sections[0]), reason);
    }
}

#[test]
fn wrk2_that_recorded_nothing_has_no_latencies() {
    let text = "Running 5s test @ http://h/x\n  2 threads and 16 connections\n\
        \x20 Thread calibration: mean lat.: 9223372036854775807.000ms, rate sampling interval: 9223372036854776000ms\n\
        \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    -nanus    -nanus   0.00us    0.00%\n\
        \x20   Req/Sec     -nan     -nan     0.00     0.00%\n  Latency Distribution (HdrHistogram - Recorded Latency)\n\
        \x2050.000%    0.00us\n100.000%    0.00us\n\n  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n\
        \x20      0.000     1.000000            0          inf\n#[Mean    =         -nan, StdDeviation   =         -nan]\n\
        #[Max     =        0.000, Total count    =            0]\n#[Buckets =           27, SubBuckets     =         2048]\n\
        ----------------------------------------------------------\n  100 requests in 5.00s, 1.00KB read\nRequests/sec:     20.00\nTransfer/sec:     102.40B\n";
    let section = only(text);
    assert_eq!((section.tool, counts_of(&section).as_str()), ("wrk2", "100 100 0 0"));
    assert_eq!(
        section.figures.latencies,
        perfpipe_model::points::Latencies::default(),
        "0.00us is no latency of a request"
    );
}

/// What weighttp 0.3 prints.
fn weighttp(finished: &str, requests: &str, codes: &str) -> String {
    format!(
        "weighttp 0.3 - a lightweight and simple webserver benchmarking tool\n\nstarting benchmark...\n\
         spawning thread #1: 64 concurrent requests, 2500 total requests\n\
         spawning thread #2: 64 concurrent requests, 2500 total requests\nprogress: 100% done\n\n\
         finished in {finished}, 3400 req/s, 46081 kbyte/s\nrequests: {requests}\nstatus codes: {codes}\n\
         traffic: 1485000 bytes total, 1105000 bytes http, 380000 bytes data\n"
    )
}

#[test]
fn weighttp_with_failures() {
    let requests = "5000 total, 5000 started, 5000 done, 4000 succeeded, 1000 failed, 300 errored";
    let text = weighttp(
        "1 min, 2 sec, 470 millisec and 472 microsec",
        requests,
        "4000 2xx, 0 3xx, 200 4xx, 500 5xx",
    );
    let section = only(&text);
    assert_eq!((counts_of(&section).as_str(), section.concurrency), ("5000 4000 1000 -", Some(128)));
    assert_eq!(section.figures.duration, Some(62.470_472));
    assert_eq!(section.figures.kinds, [("errored".to_owned(), 300), ("status".to_owned(), 700)]);
    let wrong =
        weighttp("1 sec, 0 millisec and 1 microsec", "5000 total, x succeeded, 1 failed, 1 errored", "");
    assert!(counts_of(&only(&wrong)).contains("have no count of succeeded"), "{:?}", only(&wrong));
}

#[test]
fn h2load_over_http2_with_failed_streams() {
    let text = |finished: &str| {
        format!(
            "starting benchmark...\nspawning thread #0: 8 total client(s). 1500 total requests\n\
             spawning thread #1: 8 total client(s). 1500 total requests\nTLS Protocol: TLSv1.3\nCipher: TLS_AES_256_GCM_SHA384\n\
             Server Temp Key: X25519 253 bits\nApplication protocol: h2\nprogress: 100% done\n\nfinished in {finished}\n\
             requests: 3000 total, 3000 started, 3000 done, 2890 succeeded, 110 failed, 10 errored, 4 timeout\n\
             status codes: 2890 2xx, 0 3xx, 60 4xx, 40 5xx\n\
             traffic: 108.00KB (110592) total, 12.00KB (12288) headers (space savings 95.00%), 36.00KB (36864) data\n\
             \x20                    min         max         mean         sd        +/- sd\n\
             time for request:      341us     15.05ms      1.02s      1.79ms    71.24%\ntime for connect:      104us       412us       238us        74us    62.50%\n\
             time to 1st byte:     3.93ms     12.24ms      6.01ms      2.63ms    87.50%\nreq/s           :     160.59     1211.30      704.23      233.03    68.75%\n"
        )
    };
    // 2,990 answers, by the printed rate: the time has fewer digits.
    for (finished, seconds) in
        [("1.81s, 1661.11 req/s, 264.41KB/s", 1.8), ("850us, 3517647.06 req/s, 126.00GB/s", 850e-6)]
    {
        let section = only(&text(finished));
        assert_eq!((counts_of(&section).as_str(), section.concurrency), ("3000 2890 110 4", Some(16)));
        assert_eq!(section.figures.latencies.mean_ms, Some(1020.0));
        assert!((section.figures.duration.unwrap() / seconds - 1.0).abs() < 1e-6);
        assert_eq!(section.figures.kinds.last(), Some(&("error".to_owned(), 6)));
    }
    let found = super::sections(text("soon, 3 req/s").as_bytes());
    assert!(counts_of(&found.sections[0]).contains("\"finished in TIME\""), "{found:?}");
}

/// What hey and oha print, with these counts of answers and errors.
fn hey_and_oha(answers: &str) -> [String; 2] {
    let hey = format!(
        "Summary:\n  Total:\t1.8060 secs\n  Slowest:\t0.0377 secs\n  Fastest:\t0.0037 secs\n  Average:\t0.0103 secs\n  \
         Requests/sec:\t1656.6695\n\nLatency distribution:\n  10% in 0.0081 secs\n  50% in 0.0093 secs\n  0% in 0.0000 secs\n\n{answers}"
    );
    let oha = format!(
        "Summary:\n  Success rate:\t98.00%\n  Total:\t2.0014 sec\n  Slowest:\t0.0812 sec\n  Fastest:\t0.0031 sec\n  \
         Average:\t0.0123 sec\n  Requests/sec:\t5021.4312\n\nResponse time distribution:\n  50.00% in 9.3000 ms\n  99.99% in 1.0012 sec\n\n{answers}"
    );
    [hey, oha]
}

#[test]
fn hey_and_oha_with_errors_of_many_kinds() {
    let answers = "Status code distribution:\n  [200] 9900 responses\n  [503] 50 responses\n\nError distribution:\n  \
                   [3] connection error: Connection reset by peer (os error 104)\n  [2] timeout\n  [1] no such responses\n";
    for text in hey_and_oha(answers) {
        let section = only(&text);
        assert_eq!(counts_of(&section), "9956 9900 56 2");
        let latencies = &section.figures.latencies;
        assert_eq!(latencies.percentile(50.0), Some(9.3), "to the digits printed");
        assert!(latencies.percentiles.iter().all(|counts_of| counts_of.percent > 0.0), "{latencies:?}");
    }
    for answers in ["  [200] 99999999999999999999 responses\n", "  [x] timeout\n"] {
        for text in hey_and_oha(answers) {
            let found = super::sections(text.as_bytes());
            assert!(counts_of(&found.sections[0]).contains("has no count"), "{found:?}");
        }
    }
    // Of a run by time, those under way at the end are no failures.
    let [_, text] = hey_and_oha("  [200] 9900 responses\n  [100] aborted due to deadline\n");
    let section = only(&text);
    assert_eq!(counts_of(&section), "9900 9900 0 0");
    assert!(
        section.figures.notes[0].starts_with("100 requests were on their way"),
        "{:?}",
        section.figures.notes
    );
    // A server that refuses every connection.
    let [text, _] = hey_and_oha("  [200]\tGet \"http://127.0.0.1:1/\": connection refused\n");
    let refused = text.replace("Average:\t0.0103 secs", "Average:\t NaN secs");
    assert_eq!(counts_of(&only(&refused)), "200 0 200 0");
}

/// A count in JSON that is none is reported, not left out.
#[test]
fn counts_in_json_that_are_none_are_told() {
    let read = |name: &str| std::fs::read_to_string(super::fixtures::path(name)).unwrap();
    for (name, from, to, place) in [
        ("oha/failures-json.out", "\"500\": 192", "\"500\": 1.5", "/statusCodeDistribution/500"),
        ("vegeta/report.json", "\"500\":108", "\"500\":99999999999999999999", "/status_codes/500"),
        ("artillery/report.json", "\"http.codes.500\": 52", "\"http.codes.500\": -52", "http.codes.500"),
        ("autocannon/failures.out", "\"5xx\":906", "\"5xx\":-1", "/5xx"),
        ("bombardier/failures.out", "\"req5xx\":795", "\"req5xx\":\"795\"", "/result/req5xx"),
    ] {
        let text = read(name);
        assert!(text.contains(from), "{name}");
        let found = super::sections(text.replacen(from, to, 1).as_bytes());
        let reason = found.sections.iter().find_map(|section| section.figures.aborted.clone()).unwrap();
        assert!(reason.contains(place), "{name}: {reason}");
    }
}

/// Sections of several tools in turn, with prose between, keep their order and lines.
#[test]
fn sections_of_several_tools_stand_in_turn() {
    let one = wrk(["1.00ms 1.00ms 2.00ms 86.39%", "", "10 requests in 1.00s, 1.00KB", "10.00", "1.00KB"]);
    let two = ab("Complete requests:      2000\nFailed requests:        0\n");
    let three = weighttp(
        "1 sec, 0 millisec and 1 microsec",
        "5 total, 5 started, 5 done, 5 succeeded, 0 failed, 0 errored",
        "5 2xx",
    );
    let [hey, oha] = hey_and_oha("  [200] 9900 responses\n");
    let cut = &one[..one.find("Requests/sec").unwrap()];
    let text = [&one, &two, &three, "now hey\n", &hey, &oha, cut, &two].concat();
    let found = super::sections(text.as_bytes());
    let tools: Vec<&str> = found.sections.iter().map(|section| section.tool).collect();
    assert_eq!(tools, ["wrk", "ab", "weighttp", "hey", "oha", "wrk", "ab"]);
    let aborted: Vec<bool> = found.sections.iter().map(|section| section.figures.aborted.is_some()).collect();
    assert_eq!(aborted, [false, false, false, false, false, true, false]);
    assert_eq!(found.first_ignored.as_ref().map(|(_, text)| text.as_str()), Some("now hey"));
}
