//! A run in the form of k6's summary, which GitLab compares in merge requests.

use perfpipe_model::StoredRun;
use serde_json::{Map, Value, json};

use crate::breakdown::SampleFigures;
use crate::error::{Error, Result};
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;

/// The percentiles of a summary of k6, unless others are asked for.
const PERCENTILES: [f64; 3] = [50.0, 90.0, 95.0];

/// Returns the view by which a run is written in k6's form: with its percentiles, over all requests.
pub fn k6_view(view: &View) -> View {
    view.clone().with_percentiles(PERCENTILES).with_include_failures(true)
}

/// Writes a run in the form of k6's `--summary-export`, which GitLab reads as `load-performance.json`.
///
/// | metric | is |
/// |---|---|
/// | `http_reqs` | all requests, and their number in a second |
/// | `http_req_duration` | elapsed of all requests; with `{expected_response:true}` of successes |
/// | `http_req_waiting` | latency, the time to the first byte, of all requests; only if the samples are given |
/// | `http_req_failed` | failures, which k6 counts as `passes` of this metric |
/// | `checks` | each request as a check by the log's verdict, since a log has no checks |
/// | `vus` | the largest load |
///
/// `samples` are figures by [`k6_view`]. GitLab shows the requests in a second, `http_req_waiting` at 90 and 95 % and the
/// share of checks. Times are in ms; absent figures are left out.
///
/// # Errors
/// The same errors as [`Timeline::new`].
///
/// Source of the form: k6's documentation, "End of test", `--summary-export`; GitLab's documentation, "Load performance
/// testing".
pub fn k6_summary(run: &StoredRun, view: &View, samples: Option<&SampleFigures>) -> Result<String> {
    let all = k6_view(view);
    let of_all = Timeline::new(run, &all)?.summary;
    let of_successes = Timeline::new(run, &all.with_include_failures(false))?.summary;
    let (requests, failures) = (of_all.requests(), of_all.failures);
    let rate = (of_all.duration > 0.0).then(|| requests as f64 / of_all.duration);
    let share = |part: u64| if requests == 0 { 0.0 } else { part as f64 / requests as f64 };
    let mut metrics = Map::new();
    let mut add = |name: &str, fields: Value| {
        let Value::Object(mut fields) = fields else { return };
        fields.retain(|_, value| !value.is_null());
        if !fields.is_empty() {
            metrics.insert(name.to_owned(), fields.into());
        }
    };
    add("checks", json!({"fails": failures, "passes": of_all.successes, "value": share(of_all.successes)}));
    add("http_req_duration", elapsed(&of_all));
    add("http_req_duration{expected_response:true}", elapsed(&of_successes));
    add("http_req_failed", json!({"fails": of_all.successes, "passes": failures, "value": share(failures)}));
    add("http_reqs", json!({"count": requests, "rate": rate}));
    if let Some(latency) = samples.map(SampleFigures::latency) {
        let percentiles = latency.percentiles(&PERCENTILES);
        add("http_req_waiting", trend([latency.mean(), latency.max(), latency.min()], &percentiles));
    }
    let load = of_all.load_max.map(|load| load.round() as u64);
    add("vus", json!({"max": load}));
    let document =
        json!({ "metrics": metrics, "root_group": { "name": "", "path": "", "groups": {}, "checks": {} } });
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|e| Error::convert("JSON", e))
}

/// Writes elapsed times as a trend of k6.
fn elapsed(summary: &Summary) -> Value {
    trend([summary.elapsed_mean, summary.elapsed_max, summary.elapsed_min], &summary.percentiles)
}

/// Writes a mean, the extremes and the percentiles of [`k6_view`].
fn trend([avg, max, min]: [Option<f64>; 3], percentiles: &[Option<f64>]) -> Value {
    let at = |at: usize| percentiles.get(at).copied().flatten();
    json!({"avg": avg, "max": max, "med": at(0), "min": min, "p(90)": at(1), "p(95)": at(2)})
}
