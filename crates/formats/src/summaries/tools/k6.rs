//! k6: `--summary-export` and what `handleSummary` is given, in both forms.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::summaries::json::JsonValue;
use crate::summaries::tool::{JsonTool, ParsedSummary};
use perfpipe_model::points::{Bounds, Figures, Latencies};

/// Metrics by their names, as all versions write them.
pub(super) struct K6Summary;

/// A list of metrics (`--new-machine-readable-summary`).
pub(super) struct K6List;

/// Latencies of what k6 counts as a success.
const OF_SUCCESSES: &str = "http_req_duration{expected_response:true}";
const OF_ALL: &str = "http_req_duration";

impl JsonTool for K6Summary {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/metrics/http_reqs", "/root_group"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        // The export has the values in the metric itself, and handleSummary one level below.
        let metric = |name: &str| {
            let metric = json.at(&format!("/metrics/{name}"))?;
            Some(metric.at("/values").unwrap_or(metric))
        };
        summary_of(metric, json.number("/state/testRunDurationMs").map(|ms| ms / 1e3))
    }

    fn is_closed_loop(&self) -> bool {
        // Users may sleep between requests.
        false
    }
}

impl JsonTool for K6List {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/metadata/k6Version", "/results/metrics"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        let metrics = json.at("/results/metrics").and_then(|list| list.0.as_array()).into_iter().flatten();
        let by_name: BTreeMap<&str, JsonValue<'_>> = metrics
            .filter_map(|metric| Some((JsonValue(metric).text("/name")?, JsonValue(metric).at("/values")?)))
            .collect();
        summary_of(|name| by_name.get(name).copied(), json.number("/config/duration"))
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// The figures of a summary whose metrics are found by their names.
fn summary_of<'a>(
    metric: impl Fn(&str) -> Option<JsonValue<'a>>,
    duration: Option<f64>,
) -> Result<ParsedSummary, String> {
    let reqs = metric("http_reqs").ok_or("its JSON has no metric http_reqs")?;
    let requests = reqs.needed_count("/count")?;
    let by_time = duration.map(|seconds| requests as f64 / seconds).filter(|rate| rate.is_finite());
    let rate = reqs.number("/rate").or(by_time).map_or_else(|| reqs.needed("/rate"), Ok)?;
    // The metric counts what failed: it "passes" or "matches" if the request failed.
    let failed = metric("http_req_failed");
    let failures = failed.and_then(|failed| failed.count("/passes").or_else(|| failed.count("/matches")));
    let of_successes = metric(OF_SUCCESSES);
    let mut figures = Figures {
        duration: duration
            .or_else(|| Some(requests as f64 / rate))
            .filter(|seconds| seconds.is_finite() && *seconds > 0.0),
        requests: Some(requests),
        successes: failures.and_then(|failures| requests.checked_sub(failures)),
        failures: failures.map(Bounds::exactly),
        answers_per_second: Some(rate),
        bytes_per_second: metric("data_received").and_then(|data| data.number("/rate")),
        latencies: of_successes.or_else(|| metric(OF_ALL)).map(latencies).unwrap_or_default(),
        ..Figures::default()
    };
    figures.notes.push(match of_successes {
        Some(_) => "the latencies are of successes (expected_response:true)".to_owned(),
        None => "the latencies include those of failures".to_owned(),
    });
    // Not vus_max, which is how many users there was room for.
    let users = metric("vus").and_then(|users| users.count("/max"));
    Ok(ParsedSummary { concurrency: users.and_then(|users| u32::try_from(users).ok()), url: None, figures })
}

