//! bombardier's JSON, which retried requests are not in.

use serde_json::Value;

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::tool::JsonTool;
use super::value::{Json, named, sum};

pub(crate) struct Bombardier;

/// What bombardier reports in no format.
pub(crate) const RETRIES: &str =
    "bombardier's default client sends again what was reset or timed out, and counts neither";

impl JsonTool for Bombardier {
    fn name(&self) -> &'static str {
        "bombardier"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/spec/numberOfConnections", "/result/timeTakenSeconds"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = Json(value);
        let connections = json.count("/spec/numberOfConnections").and_then(|count| u32::try_from(count).ok());
        let seconds = json.needed("/result/timeTakenSeconds")?;
        let of = |keys: &[&str]| -> Result<u64, String> {
            let counts = keys.iter().map(|key| json.count_or_zero(&format!("/result/{key}")));
            Ok(sum(counts.collect::<Result<Vec<_>, _>>()?))
        };
        let successes = of(&["req1xx", "req2xx", "req3xx"])?;
        let (statuses, others) = (of(&["req4xx", "req5xx"])?, of(&["others"])?);
        let failures = statuses.saturating_add(others);
        let ms = |key: &str| json.number(&format!("/result/latency/{key}")).map(|us| us / 1e3);
        let percents = [50.0, 75.0, 90.0, 95.0, 99.0];
        let percentiles = percents
            .into_iter()
            .filter_map(|percent| Some((percent, ms(&format!("percentiles/{percent}"))?)))
            .collect();
        let figures = Figures {
            in_flight: connections.filter(|_| json.number("/spec/rate").is_none()),
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            requests: Some(successes.saturating_add(failures)),
            successes: Some(successes),
            failures: Some(Bounds::exactly(failures)),
            kinds: named(&[("status", statuses), ("other", others)]),
            answers_per_second: json.number("/result/rps/mean"),
            bytes_per_second: json
                .number("/result/bytesRead")
                .filter(|_| seconds > 0.0)
                .map(|bytes| bytes / seconds),
            latencies: Latencies::printed(ms("mean"), ms("max"), percentiles),
            notes: vec![RETRIES.to_owned()],
            ..Figures::default()
        };
        Ok(ParsedSummary {
            concurrency: connections,
            url: json.text("/spec/url").map(str::to_owned),
            figures,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::read;

    #[test]
    fn progress_before_the_object_is_no_hindrance() {
        let found = read("bombardier/failures.out");
        let figures = &found.sections[0].figures;
        assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("bombardier", Some(16)));
        assert_eq!((figures.requests, figures.successes), (Some(8185), Some(7390)));
        assert_eq!(
            (figures.failures.unwrap().least, figures.timeouts),
            (795, None),
            "what was retried is not known"
        );
        assert_eq!(figures.latencies.percentile(99.0), Some(16.328));
        assert_eq!(found.sections.len(), 1);
    }
}
