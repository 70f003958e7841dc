//! What real servers answered to `.ci/monitoring`: each reading is stored as it was told.

use serde_json::{Value, json};

use super::{SECRET, readings};
use crate::support::*;

fn recorded(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(fixture("sources").join(name)).unwrap()).unwrap()
}

/// A log with a request in each of these seconds.
fn log(store: &Store, (first, last): (i64, i64)) -> String {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((first..=last).map(|second| format!("{},12,Get,true,1\n", second * 1000)));
    store.file("log.csv", log)
}

/// Ingests a run of the middle of the recorded time, and compares what is stored with these readings.
fn compare(url: &str, own: &[(i64, f64)]) {
    for store in Store::each() {
        let (first, last) = (own[3].0, own[own.len() - 4].0);
        let log = log(&store, (first, last));
        let named = ["ingest", &log, "--framework", "go", "--test", "t", "--cpu-from", url];
        let mut command = store.command(&[&named[..], &["--cpu-lookback", "2"]].concat());
        let said = done(command.env(SECRET.0, SECRET.1).env_remove("http_proxy")).said();
        assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
        let asked: Vec<_> =
            own.iter().copied().filter(|(clock, _)| (first - 2..=last).contains(clock)).collect();
        assert_eq!(readings(&store), asked);
    }
}

#[test]
fn readings_of_a_real_zabbix_are_its_own() {
    let kept = recorded("zabbix.json");
    let number = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    let cores = number(&kept["system.cpu.num"][0]["lastvalue"]);
    let entries = kept["history.get"].as_array().unwrap();
    let own: Vec<(i64, f64)> = entries
        .iter()
        .map(|entry| (number(&entry["clock"]) as i64, number(&entry["value"]) * cores))
        .collect();
    let monitor = Monitor::new(move |asked| {
        let request: Value = serde_json::from_str(&asked.body).unwrap();
        let (method, parameters) = (request["method"].as_str().unwrap(), &request["params"]);
        let cores = parameters["search"]["key_"] == "system.cpu.num";
        let mut result = kept[if cores { "system.cpu.num" } else { method }].clone();
        if method == "history.get" {
            let (from, till) =
                (parameters["time_from"].as_i64().unwrap(), parameters["time_till"].as_i64().unwrap());
            let clock = |entry: &Value| number(&entry["clock"]) as i64;
            result.as_array_mut().unwrap().retain(|entry| (from..=till).contains(&clock(entry)));
        }
        Reply::json(json!({"jsonrpc": "2.0", "result": result, "id": 1}))
    });
    compare(&format!("zabbix+http://{}/?host=sut&item=system.cpu.util", monitor.host), &own);
}

#[test]
fn readings_of_a_real_prometheus_are_its_own() {
    let kept = recorded("prometheus.json");
    let values = kept.pointer("/data/result/0/values").unwrap().as_array().unwrap();
    let own: Vec<(i64, f64)> = values
        .iter()
        .map(|value| (value[0].as_i64().unwrap(), value[1].as_str().unwrap().parse().unwrap()))
        .collect();
    let monitor = Monitor::new(move |asked| {
        let mut answer = kept.clone();
        if asked.line.contains("/query?") {
            // What the series itself has, of which the recorded readings are each second's.
            return Reply::json(answer);
        }
        let (start, end) = (asked.number("start"), asked.number("end"));
        let values = answer.pointer_mut("/data/result/0/values").unwrap().as_array_mut().unwrap();
        values.retain(|value| (start..=end).contains(&value[0].as_i64().unwrap()));
        Reply::json(answer)
    });
    compare(&format!("prometheus+http://{}?query=cpu", monitor.host), &own);
}
