//! Sweeps that were reckoned by other programs come out of the command, to the digits that these gave.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::output;
use crate::support::*;

type Row = HashMap<String, String>;

/// The levels of files, of which the sweep needs no store.
fn swept(store: &Store, files: &[String], flags: &[&str]) -> Vec<Row> {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    rows(&store.run(&[&["sweep", "--format", "csv"], &files[..], flags].concat()).text())
}

/// The points of files, stored and exported.
fn exported(store: &Store, files: &str, flags: &[&str], test: &str) -> Vec<Row> {
    store.run(&[&["ingest", files], flags].concat()).said();
    rows(&super::points(store, test))
}

/// That a figure is what was printed, to its last digit.
#[track_caller]
fn assert_figure(row: &Row, name: &str, printed: &str) {
    let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    let expected: f64 = printed.parse().unwrap();
    let found: f64 = row[name].parse().unwrap_or(f64::NAN);
    assert!(
        (found - expected).abs() <= 0.501 * 0.1f64.powi(digits as i32),
        "{name} is not {printed}: {row:?}"
    );
}

fn by<'a>(rows: &'a [Row], parts: &[(&str, &str)]) -> &'a Row {
    let is = |row: &&Row| parts.iter().all(|(name, value)| row[*name] == *value);
    rows.iter().find(is).unwrap_or_else(|| panic!("no row of {parts:?}"))
}

/// By concurrency: of alpha the requests/s of three repeats and the median; of beta these, the most failures, and the
/// median of the successes/s.
const AB: [(&str, [&str; 4], [&str; 6]); 8] = [
    ("1", ["199.25", "192.64", "172.89", "192.64"], ["230.94", "196.46", "241.08", "230.94", "0", "230.9"]),
    ("2", ["370.78", "244.57", "329.32", "329.32"], ["288.63", "485.36", "413.65", "413.65", "0", "413.7"]),
    ("4", ["569.31", "713.80", "793.69", "713.80"], ["976.88", "755.39", "828.56", "828.56", "0", "828.6"]),
    (
        "8",
        ["1517.24", "1523.07", "1530.00", "1523.07"],
        ["937.88", "892.36", "908.72", "908.72", "0", "908.8"],
    ),
    (
        "16",
        ["1351.03", "1613.56", "1507.40", "1507.40"],
        ["1020.94", "953.67", "943.47", "953.67", "0", "953.7"],
    ),
    (
        "32",
        ["1646.87", "1718.40", "1686.10", "1686.10"],
        ["992.10", "1048.18", "980.37", "992.10", "0", "992.1"],
    ),
    (
        "64",
        ["1629.83", "1633.64", "1565.91", "1629.83"],
        ["16567.06", "18545.74", "11314.07", "16567.06", "3805", "809.1"],
    ),
    (
        "128",
        ["1630.82", "1610.34", "1415.74", "1610.34"],
        ["7272.16", "17995.65", "10242.02", "10242.02", "3829", "770.3"],
    ),
];

#[test]
fn sweep_of_ab_has_repeats_medians_and_failures() {
    let store = Store::embedded();
    let ports = store.file("ports.toml", "8100 = \"alpha\"\n8101 = \"beta\"\n");
    let points = exported(&store, &output("ab/jempower"), &["--frameworks", &ports], "/hello");
    let levels = rows(&store.run(&["sweep", "--test", "/hello", "--format", "csv"]).text());
    for (concurrency, alpha, beta) in AB {
        for (framework, repeats, median) in [("alpha", &alpha[..3], alpha[3]), ("beta", &beta[..3], beta[3])]
        {
            for (repeat, printed) in ["1", "2", "3"].into_iter().zip(repeats) {
                let keys = [("framework", framework), ("concurrency", concurrency), ("repeat", repeat)];
                assert_figure(by(&points, &keys), "answers_per_second", printed);
            }
            let level = by(&levels, &[("framework", framework), ("concurrency", concurrency)]);
            assert_figure(level, "answers_per_second", median);
        }
        let level = by(&levels, &[("framework", "beta"), ("concurrency", concurrency)]);
        assert_eq!(level["failures_max"], beta[4]);
        assert_figure(level, "throughput", beta[5]);
        assert_eq!(by(&levels, &[("framework", "alpha"), ("concurrency", concurrency)])["failures_max"], "0");
    }
    let shed = by(&points, &[("framework", "beta"), ("concurrency", "64"), ("repeat", "1")]);
    assert_eq!(
        ["requests", "successes", "failures"].map(|name| shed[name].as_str()),
        ["4000", "195", "3805"]
    );
    // ab tells the time to a ms, by which these are 807.5 to 810.8 a second.
    assert!((807.5..810.8).contains(&shed["throughput"].parse::<f64>().unwrap()), "{shed:?}");
}