fn latencies(trend: JsonValue<'_>) -> Latencies {
    let names = [
        ("/med", 50.0),
        ("/p(75)", 75.0),
        ("/p(90)", 90.0),
        ("/p(95)", 95.0),
        ("/p(99)", 99.0),
        ("/p(99.9)", 99.9),
    ];
    let percentiles =
        names.into_iter().filter_map(|(name, percent)| Some((percent, trend.number(name)?))).collect();
    Latencies::printed(trend.number("/avg"), trend.number("/max"), percentiles)
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::only;

    #[test]
    fn both_forms_give_the_same() {
        let (export, summary) = (only("k6/summary-export.json"), only("k6/handleSummary.json"));
        for found in [&export, &summary] {
            let figures = &found.figures;
            assert_eq!(
                (found.concurrency, figures.requests, figures.successes),
                (Some(6), Some(200), Some(180))
            );
            assert_eq!(figures.failures.unwrap().to_string(), "20");
            // Percentiles of successes, as counted from every request.
            assert!((figures.latencies.percentile(95.0).unwrap() - 11.873758).abs() < 1e-6);
            assert!((figures.duration.unwrap() - 7.154_756).abs() < 1e-6);
        }
        assert_eq!(export.figures.latencies, summary.figures.latencies);
    }

    /// The concurrency of a summary with these gauges.
    fn concurrency(gauges: &str) -> Option<u32> {
        let text = format!(
            "{{\"root_group\": {{}}, \"metrics\": {{{gauges}\"http_reqs\": {{\"count\": 100, \"rate\": 10}}}}}}"
        );
        crate::summaries::sections(text.as_bytes()).sections.remove(0).concurrency
    }

    #[test]
    fn concurrency_is_of_the_users_that_ran() {
        let allocated = "\"vus_max\": {\"value\": 1000, \"min\": 100, \"max\": 1000}, ";
        let used = "\"vus\": {\"value\": 0, \"min\": 0, \"max\": 12}, ";
        assert_eq!(concurrency(&format!("{allocated}{used}")), Some(12));
        // A run of less than a second has no reading of them.
        assert_eq!(concurrency(allocated), None);
    }

    #[test]
    fn list_of_metrics_is_read() {
        let metric = |name: &str, kind: &str, values: &str| {
            format!(
                "{{\"name\": \"{name}\", \"type\": \"{kind}\", \"contains\": \"default\", \"values\": {{{values}}}}}"
            )
        };
        let trend = "\"avg\": 20.5, \"max\": 61, \"med\": 18.5, \"min\": 15, \"p(90)\": 27, \"p(95)\": 30.25";
        let metrics = [
            metric("http_reqs", "counter", "\"count\": 3000"),
            metric("http_req_duration", "trend", trend),
            metric("http_req_failed", "rate", "\"matches\": 30, \"total\": 3000, \"rate\": 0.01"),
            metric("vus", "gauge", "\"value\": 1, \"min\": 1, \"max\": 64"),
            metric("vus_max", "gauge", "\"value\": 100, \"min\": 100, \"max\": 100"),
        ];
        let text = format!(
            "{{\"config\": {{\"duration\": 60, \"execution\": \"local\", \"script\": \"s.js\"}}, \
             \"metadata\": {{\"generatedAt\": \"2026-08-01T10:00:00Z\", \"k6Version\": \"2.2.0\"}}, \
             \"results\": {{\"checks\": {{\"metrics\": [], \"results\": []}}, \"metrics\": [{}]}}, \"version\": \"1.0.0\"}}",
            metrics.join(", ")
        );
        let found = crate::summaries::sections(text.as_bytes());
        let figures = &found.sections[0].figures;
        assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("k6", Some(64)));
        assert_eq!((figures.requests, figures.successes), (Some(3000), Some(2970)));
        assert_eq!((figures.failures.unwrap().to_string().as_str(), figures.duration), ("30", Some(60.0)));
        assert_eq!((figures.answers_per_second, figures.throughput()), (Some(50.0), Some(49.5)));
        assert_eq!(
            (figures.latencies.mean_ms, figures.latencies.percentile(95.0)),
            (Some(20.5), Some(30.25))
        );
    }
}
