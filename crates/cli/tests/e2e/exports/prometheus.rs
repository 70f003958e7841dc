//! The OpenMetrics export in a real Prometheus: every value, at its time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::*;

/// A server, stopped once it goes out of scope.
struct Prometheus {
    process: Child,
    port: u16,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Prometheus {
    /// Starts a server on the blocks in a folder.
    fn start(folder: &Path) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        std::fs::write(folder.join("prometheus.yml"), "").unwrap();
        let process = Command::new("prometheus")
            .arg("--config.file=prometheus.yml")
            .arg("--storage.tsdb.path=blocks")
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .current_dir(folder)
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus is installed");
        let server = Self { process, port };
        wait_for("Prometheus answers", || {
            server.get("/-/ready").is_some_and(|answer| answer.contains("200 OK"))
        });
        server
    }

    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// Returns the values of a metric over these seconds, by time in ms.
    fn values(&self, metric: &str, end: i64, seconds: i64) -> BTreeMap<i64, f64> {
        let answer = self.get(&format!("/api/v1/query?query={metric}%5B{seconds}s%5D&time={end}")).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let answer: Value = serde_json::from_str(body).unwrap();
        let series = answer["data"]["result"].as_array().unwrap();
        assert!(series.len() <= 1, "{metric} is one series: {answer}");
        let values = series.iter().flat_map(|series| series["values"].as_array().unwrap());
        let value = |pair: &Value| {
            let ms = (pair[0].as_f64().unwrap() * 1000.0).round() as i64;
            (ms, pair[1].as_str().unwrap().parse().unwrap())
        };
        values.map(value).collect()
    }
}

#[test]
#[ignore = "it needs prometheus: .ci/long prometheus"]
fn prometheus_holds_every_value_of_an_export_at_its_time() {
    let store = Store::embedded();
    let files = ["Results-2048-9000.csv.zip", "Results-2048-9000.cpu.csv"].map(fixture);
    let files = files.each_ref().map(|path| path.to_str().unwrap());
    store.run(&["ingest", files[0], files[1], "--framework", "a \"b\"\\", "--test", "2048"]).said();
    let key = Key::new("a \"b\"\\", "2048");
    let text = store.export(&key, "seconds", "openmetrics", &[]);
    let folder = store.folder.path();
    std::fs::write(folder.join("run.txt"), text).unwrap();
    let mut promtool = Command::new("promtool");
    promtool.args(["tsdb", "create-blocks-from", "openmetrics", "run.txt", "blocks"]).current_dir(folder);
    let made = promtool.stdout(Stdio::null()).status().expect("promtool is installed");
    assert!(made.success());

    let prometheus = Prometheus::start(folder);
    let export = store.export(&key, "seconds", "csv", &[]);
    let mut rows = csv::Reader::from_reader(export.as_bytes());
    let header = rows.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let t0_ms = count(&store.list()[0], "t0_ms");
    let mut compared = 0;
    for (at, column) in header.iter().enumerate().skip(1) {
        let unit = match column {
            "successes" | "failures" | "load" => "",
            "cpu" => "_percent",
            _ => "_ms",
        };
        let of_row = |(second, record): (i64, &csv::StringRecord)| {
            let value: f64 = record[at].parse().ok()?;
            Some((t0_ms + second * 1000, value))
        };
        let ours: BTreeMap<i64, f64> = (0..).zip(&records).filter_map(of_row).collect();
        let (end, seconds) = (t0_ms / 1000 + records.len() as i64 + 1, records.len() as i64 + 2);
        let theirs = prometheus.values(&format!("perfpipe_{column}{unit}"), end, seconds);
        assert_eq!(ours, theirs, "{column}");
        compared += ours.len();
    }
    println!("{compared} values of {} series are the same in Prometheus", header.len() - 1);
    assert!(compared > 1000);
}