#[test]
fn sweep_of_wrk_has_medians_percentiles_and_knees() {
    let store = Store::embedded();
    let named = ["--name", "{framework}_c{concurrency}_r{repeat}.txt"];
    let levels = swept(&store, &[output("wrk/sweep")], &named);
    let alpha = ["188.22", "393.41", "755.56", "1580.88", "1710.23", "1648.40", "1631.96", "1711.88"];
    let beta = ["242.93", "505.70", "1062.17", "1069.06", "1036.24", "1009.08", "16471.20", "15326.78"];
    for (power, (alpha, beta)) in alpha.into_iter().zip(beta).enumerate() {
        let concurrency = (1 << power).to_string();
        for (framework, printed) in [("alpha", alpha), ("beta", beta)] {
            let level = by(&levels, &[("framework", framework), ("concurrency", &concurrency)]);
            assert_figure(level, "answers_per_second", printed);
            let knee = if framework == "alpha" { "8" } else { "4" };
            assert_eq!(level["knee"], (concurrency == knee).to_string(), "{level:?}");
        }
    }
    for (concurrency, percentiles) in [
        ("1", ["5.16", "6.43", "16.26"]),
        ("8", ["4.90", "6.42", "13.71"]),
        ("32", ["18.61", "21.80", "35.44"]),
        ("128", ["73.07", "77.58", "96.91"]),
    ] {
        let level = by(&levels, &[("framework", "alpha"), ("concurrency", concurrency)]);
        for (name, printed) in ["p50_ms", "p90_ms", "p99_ms"].into_iter().zip(percentiles) {
            assert_figure(level, name, printed);
        }
    }
    for (concurrency, successes) in [("64", "534.6"), ("128", "504.4")] {
        assert_figure(
            by(&levels, &[("framework", "beta"), ("concurrency", concurrency)]),
            "throughput",
            successes,
        );
    }
}

#[test]
fn workers_have_medians_and_speed_up() {
    let store = Store::embedded();
    let named =
        ["--name", "result_w{workers}_{repeat}.log", "--framework", "tiny", "--tool", "wrk", "--test"];
    for (test, table) in [
        ("/json", [("1", "201.95", "1.000"), ("2", "414.93", "2.055"), ("4", "842.73", "4.173")]),
        ("/hello", [("1", "201.01", "1.000"), ("2", "415.04", "2.065"), ("4", "832.50", "4.142")]),
    ] {
        let levels = swept(&store, &[output("wrk/workers")], &[&named[..], &[test]].concat());
        for (workers, median, speed_up) in table {
            let level = by(&levels, &[("workers", workers)]);
            assert_figure(level, "answers_per_second", median);
            assert_figure(level, "speed_up", speed_up);
            // All requests succeeded, so the rate is the printed one, to the last digit.
            assert_eq!(
                [&level["throughput"], &level["answers_per_second"]],
                [&median.parse::<f64>().unwrap().to_string(); 2]
            );
        }
    }
}

