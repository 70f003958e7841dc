//! What the report tells of the server's series in a browser.

use super::reader::Reader;
use super::report;
use crate::support::*;

const T0: i64 = 1_795_203_720;

/// Ten seconds of requests beside a memory that grows by 1 MiB a second from 10 MiB on, and a temperature.
fn ingest(store: &Store) {
    let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    log.extend((0..100).map(|at| format!("{},12,Get,true,1\n", T0 * 1000 + at * 100)));
    let log = store.file("log.csv", log);
    let memory = (0..10).map(|second| format!("{},{}\n", T0 + second, (10 + second) * 1_048_576));
    let memory = format!("memory={}", store.file("memory.csv", memory.collect::<String>()));
    let heat = format!("heat={}", store.file("heat.csv", format!("{T0},-3.5\n{},21.25\n", T0 + 5)));
    let series = ["--series", &memory, "--unit", "bytes", "--series", &heat, "--unit", "°C"];
    store.run(&[&["ingest", &log, "--framework", "go", "--test", "t"], &series[..]].concat()).said();
}

#[test]
fn series_of_several_frameworks_are_laid_over_each_other_in_one_unit() {
    let store = Store::embedded();
    ingest(&store);
    let log = store.folder.path().join("log.csv").to_str().unwrap().to_owned();
    let memory = (0..10).map(|second| format!("{},{}\n", T0 + second, 3_i64 << 30));
    let memory = format!("memory={}", store.file("memory.csv", memory.collect::<String>()));
    let nio = ["ingest", &log, "--framework", "nio", "--test", "t", "--series", &memory, "--unit", "bytes"];
    store.run(&nio).said();
    let Some(mut reader) = Reader::open(&report(&store, "t")) else { return };
    reader.wait("document.querySelector('.overlays figure')");
    let titles = reader
        .browser
        .evaluate("[...document.querySelectorAll('.overlays h3')].map((title) => title.textContent)");
    assert_told(&titles.to_string(), &["memory, GiB", "heat, °C"]);
    let rows = reader.table("memory, GiB");
    assert_eq!(rows[0][1..].iter().filter(|value| *value == "3").count(), 1, "{rows:?}");
    reader.end();
}

#[test]
fn series_are_drawn_and_told_at_the_cross_hair_and_judged_by_rules() {
    let store = Store::embedded();
    ingest(&store);
    let check = |rule: &str| store.run(&["check", "--test", "t", "--format", "json", rule]);
    for rule in ["series memory < 15MiB", "series_max heat <= 21.25", "series memory < 15MiB for 5s"] {
        assert_eq!(check(rule).rows()[0]["passed"], true, "{rule}");
    }
    let judged = check("series memory < 15MiB").rows();
    assert_eq!((&judged[0]["value"], text(&judged[0], "unit")), (&15_204_352.into(), "B"));
    for (rule, why) in [("series memory < 15MiB for 4s", "null"), ("series swap < 1", "no series swap")] {
        let judged = check(rule);
        assert_eq!(judged.code, Some(4), "{rule}");
        assert_told(&String::from_utf8_lossy(&judged.out), &["\"passed\":false", why]);
    }
    let Some(mut reader) = Reader::open(&report(&store, "t")) else { return };
    reader.see_run();
    reader.point(5.5, (0.0, 9.0));
    let told = reader.told();
    assert_eq!((&*told["memory"], &*told["heat"]), ("15.0", "21.3"), "{told:?}");
    let titles = reader.browser.evaluate(
        "[...document.querySelectorAll('.time-charts .chart-head')].map((head) => head.textContent)",
    );
    assert_told(&titles.to_string(), &["memory, MiB", "heat, °CValues below 0 are drawn at 0."]);
    reader.end();
}
