//! k6: `--summary-export` and what `handleSummary` is given.

use serde_json::Value;

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::Told;
use super::super::tool::JsonTool;
use super::value::Json;

pub(crate) struct Summary;

/// Latencies of what k6 counts as a success.
const OF_SUCCESSES: &str = "/metrics/http_req_duration{expected_response:true}";
const OF_ALL: &str = "/metrics/http_req_duration";

impl JsonTool for Summary {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/metrics/http_reqs", "/root_group"]
    }

    fn read(&self, value: &Value) -> Result<Told, String> {
        let json = Json(value);
        let reqs = metric(json, "/metrics/http_reqs").ok_or("its JSON has no metric http_reqs")?;
        let (requests, rate) = (reqs.needed_count("/count")?, reqs.needed("/rate")?);
        let duration = json.number("/state/testRunDurationMs").map(|ms| ms / 1e3);
        let failed = metric(json, "/metrics/http_req_failed");
        // The metric counts what failed: it "passes" if the request failed.
        let failures = failed.and_then(|failed| failed.count("/passes"));
        let of_successes = metric(json, OF_SUCCESSES);
        let mut figures = Figures {
            duration: duration
                .or_else(|| Some(requests as f64 / rate))
                .filter(|seconds| seconds.is_finite() && *seconds > 0.0),
            requests: Some(requests),
            successes: failures.and_then(|failures| requests.checked_sub(failures)),
            failures: failures.map(Bounds::exactly),
            answers_per_second: Some(rate),
            bytes_per_second: metric(json, "/metrics/data_received").and_then(|data| data.number("/rate")),
            latencies: of_successes.or_else(|| metric(json, OF_ALL)).map(latencies).unwrap_or_default(),
            ..Figures::default()
        };
        figures.notes.push(match of_successes {
            Some(_) => "the latencies are of successes (expected_response:true)".to_owned(),
            None => "the latencies include those of failures".to_owned(),
        });
        let users = metric(json, "/metrics/vus_max").and_then(|users| users.count("/max"));
        Ok(Told { concurrency: users.and_then(|users| u32::try_from(users).ok()), url: None, figures })
    }

    fn is_closed_loop(&self) -> bool {
        // Users may sleep between requests.
        false
    }
}

/// The values of a metric, which the export has beside its name and handleSummary one level below.
fn metric<'a>(json: Json<'a>, key: &str) -> Option<Json<'a>> {
    let metric = json.at(key)?;
    Some(metric.at("/values").unwrap_or(metric))
}

fn latencies(trend: Json<'_>) -> Latencies {
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
    use super::super::super::fixtures::only;

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
}