/// By concurrency: answers, time-outs, answers/s, printed mean and c/X in ms, successes in %.
const LADDER: [(&str, [&str; 6]); 9] = [
    ("50", ["2561", "0", "420.76", "117.23", "118.8", "100"]),
    ("100", ["2510", "0", "414.63", "236.46", "241.2", "100"]),
    ("200", ["2261", "0", "373.09", "514.83", "536.1", "100"]),
    ("400", ["2526", "0", "414.75", "886.17", "964.4", "100"]),
    ("600", ["2497", "0", "409.90", "1230", "1463.8", "100"]),
    ("800", ["2470", "809", "405.37", "1440", "1973.5", "67.2"]),
    ("1000", ["2591", "1698", "425.41", "995.64", "2350.7", "34.5"]),
    ("1200", ["2586", "1755", "426.23", "1040", "2815.4", "32.1"]),
    ("1400", ["2244", "1490", "369.25", "1130", "3791.5", "33.6"]),
];

#[test]
fn ladder_has_time_outs_and_the_bound_of_the_mean() {
    let store = Store::embedded();
    let points = exported(&store, &output("wrk/ladder.log"), &["--framework", "vapor"], "/fib");
    assert_eq!(points.len(), LADDER.len());
    for (concurrency, printed) in LADDER {
        let point = by(&points, &[("concurrency", concurrency)]);
        let names = ["requests", "timeouts", "answers_per_second", "mean_ms", "little_ms"];
        names.into_iter().zip(printed).for_each(|(name, printed)| assert_figure(point, name, printed));
        let count = |name: &str| point[name].parse::<f64>().unwrap();
        let share =
            Row::from([("share".to_owned(), (count("successes") / count("requests") * 100.0).to_string())]);
        assert_figure(&share, "share", printed[5]);
    }
}

/// By workers, of a published benchmark on a machine of 48 cores: requests/s of 16 bytes, speed-up, efficiency in %, c/X in
/// µs, the printed mean with its unit; requests/s of 256, 4096 and 65536 bytes.
const LARGE: [(&str, [&str; 5], [&str; 3]); 7] = [
    ("1", ["20506.92", "1.000", "100.0", "6241.8", "6.65ms"], ["21410.14", "19821.39", "7017.55"]),
    ("2", ["41575.49", "2.027", "101.4", "3078.7", "3.31ms"], ["40407.77", "34484.95", "12141.71"]),
    ("4", ["86174.28", "4.202", "105.1", "1485.4", "1.68ms"], ["83887.62", "70121.91", "23470.26"]),
    ("8", ["149272.90", "7.279", "91.0", "857.5", "1.00ms"], ["147993.65", "129993.66", "47404.04"]),
    ("16", ["301800.37", "14.717", "92.0", "424.1", "543.00us"], ["292734.47", "261339.52", "93221.94"]),
    ("32", ["516108.96", "25.168", "78.6", "248.0", "363.50us"], ["497908.47", "464059.35", "174585.67"]),
    ("40", ["627990.75", "30.623", "76.6", "203.8", "358.14us"], ["594120.37", "569673.63", "205196.90"]),
];

/// By test, of the same on a machine of 4 cores: medians by 1, 2, 4 and 8 workers, and speed-ups.
const SMALL: [(&str, [&str; 4], [&str; 3]); 6] = [
    ("/json", ["50719.82", "94823.275", "174246.625", "170636.94"], ["1.870", "3.435", "3.364"]),
    ("/resource?count=256", ["52993.49", "97942.005", "172350.32", "175973.66"], ["1.848", "3.252", "3.321"]),
    ("/resource?count=4096", ["40792.09", "75152.83", "127337.52", "133521.17"], ["1.842", "3.122", "3.273"]),
    ("/resource?count=65536", ["9485.28", "15399.455", "17819.93", "17808.66"], ["1.624", "1.879", "1.878"]),
    ("/", ["17185.84", "30938.94", "57224.25", "63009.60"], ["1.800", "3.330", "3.666"]),
    ("/resource?count=16", ["55819.75", "105131.69", "174416.75", "174175.26"], ["1.883", "3.125", "3.120"]),
];

/// The repeats of /json on the smaller machine.
const JSON: [(&str, &[&str]); 4] = [
    ("1", &["49637.09", "50719.82", "51384.44"]),
    ("2", &["94150.28", "95496.27"]),
    ("4", &["171874.66", "176618.59"]),
    ("8", &["169984.86", "170636.94", "175743.56"]),
];

/// The repeats of 256 bytes by one worker.
const REPLY_256: [&str; 3] = ["52845.92", "52993.49", "54503.77"];

