//! artillery's report (`--output`), whose percentiles are rounded to buckets.

use serde_json::Value;

use crate::summaries::json::{JsonValue, is_success, named, sum};
use crate::summaries::tool::{JsonTool, ParsedSummary};
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Artillery;

const TIMES: &str = "/aggregate/summaries/http.response_time";

impl JsonTool for Artillery {
    fn name(&self) -> &'static str {
        "artillery"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/aggregate/counters", "/aggregate/summaries"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        let counters = json.counts("/aggregate/counters")?;
        let with = |start: &'static str| {
            counters.iter().filter_map(move |(name, count)| Some((name.strip_prefix(start)?, *count)))
        };
        let requests =
            with("http.requests").map(|(_, count)| count).next().ok_or("its JSON counts no http.requests")?;
        let below_400 = sum(with("http.codes.").filter(|(code, _)| is_success(code)).map(|(_, count)| count));
        let statuses = sum(with("http.codes.").filter(|(code, _)| !is_success(code)).map(|(_, count)| count));
        let errors = sum(with("errors.").map(|(_, count)| count));
        let users_failed = sum(with("vusers.failed").map(|(_, count)| count));
        let answers = below_400.saturating_add(statuses);
        let failures = failures(requests, answers, statuses, errors, users_failed);
        let timeouts = sum(with("errors.ETIMEDOUT").map(|(_, count)| count));
        let from = json.needed("/aggregate/firstCounterAt")?;
        let seconds = (json.needed("/aggregate/lastCounterAt")? - from) / 1e3;
        let ms = |key: &str| json.number(&format!("{TIMES}/{key}"));
        let names =
            [("p50", 50.0), ("p75", 75.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)];
        let percentiles =
            names.into_iter().filter_map(|(name, percent)| Some((percent, ms(name)?))).collect();
        let bytes = with("http.downloaded_bytes").map(|(_, count)| count).next();
        let mut figures = Figures {
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            requests: Some(requests),
            successes: Some(requests.max(answers).saturating_sub(failures.greatest)),
            failures: Some(failures),
            kinds: named(&[
                ("status", statuses),
                ("timeout", timeouts),
                ("error", errors.saturating_sub(timeouts)),
            ]),
            timeouts: Some(timeouts),
            answers_per_second: Some(answers as f64 / seconds).filter(|_| seconds > 0.0),
            bytes_per_second: bytes.filter(|_| seconds > 0.0).map(|bytes| bytes as f64 / seconds),
            latencies: Latencies::printed(ms("mean"), ms("max"), percentiles),
            ..Figures::default()
        };
        figures
            .notes
            .push("artillery rounds percentiles to buckets, and includes answers that failed".to_owned());
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// Requests that failed: those without an answer, the answers that failed, and what was found wrong in others.
///
/// Errors beyond the requests without an answer are of answers, such as a capture that matched nothing. They may be of the
/// answers that failed, and no more requests fail by them than users do.
fn failures(requests: u64, answers: u64, statuses: u64, errors: u64, users_failed: u64) -> Bounds {
    let unanswered = requests.saturating_sub(answers);
    let (certain, of_answers) = (unanswered.saturating_add(statuses), errors.saturating_sub(unanswered));
    let all = requests.max(answers);
    let least = certain.saturating_add(of_answers.saturating_sub(statuses)).min(all);
    let greatest = certain.saturating_add(of_answers).min(users_failed).min(all);
    Bounds::between(least, greatest.max(least))
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::only;

    #[test]
    fn errors_are_no_responses() {
        let figures = only("artillery/report.json").figures;
        assert_eq!((figures.requests, figures.successes, figures.timeouts), (Some(578), Some(514), Some(5)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.percentile(99.0)), (64, Some(125.2)));
        let kinds: Vec<(&str, u64)> =
            figures.kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(kinds, [("status", 52), ("timeout", 5), ("error", 7)], "12 errors, and 52 of 566 answers");
    }

    /// Requests, successes and failures of a report with these counters.
    fn counted(counters: &str) -> (Option<u64>, Option<u64>, String) {
        let text = format!(
            "{{\"aggregate\": {{\"counters\": {{{counters}}}, \"firstCounterAt\": 1700000000000, \
             \"lastCounterAt\": 1700000010000, \"summaries\": {{}}}}}}"
        );
        let figures = crate::summaries::sections(text.as_bytes()).sections.remove(0).figures;
        (figures.requests, figures.successes, figures.failures.unwrap().to_string())
    }

    #[test]
    fn error_beside_an_answer_is_no_second_failure() {
        // 40 requests without an answer; 8 answers of 401, in which nothing was captured.
        let captures = "\"http.requests\": 100, \"http.codes.200\": 52, \"http.codes.401\": 8, \
                        \"errors.ETIMEDOUT\": 40, \"errors.Failed capture or match\": 8";
        for more in ["", ", \"vusers.failed\": 48"] {
            let (requests, successes, failures) = counted(&format!("{captures}{more}"));
            assert_eq!((requests, successes, failures.as_str()), (Some(100), Some(52), "48"), "{more}");
        }
        // What exceeds the answers that failed was found in answers of 200.
        let of_successes = "\"http.requests\": 100, \"http.codes.200\": 100, \"vusers.failed\": 20, \
                            \"errors.Failed capture or match\": 20";
        assert_eq!(counted(of_successes), (Some(100), Some(80), "20".to_owned()));
        // More than there are requests of any kind.
        let too_many =
            "\"http.requests\": 100, \"http.codes.200\": 10, \"http.codes.500\": 5, \"errors.x\": 900";
        assert_eq!(counted(too_many), (Some(100), Some(0), "100".to_owned()));
    }

    #[test]
    fn failed_captures_may_be_of_answers_that_failed_or_not() {
        let counters = "\"http.requests\": 100, \"http.codes.200\": 90, \"http.codes.404\": 10, \
                        \"errors.Failed capture or match\": 10";
        assert_eq!(counted(counters), (Some(100), Some(90), "10".to_owned()));
        let bounded = format!("{counters}, \"vusers.failed\": 13");
        assert_eq!(counted(&bounded), (Some(100), Some(87), "10..13".to_owned()));
    }
}
