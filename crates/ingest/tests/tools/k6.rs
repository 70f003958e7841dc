//! k6's CSV and JSON of one run.

use crate::support::*;

#[test]
fn both_forms_have_the_counts_of_the_server() {
    let labels = [("hello".to_owned(), 100), ("http://127.0.0.1:8130/json".to_owned(), 100)];
    for (name, seconds) in [
        ("k6/metrics.csv.gz", vec![(10, 1), (19, 2), (31, 3), (40, 5), (37, 4), (40, 4), (2, 1), (1, 0)]),
        ("k6/metrics.json.gz", vec![(11, 1), (23, 2), (35, 4), (35, 4), (37, 4), (38, 5), (1, 0)]),
    ] {
        let log = read(&fixture(name));
        assert_eq!((log.outcomes(), log.labels()), ((180, 20), labels.to_vec()), "{name}");
        assert_eq!(log.by_second(), seconds, "{name}");
        // In ns: 5.217104, 11.873758 and 20.671455 ms.
        for (percent, ms) in [(50.0, 5.217), (95.0, 11.8737), (99.0, 20.6714)] {
            assert!((log.percentile(percent) - ms).abs() < 6e-4, "{percent}: {}", log.percentile(percent));
        }
        assert_eq!(log.samples.iter().filter_map(|sample| sample.threads).max(), Some(6));
        assert_eq!(log.done.info.rejects, 0);
    }
}

#[test]
fn stamps_in_whole_seconds_are_told() {
    let told =
        |name: &str| read(&fixture(name)).done.notes.iter().map(ToString::to_string).collect::<String>();
    assert!(told("k6/metrics.csv.gz").contains("K6_CSV_TIME_FORMAT"));
    assert_eq!(told("k6/metrics.json.gz"), "");
}

/// The two forms agree in labels, outcomes and elapsed, and within a second in the starts.
#[test]
fn both_forms_agree() {
    let [csv, json] = ["k6/metrics.csv.gz", "k6/metrics.json.gz"].map(|name| read(&fixture(name)));
    let since = json.done.info.t0_ms - csv.done.info.t0_ms;
    for (csv, json) in csv.samples.iter().zip(&json.samples) {
        assert_eq!((&csv.label, csv.success, csv.elapsed), (&json.label, json.success, json.elapsed));
        assert!((json.t_ms + since - csv.t_ms).abs() <= 1000);
    }
    assert_eq!(csv.samples.len(), json.samples.len());
}

/// The log with stamps in ms is that of the JSON in every second.
#[test]
fn stamps_in_other_units_are_exact() {
    let json = read(&fixture("k6/metrics.json.gz"));
    let header = "metric_name,timestamp,metric_value,error_code,name,status\n";
    for (unit, digits) in [(1_000_000, 13), (1_000, 16), (1, 19)] {
        let rows: String = json
            .samples
            .iter()
            .map(|sample| {
                let end = json.done.info.t0_ms * 1_000_000
                    + sample.t_ms * 1_000_000
                    + i64::from(sample.elapsed) * 1000;
                let stamp = (end + 999_999) / unit;
                assert_eq!(stamp.to_string().len(), digits);
                let (ms, failed) = (f64::from(sample.elapsed) / 1000.0, u8::from(!sample.success));
                let line =
                    |metric: &str, value: String| format!("{metric},{stamp},{value},,{},200\n", sample.label);
                line("http_reqs", "1.000000".into())
                    + &line("http_req_duration", format!("{ms:.6}"))
                    + &line("http_req_failed", format!("{failed}.000000"))
            })
            .collect();
        let (_folder, file) = written("k6.csv", format!("{header}{rows}").as_bytes());
        let csv = read(&file);
        assert_eq!((csv.outcomes(), csv.labels(), csv.done.notes.len()), (json.outcomes(), json.labels(), 0));
        assert_eq!(csv.by_second(), json.by_second(), "{unit}");
    }
}

/// What k6 writes of the same run with `K6_CSV_TIME_FORMAT=unix_milli`: the lines of the JSON, with their stamps cut to ms.
#[test]
fn csv_in_milliseconds_agrees_with_the_json_in_every_second() {
    let packed = std::fs::read(fixture("k6/metrics.json.gz")).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text).unwrap();
    let mut csv = String::from("metric_name,timestamp,metric_value,error_code,name,status\n");
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (data, metric) = (&line["data"], line["metric"].as_str().unwrap());
        let Some(time) = data["time"].as_str() else { continue };
        let ms = time.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let tag = |name: &str| data["tags"][name].as_str().unwrap_or_default().to_owned();
        let tags = ["error_code", "name", "status"].map(tag).join(",");
        csv += &format!("{metric},{ms},{:.6},{tags}\n", data["value"].as_f64().unwrap());
    }
    let (_folder, file) = written("k6.csv", csv.as_bytes());
    let (csv, json) = (read(&file), read(&fixture("k6/metrics.json.gz")));
    assert_eq!((csv.outcomes(), csv.labels(), csv.done.notes.len()), (json.outcomes(), json.labels(), 0));
    assert_eq!(csv.by_second(), json.by_second());
    for (csv, json) in csv.samples.iter().zip(&json.samples) {
        assert_eq!((&csv.label, csv.success, csv.elapsed), (&json.label, json.success, json.elapsed));
        assert!((csv.t_ms - json.t_ms).abs() <= 1 && csv.threads == json.threads);
    }
}

/// A log without verdicts goes by the status; one that was cut within a request rejects that.
#[test]
fn fewer_metrics_and_cut_logs_are_read() {
    let header = "metric_name,timestamp,metric_value,name,status\n";
    let request = |status: &str| {
        format!("http_reqs,1795348045,1.0,a,{status}\nhttp_req_duration,1795348045,5.5,a,{status}\n")
    };
    let text = [header, &request("200"), &request("503"), &request("0"), "http_reqs,1795348045,1.0,a,200\n"]
        .concat();
    let (_folder, file) = written("k6.csv", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 2), 1));
    let bad = [header, &request("200"), "http_reqs,soon,1.0,a,200\nhttp_reqs,1795348045,1.0,a\n"].concat();
    let (_folder, file) = written("k6.csv", bad.as_bytes());
    let log = read(&file);
    assert_eq!((log.outcomes(), log.done.info.rejects), ((1, 0), 2));
}

#[test]
fn texts_of_several_lines_are_read() {
    let header = "metric_name,timestamp,metric_value,error,name,status\n";
    let line = |metric: &str, value: &str| {
        format!("{metric},1795348045,{value},\"no\nanswer\",\"a \"\"b\"\"\n, c\",0\n")
    };
    let request =
        line("http_reqs", "1.0") + &line("http_req_duration", "5.5") + &line("http_req_failed", "1.0");
    let open = "http_reqs,1795348045,1.0,\"no,a,0\n";
    let (_folder, file) = written("k6.csv", [header, &request, open, &request].concat().as_bytes());
    for block_size in [1, 1 << 20] {
        let log = read_by(&file, block_size);
        assert_eq!((log.outcomes(), log.done.info.rejects), ((0, 2), 1), "by {block_size}");
        assert_eq!(log.labels(), [("a \"b\"\n, c".to_owned(), 2)]);
    }
}