/// A run of wrk in the form of the published logs.
fn section(path: &str, rate: &str, mean: &str) -> String {
    let requests = (rate.parse::<f64>().unwrap() * 60.1).round();
    format!(
        "wrk -c 128 -t 8 --latency -d 60 http://10.0.1.3:8080{path}\nRunning 1m test @ http://10.0.1.3:8080{path}\n  \
         8 threads and 128 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency {mean:>9}    1.94ms 125.94ms   98.70%\n  {requests} requests in 1.00m, 1.00GB read\n\
         Requests/sec: {rate}\nTransfer/sec:     85.04MB\n"
    )
}

const LARGE_NAME: [&str; 4] = ["--name", "bigbox_w{workers}.txt", "--framework", "crossbar"];
const SMALL_NAME: [&str; 4] = ["--name", "result_w{workers}_{repeat}.log", "--framework", "crossbar"];

fn check_large(store: &Store, files: &[String]) {
    for (size, test) in ["16", "256", "4096", "65536"].into_iter().enumerate() {
        let test = format!("/resource?count={test}");
        let levels = swept(store, files, &[&LARGE_NAME[..], &["--test", &test, "--tool", "wrk"]].concat());
        assert_eq!(levels.len(), LARGE.len());
        for (workers, [rate, speed_up, efficiency, little_us, mean], others) in LARGE {
            let level = by(&levels, &[("workers", workers)]);
            let Some(other) = size.checked_sub(1) else {
                assert_figure(level, "answers_per_second", rate);
                assert_figure(level, "speed_up", speed_up);
                assert_figure(level, "efficiency_percent", efficiency);
                let ms = |name: &str, unit: f64| {
                    Row::from([(name.to_owned(), (level[name].parse::<f64>().unwrap() * unit).to_string())])
                };
                assert_figure(&ms("little_ms", 1e3), "little_ms", little_us);
                let unit = if mean.ends_with("us") { 1e3 } else { 1.0 };
                assert_figure(&ms("mean_ms", unit), "mean_ms", mean.trim_end_matches(['m', 'u', 's']));
                continue;
            };
            assert_figure(level, "answers_per_second", others[other]);
        }
        if let Some((_, efficiency)) = [("256", "69.4"), ("4096", "71.9"), ("65536", "73.1")]
            .iter()
            .find(|(bytes, _)| test.ends_with(&format!("={bytes}")))
        {
            assert_figure(by(&levels, &[("workers", "40")]), "efficiency_percent", efficiency);
        }
    }
}

fn check_small(store: &Store, files: &[String]) {
    for (test, medians, speed_ups) in SMALL {
        let levels = swept(store, files, &[&SMALL_NAME[..], &["--test", test, "--tool", "wrk"]].concat());
        for (at, (workers, median)) in ["1", "2", "4", "8"].into_iter().zip(medians).enumerate() {
            let level = by(&levels, &[("workers", workers)]);
            assert_figure(level, "answers_per_second", median);
            let speed_up = at.checked_sub(1).map_or("1.000", |at| speed_ups[at]);
            assert_figure(level, "speed_up", speed_up);
        }
    }
    let repeated = JSON.map(|(workers, repeats)| ("/json", workers, repeats));
    for (test, workers, repeats) in repeated.into_iter().chain([("/resource?count=256", "1", &REPLY_256[..])])
    {
        let levels = swept(store, files, &[&SMALL_NAME[..], &["--test", test, "--tool", "wrk"]].concat());
        let level = by(&levels, &[("workers", workers)]);
        assert_figure(level, "throughput_least", repeats[0]);
        assert_figure(level, "throughput_greatest", repeats[repeats.len() - 1]);
    }
    check_eight_workers(store, files);
}

