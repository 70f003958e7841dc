//! autocannon's JSON.

use serde_json::Value;

use crate::summaries::json::{JsonValue, named};
use crate::summaries::tool::{JsonTool, ParsedSummary};
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Autocannon;

impl JsonTool for Autocannon {
    fn name(&self) -> &'static str {
        "autocannon"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/pipelining", "/non2xx", "/connections", "/requests/total"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        let connections = json.count("/connections").and_then(|count| u32::try_from(count).ok());
        let pipelining = json.count("/pipelining").and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
        let seconds = json.needed("/duration")?;
        let successes = json.needed_count("/2xx")?.saturating_add(json.count_or_zero("/3xx")?);
        let statuses = json.count_or_zero("/4xx")?.saturating_add(json.count_or_zero("/5xx")?);
        // Errors include time-outs.
        let (errors, timeouts) = (json.needed_count("/errors")?, json.needed_count("/timeouts")?);
        let ms = |key: &str| json.number(&format!("/latency/{key}"));
        let names =
            [("p50", 50.0), ("p75", 75.0), ("p90", 90.0), ("p97_5", 97.5), ("p99", 99.0), ("p99_9", 99.9)];
        let percentiles =
            names.into_iter().filter_map(|(name, percent)| Some((percent, ms(name)?))).collect();
        let mut figures = Figures {
            in_flight: connections.and_then(|connections| connections.checked_mul(pipelining)),
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            requests: json.count("/requests/sent").or_else(|| json.count("/requests/total")),
            successes: Some(successes),
            failures: Some(Bounds::exactly(statuses.saturating_add(errors))),
            kinds: named(&[
                ("status", statuses),
                ("timeout", timeouts),
                ("error", errors.saturating_sub(timeouts)),
            ]),
            timeouts: Some(timeouts),
            answers_per_second: json.number("/requests/average"),
            bytes_per_second: json.number("/throughput/average"),
            latencies: Latencies::printed(ms("average"), ms("max"), percentiles),
            ..Figures::default()
        };
        figures.notes.push(
            "latencies are whole milliseconds; answers per second is the mean of its samples".to_owned(),
        );
        if statuses > 0 {
            figures.notes.push(format!("the latencies include those of {statuses} answers that failed"));
        }
        if timeouts > 0 {
            figures.notes.push(format!("{timeouts} time-outs are not in the latencies"));
        }
        Ok(ParsedSummary { concurrency: connections, url: json.text("/url").map(str::to_owned), figures })
    }
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::only;

    #[test]
    fn errors_are_failures_beside_statuses() {
        let found = only("autocannon/failures.out");
        let figures = found.figures;
        assert_eq!(
            (found.concurrency, figures.requests, figures.successes),
            (Some(16), Some(9501), Some(8430))
        );
        assert_eq!((figures.failures.unwrap().least, figures.timeouts), (906 + 149, Some(26)));
        assert_eq!(figures.latencies.percentile(97.5), Some(78.0));
    }

    /// Before 7.0 there were no counts of each status, and before 7.8 no interval of samples.
    #[test]
    fn earlier_versions_are_read() {
        let text = "{\"title\": null, \"url\": \"http://h:3000\", \"requests\": {\"average\": 1000.5, \"total\": 10005, \
                    \"sent\": 10013}, \"latency\": {\"average\": 7.9, \"max\": 42, \"p50\": 7, \"p99\": 20}, \
                    \"throughput\": {\"average\": 5000, \"total\": 50000}, \"errors\": 2, \"timeouts\": 1, \
                    \"duration\": 10, \"connections\": 4, \"pipelining\": 2, \"non2xx\": 5, \"1xx\": 0, \
                    \"2xx\": 10000, \"3xx\": 0, \"4xx\": 0, \"5xx\": 5}";
        let found = crate::summaries::sections(text.as_bytes());
        let figures = &found.sections[0].figures;
        assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("autocannon", Some(4)));
        assert_eq!((figures.requests, figures.successes), (Some(10013), Some(10000)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.percentile(99.0)), (7, Some(20.0)));
        // Its command has the same number of pipelined requests.
        let with_command = format!("autocannon --json -c 4 -p 2 http://h:3000\n{text}");
        let found = crate::summaries::sections(with_command.as_bytes());
        assert_eq!(found.sections[0].figures.in_flight, Some(8));
    }
}
