//! Fortio's JSON (`fortio load -json`), whose percentiles are interpolated within the buckets of its histogram.

use serde_json::Value;

use crate::date::rfc3339_ns;
use crate::summaries::json::{JsonValue, is_success, named, sum};
use crate::summaries::tool::{JsonTool, ParsedSummary};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Fortio;

/// The codes of a call of gRPC and of a TCP or UDP exchange that succeeded.
const SUCCESSES: [&str; 2] = ["SERVING", "OK"];

/// The rate of a run for which none was set, so that each thread sends its next request when an answer arrives.
const NO_RATE: &str = "max";

/// The code of an HTTP request without an answer.
const NO_ANSWER: &str = "-1";

impl JsonTool for Fortio {
    fn name(&self) -> &'static str {
        "fortio"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/DurationHistogram/Count", "/RequestedQPS", "/ActualDuration", "/NumThreads", "/RetCodes"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        // Of a run that could not begin, the histograms are made up.
        if value.pointer("/error").and_then(Value::as_bool) == Some(true) {
            let reasons = ["/message", "/exception"].into_iter().filter_map(|key| json.text(key));
            return Err(reasons.collect::<Vec<_>>().join(": "));
        }
        // Of gRPC, threads are counted with their streams.
        let threads = json.count("/NumThreads").and_then(|count| u32::try_from(count).ok());
        let rate = json.text("/RequestedQPS");
        let seconds = Some(json.needed("/ActualDuration")? / 1e9).filter(|seconds| *seconds > 0.0);
        let mut figures = Figures {
            in_flight: threads.filter(|_| rate == Some(NO_RATE)),
            duration: seconds,
            answers_per_second: json.number("/ActualQPS"),
            bytes_per_second: bytes(json).zip(seconds).map(|(bytes, seconds)| bytes / seconds),
            latencies: latencies(json)?,
            began_ms: json.text("/StartTime").and_then(rfc3339_ns).map(|ns| ns.div_euclid(1_000_000)),
            ..Figures::default()
        };
        count_into(json, &mut figures)?;
        if let Some(rate) = rate.filter(|rate| *rate != NO_RATE) {
            figures.notes.push(format!("the rate was set to {rate} per second"));
        }
        if let Some(requested) = json.text("/RequestedDuration").filter(|text| text.contains("interrupted")) {
            figures.notes.push(format!("the run ended early: {requested}"));
        }
        let url = json.text("/URL").or_else(|| json.text("/Destination")).map(str::to_owned);
        Ok(ParsedSummary { concurrency: threads, url, figures })
    }
}

/// The bytes that were received, if the run counts them: of HTTP, or of TCP and UDP.
fn bytes(json: JsonValue<'_>) -> Option<f64> {
    json.number("/Sizes/Sum").or_else(|| json.number("/BytesReceived"))
}

/// Reads the latencies of all requests; none if there was no request, of which Fortio writes zeros.
fn latencies(json: JsonValue<'_>) -> Result<Latencies, String> {
    if json.needed_count("/DurationHistogram/Count")? == 0 {
        return Ok(Latencies::default());
    }
    let ms = |key: &str| json.number(key).map(units::seconds_ms);
    let list = json.at("/DurationHistogram/Percentiles").and_then(|list| list.0.as_array());
    let percentile = |entry: &Value| {
        let entry = JsonValue(entry);
        Some((entry.number("/Percentile")?, units::seconds_ms(entry.number("/Value")?)))
    };
    let percentiles = list.into_iter().flatten().filter_map(percentile).collect();
    Ok(Latencies::printed(ms("/DurationHistogram/Avg"), ms("/DurationHistogram/Max"), percentiles))
}