/// The machine has four cores: in each test the knee is at 4 workers, or at 2 where two of them do not reach twice the rate
/// of one, and 8 change the rate by -2 to +10 %.
fn check_eight_workers(store: &Store, files: &[String]) {
    let gains: Vec<f64> = SMALL
        .iter()
        .map(|(test, ..)| {
            let flags = [&SMALL_NAME[..], &["--test", test, "--tool", "wrk"]].concat();
            let levels = swept(store, files, &flags);
            let knees: Vec<&str> = levels
                .iter()
                .filter(|level| level["knee"] == "true")
                .map(|level| level["workers"].as_str())
                .collect();
            assert!(matches!(knees[..], ["2" | "4"]), "{test}: {knees:?}");
            let speed_up = |workers| by(&levels, &[("workers", workers)])["speed_up"].parse::<f64>().unwrap();
            (speed_up("8") / speed_up("4") - 1.0) * 100.0
        })
        .collect();
    let (least, greatest) = bounds(&gains);
    assert_eq!((least.round(), greatest.round()), (-2.0, 10.0), "{gains:?}");
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let all = || values.iter().copied();
    (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
}

/// What weighttp and wrk tell of the same test, workers and repeat: weighttp is up to 13.3 % below wrk, and at most 0.4 % above.
fn check_tools(store: &Store, files: &[String]) {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    store.run(&[&["ingest"], &files[..], &SMALL_NAME, &["--quiet"]].concat()).said();
    let mut above = Vec::new();
    for test in ["/json", "/resource?count=65536"] {
        let points = rows(&super::points(store, test));
        let of = |tool: &'static str| points.iter().filter(move |point| point["tool"] == tool);
        let rate = |point: &Row| point["answers_per_second"].parse::<f64>().unwrap();
        for one in of("weighttp") {
            let same = |other: &&Row| ["workers", "repeat"].iter().all(|name| other[*name] == one[*name]);
            above.push((rate(one) / rate(of("wrk").find(same).unwrap()) - 1.0) * 100.0);
        }
    }
    let (least, greatest) = bounds(&above);
    assert!((least + 13.3).abs() < 0.05 && (greatest - 0.4).abs() < 0.05, "{least} {greatest}");
    let points = rows(&super::points(store, "/json"));
    let one = by(&points, &[("tool", "weighttp"), ("workers", "4"), ("repeat", "2")]);
    assert_eq!(
        ["requests", "successes", "failures"].map(|name| one[name].as_str()),
        ["5000000", "5000000", "0"]
    );
    assert_figure(one, "answers_per_second", "158879");
    assert_figure(one, "duration", "31.470472");
    // 46,081 KiB/s.
    assert_eq!(one["bytes_per_second"], "47186944");
}

/// A run of weighttp 0.3 in the form of the published logs: the time in s, ms and µs, and requests and kB by second.
fn section_of_weighttp(path: &str, [s, ms, us, rate, kbytes]: [u32; 5]) -> String {
    format!(
        "weighttp -n 5000000 -c 128 -t 8 -k http://10.0.1.3:8080{path}\n\
         weighttp 0.3 - a lightweight and simple webserver benchmarking tool\n\nstarting benchmark...\n\
         progress: 100% done\n\n\
         finished in {s} sec, {ms} millisec and {us} microsec, {rate} req/s, {kbytes} kbyte/s\n\
         requests: 5000000 total, 5000000 started, 5000000 done, 5000000 succeeded, 0 failed, 0 errored\n\
         status codes: 5000000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
         traffic: 1485000000 bytes total, 1105000000 bytes http, 380000000 bytes data\n"
    )
}

#[test]
fn two_tools_disagree_in_sections_in_the_published_form() {
    let store = Store::embedded();
    let (json, large) = ("/json", "/resource?count=65536");
    let eight =
        section_of_weighttp(json, [32, 822, 889, 152_332, 44_182]) + &section(json, "175743.56", "1.06ms");
    let four = section_of_weighttp(json, [31, 470, 472, 158_879, 46_081])
        + &section(json, "171874.66", "1.04ms")
        + &section_of_weighttp(large, [279, 561, 132, 17_885, 1_146_904])
        + &section(large, "17818.42", "8.74ms");
    let files =
        [("result_w8_1.log", eight), ("result_w4_2.log", four)].map(|(name, text)| store.file(name, text));
    check_tools(&store, &files);
}

#[test]
fn published_figures_come_out_of_sections_in_their_form() {
    let store = Store::embedded();
    let mut large = Vec::new();
    for (workers, [rate, .., mean], others) in LARGE {
        let mut text = section("/resource?count=16", rate, mean);
        for (bytes, rate) in ["256", "4096", "65536"].into_iter().zip(others) {
            text += &section(&format!("/resource?count={bytes}"), rate, "9.99ms");
        }
        large.push(store.file(&format!("bigbox_w{workers}.txt"), text));
    }
    check_large(&store, &large);
    let mut small = Vec::new();
    for (at, (workers, repeats)) in JSON.into_iter().enumerate() {
        for (repeat, rate) in repeats.iter().enumerate() {
            let mut text = section("/json", rate, "1.00ms");
            for (test, medians, _) in &SMALL[1..] {
                let spread = REPLY_256.get(repeat).filter(|_| at == 0 && test.ends_with("=256"));
                text += &section(test, spread.unwrap_or(&medians[at]), "1.00ms");
            }
            small.push(store.file(&format!("result_w{workers}_{}.log", repeat + 1), text));
        }
    }
    check_small(&store, &small);
}

/// The published logs themselves, which are not part of this repository.
fn published() -> Option<PathBuf> {
    std::env::var_os("PERFPIPE_TEST_CROSSBAR").map(PathBuf::from)
}

fn logs(folder: &Path, is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| is_one(name)).collect();
    names.sort();
    names.iter().map(|name| folder.join(name).to_str().unwrap().to_owned()).collect()
}

