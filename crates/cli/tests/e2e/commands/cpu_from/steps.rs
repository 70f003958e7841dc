//! How often Prometheus is asked for a reading.

use super::{T0, ingest, readings};
use crate::support::*;

/// Ingests a run whose CPU Prometheus tells, and returns what was said and stored.
fn ingested(prometheus: Prometheus, asked: &str) -> (Store, Done, Monitor) {
    let (store, monitor) = (Store::embedded(), Monitor::new(move |asked| prometheus.answer(asked)));
    let url = format!("prometheus+http://{}?query={asked}", monitor.host);
    let outcome = done(ingest(&store, &url, &[]).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN));
    (store, outcome, monitor)
}

#[test]
fn step_and_its_beginning_are_those_of_the_series() {
    let prometheus = Prometheus { interval: 15, ..Prometheus::default() };
    let (store, outcome, _) = ingested(prometheus, "sum(rate(cpu{a=\"b\"}[1m]))");
    assert!(outcome.said().contains("the CPU readings come every 15 s"));
    // The second in which a reading is known, not one up to 14 s later.
    let first = T0 - 60 - (T0 - 60 - 8).rem_euclid(15);
    let expected: Vec<_> =
        (first..=T0 + 60).step_by(15).map(|clock| (clock, (clock % 1000) as f64)).collect();
    assert_eq!(readings(&store), expected);
}

#[test]
fn step_of_the_url_and_else_a_second_is_taken() {
    let slow = || Prometheus { interval: 15, ..Prometheus::default() };
    let (store, outcome, monitor) = ingested(slow(), "cpu&step=20");
    outcome.said();
    assert!(readings(&store).iter().all(|(clock, _)| clock % 20 == 0));
    assert_eq!(monitor.asked().len(), 1, "the series is not asked how often it is read");
    let (store, outcome, _) = ingested(slow(), "vector(1)");
    outcome.said();
    assert_eq!(readings(&store).len(), 121, "nothing tells how often it is read");
    // A host that answers range queries only.
    let (store, monitor) = (
        Store::embedded(),
        Monitor::new(|asked| match asked.line.contains("/query?") {
            true => Reply::Text(404, String::new(), "not found".to_owned()),
            false => prometheus(asked),
        }),
    );
    let url = format!("prometheus+http://{}?query=cpu", monitor.host);
    done(ingest(&store, &url, &[]).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN)).said();
    assert_eq!(readings(&store).len(), 121);
}

#[test]
fn host_that_allows_fewer_points_is_told() {
    let prometheus = Prometheus { most: 100, ..Prometheus::default() };
    let (store, outcome, _) = ingested(prometheus, "cpu");
    let told = outcome.complaint(3);
    assert!(told.contains("exceeded maximum resolution") && told.contains("step=60"), "{told}");
    assert_eq!(store.list().len(), 0);
}

#[test]
fn clock_that_is_an_hour_off_is_told_by_the_readings_around_the_run() {
    let (begin, end) = (T0 - 300, T0 + 360);
    for (known, told) in [
        (begin - 3600..end - 3600, "if the log's clock is 1 h ahead, add 3600 to the CPU offset"),
        (begin + 3600..end + 3600, "if the log's clock is 1 h behind, add -3600 to the CPU offset"),
    ] {
        let (_, outcome, _) = ingested(Prometheus { known, ..Prometheus::default() }, "cpu");
        let err = outcome.complaint(3);
        assert!(err.contains(told) && err.contains("--cpu-offset"), "{err}");
    }
    let (_, outcome, _) = ingested(Prometheus { known: 0..10, ..Prometheus::default() }, "cpu");
    let err = outcome.complaint(3);
    assert!(err.contains("has no readings from") && !err.contains("clock is"), "{err}");
}
