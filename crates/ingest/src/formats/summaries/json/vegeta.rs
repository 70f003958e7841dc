//! `vegeta report -type=json`, whose percentiles are estimated.

use serde_json::Value;

use super::super::point::{Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::text::answers::vegeta_codes;
use super::super::tool::JsonTool;
use super::value::Json;

pub(crate) struct Vegeta;

impl JsonTool for Vegeta {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/latencies/99th", "/status_codes", "/requests"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = Json(value);
        let seconds = (json.needed("/duration")? + json.number("/wait").unwrap_or_default()) / 1e9;
        let ms = |key: &str| json.number(&format!("/latencies/{key}")).map(|ns| ns / 1e6);
        let names = [("50th", 50.0), ("90th", 90.0), ("95th", 95.0), ("99th", 99.0)];
        let percentiles =
            names.into_iter().filter_map(|(name, percent)| Some((percent, ms(name)?))).collect();
        let mut figures = Figures {
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            answers_per_second: json.number("/rate"),
            bytes_per_second: json
                .number("/bytes_in/total")
                .filter(|_| seconds > 0.0)
                .map(|bytes| bytes / seconds),
            latencies: Latencies::printed(ms("mean"), ms("max"), percentiles),
            ..Figures::default()
        };
        vegeta_codes(&json.counts("/status_codes")?, &mut figures);
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn json_and_text_agree() {
        let (json, text) = (only("vegeta/report.json"), only("vegeta/report.text"));
        for figures in [&json.figures, &text.figures] {
            assert_eq!((figures.requests, figures.successes), (Some(1200), Some(1079)));
            assert_eq!(figures.failures.unwrap().to_string(), "121");
            assert!((figures.throughput().unwrap() - 121.2).abs() < 0.01, "{:?}", figures.throughput());
            assert!((figures.latencies.percentile(99.0).unwrap() - 583.556).abs() < 0.001);
        }
    }
}