/// The table that was published with the logs: by test the requests/s and the MB/s of one repeat of each number of workers.
const PUBLISHED: [(&str, [&str; 4], [&str; 4]); 5] = [
    ("/", ["17230", "30909", "57103", "63010"], ["5", "8", "16", "17"]),
    ("/json", ["50720", "94150", "171875", "170637"], ["14", "27", "49", "48"]),
    ("/resource?count=256", ["52993", "99005", "168116", "175143"], ["19", "36", "61", "64"]),
    ("/resource?count=4096", ["40559", "74857", "126133", "133521"], ["163", "302", "508", "538"]),
    ("/resource?count=65536", ["9483", "15945", "17818", "17831"], ["594", "980", "1090", "1090"]),
];

#[test]
fn published_logs_have_the_published_figures() {
    let Some(folder) = published() else { return };
    let store = Store::embedded();
    let large = logs(&folder, |name| name.starts_with("bigbox_"));
    let small = logs(&folder, |name| name.starts_with("result_"));
    check_large(&store, &large);
    check_small(&store, &small);
    check_tools(&store, &small);
    let mut tools: HashMap<String, usize> = HashMap::new();
    for (files, name) in [(&large, LARGE_NAME), (&small, SMALL_NAME)] {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let sections = store.run(&[&["inspect"], &files[..], &name, &["--format", "json"]].concat()).rows();
        sections.iter().for_each(|section| *tools.entry(text(section, "tool").to_owned()).or_default() += 1);
    }
    assert_eq!((tools["wrk"], tools["weighttp"], tools.len()), (82, 54, 2));
    let chosen: Vec<String> = ["w1_2", "w2_2", "w4_2", "w8_3"]
        .iter()
        .flat_map(|one| small.iter().find(|file| file.contains(one)).cloned())
        .collect();
    for (test, rates, megabytes) in PUBLISHED {
        let levels = swept(&store, &chosen, &[&SMALL_NAME[..], &["--test", test, "--tool", "wrk"]].concat());
        for (at, workers) in ["1", "2", "4", "8"].into_iter().enumerate() {
            let level = by(&levels, &[("workers", workers)]);
            assert_figure(level, "throughput", rates[at]);
            // wrk prints bytes in steps of 1,024, of which the table took 1,000 for those of a GB.
            let mebibytes = level["bytes_per_second"].parse::<f64>().unwrap() / 1_048_576.0;
            let told = if mebibytes > 1000.0 { mebibytes / 1.024 } else { mebibytes };
            assert!((told - megabytes[at].parse::<f64>().unwrap()).abs() < 1.0, "{test} {workers}: {told}");
        }
    }
}