/// Adds the counts, and what there is to know of them.
fn count_into(json: JsonValue<'_>, figures: &mut Figures) -> Result<(), String> {
    let codes = json.counts("/RetCodes")?;
    let of =
        |has: &dyn Fn(&str) -> bool| sum(codes.iter().filter(|(code, _)| has(code)).map(|(_, count)| *count));
    let succeeds = |code: &str| is_success(code) || SUCCESSES.contains(&code);
    let is_status = |code: &str| code.parse::<u16>().is_ok();
    // Not the sum of the codes: Fortio counts an error of a call of gRPC by reflection as two of them.
    let requests = json.needed_count("/DurationHistogram/Count")?;
    let successes = of(&succeeds).min(requests);
    let failures = requests.saturating_sub(successes);
    let statuses = of(&|code| is_status(code) && !succeeds(code));
    let unanswered = of(&|code| code == NO_ANSWER);
    figures.requests = Some(requests);
    figures.successes = Some(successes);
    figures.failures = Some(Bounds::exactly(failures));
    figures.kinds = named(&[
        ("status", statuses),
        ("no answer", unanswered),
        ("error", failures.saturating_sub(statuses).saturating_sub(unanswered)),
    ]);
    figures.notes.push("the percentiles are interpolated within buckets of a histogram".to_owned());
    if json.text("/RunType") == Some("HTTP") {
        figures.notes.push(
            "Fortio sends again what was reset or late on a connection that had an answer before, and counts both as \
             one request"
                .to_owned(),
        );
    }
    if failures > 0 {
        figures.notes.push(format!("the latencies include those of {failures} requests that failed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::fixtures::{only, path};
    use crate::summaries::walk::FoundSection;

    fn has(figures: &Figures, note: &str) -> bool {
        figures.notes.iter().any(|found| found.contains(note))
    }

    fn changed(name: &str, from: &str, to: &str) -> FoundSection {
        let text = std::fs::read_to_string(path(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        let mut found = crate::summaries::sections(text.replacen(from, to, 1).as_bytes());
        assert_eq!(found.sections.len(), 1, "{found:?}");
        found.sections.remove(0)
    }

    #[test]
    fn seconds_become_ms_and_a_rate_leaves_no_fixed_number_in_flight() {
        let found = only("fortio/clean.json");
        let figures = &found.figures;
        assert_eq!((found.tool, found.concurrency), ("fortio", Some(8)));
        assert_eq!(found.url.as_deref(), Some("http://127.0.0.1:8120/hello"));
        assert_eq!((figures.requests, figures.successes, figures.timeouts), (Some(2000), Some(2000), None));
        assert_eq!((figures.failures.unwrap(), figures.kinds.len()), (Bounds::exactly(0), 0));
        assert_eq!((figures.in_flight, figures.duration), (None, Some(10.012_267_299)));
        assert_eq!(figures.began_ms, Some(1_796_054_294_913));
        assert!((figures.throughput().unwrap() - 199.754_954_624).abs() < 1e-9);
        assert!((figures.bytes_per_second.unwrap() - 15_580.886_460_7).abs() < 1e-6);
        let latencies = &figures.latencies;
        assert_eq!((latencies.mean_ms, latencies.max_ms), (Some(5.953_082_287), Some(30.586_486)));
        let percents: Vec<f64> = latencies.percentiles.iter().map(|found| found.percent).collect();
        assert_eq!(percents, [50.0, 75.0, 90.0, 99.0, 99.9]);
        assert!((latencies.percentile(99.0).unwrap() - 17.75).abs() < 1e-9);
        assert!(has(figures, "rate was set to 200 per second") && has(figures, "interpolated"));
        assert!(!has(figures, "failed") && !has(figures, "ended early"), "{:?}", figures.notes);
    }

    #[test]
    fn answers_of_500_and_none_are_failures_and_redirects_are_not() {
        let found = only("fortio/failures.json");
        let figures = &found.figures;
        // Of the codes 200, 302, 500, 503 and -1; Fortio counts 326 errors, with the 81 redirects.
        assert_eq!((figures.requests, figures.successes), (Some(4000), Some(3674 + 81)));
        assert_eq!(figures.failures.unwrap(), Bounds::exactly(161 + 82 + 2));
        assert_eq!(figures.kinds, [("status".to_owned(), 243), ("no answer".to_owned(), 2)]);
        assert_eq!((figures.in_flight, found.concurrency), (Some(16), Some(16)));
        assert!((figures.throughput().unwrap() - 694.520_005_863).abs() < 1e-9);
        assert_eq!(figures.latencies.percentile(95.0).map(|ms| (ms * 1e6).round()), Some(14_849_315.0));
        assert_eq!(figures.latencies.max_ms, Some(1_023.733_19));
        assert!(has(figures, "include those of 245 requests that failed") && has(figures, "sends again"));
        assert!(!has(figures, "rate was set"));
    }

    #[test]
    fn calls_of_grpc_and_tcp_have_codes_by_name_and_no_path() {
        let found = only("fortio/grpc.json");
        let figures = &found.figures;
        // Four threads of two streams each.
        assert_eq!((found.concurrency, found.url.as_deref()), (Some(8), Some("127.0.0.1:8131")));
        assert_eq!((figures.requests, figures.successes), (Some(1000), Some(1000)));
        assert_eq!((figures.bytes_per_second, has(figures, "sends again")), (None, false));
        // Fortio counts an error of a call by reflection as two.
        let failing = changed("fortio/grpc.json", "\"SERVING\": 1000", "\"SERVING\": 990, \"ERROR\": 20");
        assert_eq!(failing.figures.failures, Some(Bounds::exactly(10)));
        assert_eq!(failing.figures.kinds, [("error".to_owned(), 10)]);
        let tcp = changed("fortio/grpc.json", "\"SERVING\": 1000", "\"OK\": 999, \"no route\": 1");
        assert_eq!((tcp.figures.successes, tcp.figures.kinds), (Some(999), vec![("error".to_owned(), 1)]));
    }

    #[test]
    fn run_that_was_interrupted_or_could_not_begin_says_so() {
        let cut = changed(
            "fortio/failures.json",
            "exactly 4000 calls",
            "exactly 5000 calls, interrupted after 4000",
        );
        assert!(has(&cut.figures, "ended early: exactly 5000 calls, interrupted after 4000"));
        let error = "\"error\": true, \"message\": \"Aborting\", \"exception\": \"no such host\", \"RetCodes\": null,";
        let aborted = changed("fortio/clean.json", "\"RetCodes\": {\n    \"200\": 2000\n  },", error);
        assert_eq!(aborted.figures, Figures::aborted("Aborting: no such host"));
        let idle = changed("fortio/clean.json", "\"Count\": 2000", "\"Count\": 0");
        assert_eq!((idle.figures.latencies, idle.figures.requests), (Latencies::default(), Some(0)));
        let wrong = changed("fortio/clean.json", "\"200\": 2000", "\"200\": -1");
        assert!(wrong.figures.aborted.unwrap().contains("/RetCodes/200"));
    }

    /// Before 1.28 there was no histogram of errors.
    #[test]
    fn earlier_versions_are_read() {
        let text = "{\"RunType\": \"HTTP\", \"Labels\": \"a\", \"StartTime\": \"2017-11-20T12:00:00.5-08:00\", \
                    \"RequestedQPS\": \"max\", \"RequestedDuration\": \"10s\", \"ActualQPS\": 50, \
                    \"ActualDuration\": 10000000000, \"NumThreads\": 4, \"Version\": \"1.0.0\", \"DurationHistogram\": \
                    {\"Count\": 500, \"Min\": 0.001, \"Max\": 0.2, \"Sum\": 5, \"Avg\": 0.01, \"StdDev\": 0.1, \"Data\": \
                    [{\"Start\": 0.001, \"End\": 0.2, \"Percent\": 100, \"Count\": 500}], \"Percentiles\": \
                    [{\"Percentile\": 50, \"Value\": 0.0093}]}, \"RetCodes\": {\"200\": 490, \"503\": 10}, \"URL\": \"http://h/a\"}";
        let found = crate::summaries::sections(text.as_bytes());
        let figures = &found.sections[0].figures;
        assert_eq!((figures.requests, figures.successes, figures.in_flight), (Some(500), Some(490), Some(4)));
        assert_eq!((figures.began_ms, figures.bytes_per_second), (Some(1_511_208_000_500), None));
        assert_eq!((figures.latencies.percentile(50.0), figures.latencies.mean_ms), (Some(9.3), Some(10.0)));
    }
}
