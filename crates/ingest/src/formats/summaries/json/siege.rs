//! siege's JSON (`-j`), with times in hundredths of a second.

use serde_json::Value;

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::Told;
use super::super::tool::JsonTool;
use super::super::units;
use super::value::Json;

pub(crate) struct Siege;

/// siege's unit of data.
pub(crate) const MEGABYTE: f64 = 1024.0 * 1024.0;

/// What is to be known about its times.
pub(crate) const COARSE: &str = "siege reports times in hundredths of a second, and no percentiles";

impl JsonTool for Siege {
    fn name(&self) -> &'static str {
        "siege"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/availability", "/transactions", "/transaction_rate"]
    }

    fn read(&self, value: &Value) -> Result<Told, String> {
        let json = Json(value);
        let successes = json.needed_count("/successful_transactions")?;
        let failures = json.needed_count("/failed_transactions")?;
        let ms = |key: &str| json.number(key).map(units::seconds_ms);
        let figures = Figures {
            duration: json.number("/elapsed_time").filter(|seconds| *seconds > 0.0),
            requests: Some(successes.saturating_add(failures)),
            successes: Some(successes),
            failures: Some(Bounds::exactly(failures)),
            answers_per_second: json.number("/transaction_rate"),
            bytes_per_second: json.number("/throughput").map(|rate| rate * MEGABYTE),
            latencies: Latencies::printed(ms("/response_time"), ms("/longest_transaction"), Vec::new()),
            notes: vec![COARSE.to_owned()],
            ..Figures::default()
        };
        Ok(Told { figures, ..Told::default() })
    }

    fn is_closed_loop(&self) -> bool {
        // Users may wait between requests.
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn counts_are_those_of_the_server() {
        let figures = only("siege/failures.out").figures;
        assert_eq!((figures.requests, figures.successes), (Some(960), Some(853)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.max_ms), (107, Some(3060.0)));
    }
}
