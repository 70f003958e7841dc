//! oha's text and JSON, whose success rate counts any answer as a success.

use serde_json::Value;

use super::answers::AnswerCounts;
use crate::summaries::json::JsonValue;
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{JsonTool, ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct OhaText;

impl TextTool for OhaText {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        line.trimmed() == "Summary:" && line.next().trimmed().starts_with("Success rate:")
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let total = needed(section.after("Total:").and_then(units::time_ms), "Total:")?;
        let rate = needed(section.number("Requests/sec:")?, "Requests/sec:")?;
        let ms = |name: &str| section.after(name).and_then(units::time_ms);
        let latencies = Latencies::printed(ms("Average:"), ms("Slowest:"), section.each(percentile));
        let answers = AnswerCounts::of_lines(section)?;
        let mut figures = Figures {
            duration: Some(total / 1e3).filter(|seconds| *seconds > 0.0),
            answers_per_second: Some(rate),
            bytes_per_second: section.after("Size/sec:").and_then(units::bytes),
            latencies,
            ..Figures::default()
        };
        answers.count_into(&mut figures);
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }
}

/// Reads `99.00% in 18.1120 ms`.
fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, time) = line.split_once("% in ")?;
    Some((units::number(percent)?, units::time_ms(time)?))
}

pub(super) struct OhaJson;

impl JsonTool for OhaJson {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/summary/requestsPerSec", "/latencyPercentiles", "/statusCodeDistribution"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
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
    use crate::summaries::fixtures::only;

    #[test]
    fn text_is_counted_as_json() {
        let figures = only("oha/failures-text.out").figures;
        assert_eq!(
            (figures.requests, figures.successes, figures.timeouts),
            (Some(2000), Some(1777), Some(6))
        );
        assert_eq!(
            (figures.failures.unwrap().least, figures.latencies.percentile(99.0)),
            (223, Some(18.112))
        );
        assert!((figures.duration.unwrap() - 2.037_048_6).abs() < 1e-9);
    }

    #[test]
    fn parallel_requests_of_each_connection_are_in_flight() {
        let text =
            std::fs::read_to_string(crate::summaries::fixtures::path("oha/failures-text.out")).unwrap();
        for (options, in_flight) in [("-c 10 -p 50", 500), ("-c 10", 10)] {
            let command = format!("oha --http2 {options} http://127.0.0.1:8120/hello\n");
            let found = crate::summaries::sections(format!("{command}{text}").as_bytes());
            assert_eq!(found.sections[0].figures.in_flight, Some(in_flight), "{options}");
        }
    }

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
