//! oha's JSON, whose success rate counts any answer as a success.

use serde_json::Value;

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::text::answers::AnswerCounts;
use super::super::tool::JsonTool;
use super::super::units;
use super::value::Json;

pub(crate) struct Oha;

impl JsonTool for Oha {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/summary/requestsPerSec", "/latencyPercentiles", "/statusCodeDistribution"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = Json(value);
        let seconds = json.needed("/summary/total")?;
        let answers =
            AnswerCounts::new(json.counts("/statusCodeDistribution")?, json.counts("/errorDistribution")?);
        let ms = |key: &str| json.number(key).map(units::seconds_ms);
        let percents =
            [("p50", 50.0), ("p75", 75.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9)];
        let percentiles = percents
            .into_iter()
            .filter_map(|(name, percent)| Some((percent, ms(&format!("/latencyPercentiles/{name}"))?)));
        let mut figures = Figures {
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            answers_per_second: json.number("/summary/requestsPerSec"),
            bytes_per_second: json.number("/summary/sizePerSec"),
            latencies: Latencies::printed(
                ms("/summary/average"),
                ms("/summary/slowest"),
                percentiles.collect(),
            ),
            ..Figures::default()
        };
        answers.count_into(&mut figures);
        debug_assert!(figures.failures.is_some_and(Bounds::is_exact));
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn answers_of_500_are_failures() {
        let figures = only("oha/failures-json.out").figures;
        assert_eq!(
            (figures.requests, figures.successes, figures.timeouts),
            (Some(2000), Some(1777), Some(6))
        );
        assert_eq!(figures.failures.unwrap().to_string(), "223", "though oha's success rate is 0.9845");
        let latencies = &figures.latencies;
        assert!((latencies.percentile(99.0).unwrap() - 38.832_358).abs() < 1e-9);
        assert!((latencies.mean_ms.unwrap() - 12.356_361).abs() < 1e-6);
    }
}
