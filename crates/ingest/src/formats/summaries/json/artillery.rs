//! artillery's report (`--output`), whose percentiles are rounded to buckets.

use serde_json::Value;

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::Told;
use super::super::tool::JsonTool;
use super::value::{Json, is_success, named, sum};

pub(crate) struct Artillery;

const TIMES: &str = "/aggregate/summaries/http.response_time";

impl JsonTool for Artillery {
    fn name(&self) -> &'static str {
        "artillery"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/aggregate/counters", "/aggregate/summaries"]
    }

    fn read(&self, value: &Value) -> Result<Told, String> {
        let json = Json(value);
        let counters = json.counts("/aggregate/counters")?;
        let with = |start: &'static str| {
            counters.iter().filter_map(move |(name, count)| Some((name.strip_prefix(start)?, *count)))
        };
        let requests =
            with("http.requests").map(|(_, count)| count).next().ok_or("its JSON counts no http.requests")?;
        let successes = sum(with("http.codes.").filter(|(code, _)| is_success(code)).map(|(_, count)| count));
        let statuses = sum(with("http.codes.").filter(|(code, _)| !is_success(code)).map(|(_, count)| count));
        let errors = sum(with("errors.").map(|(_, count)| count));
        let timeouts = sum(with("errors.ETIMEDOUT").map(|(_, count)| count));
        let from = json.needed("/aggregate/firstCounterAt")?;
        let seconds = (json.needed("/aggregate/lastCounterAt")? - from) / 1e3;
        let ms = |key: &str| json.number(&format!("{TIMES}/{key}"));
        let names =
            [("p50", 50.0), ("p75", 75.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)];
        let percentiles =
            names.into_iter().filter_map(|(name, percent)| Some((percent, ms(name)?))).collect();
        let bytes = with("http.downloaded_bytes").map(|(_, count)| count).next();
        let answers = successes.saturating_add(statuses);
        let mut figures = Figures {
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            requests: Some(requests),
            successes: Some(successes),
            failures: Some(Bounds::exactly(statuses.saturating_add(errors))),
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
        Ok(Told { figures, ..Told::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn errors_are_no_responses() {
        let figures = only("artillery/report.json").figures;
        assert_eq!((figures.requests, figures.successes, figures.timeouts), (Some(578), Some(514), Some(5)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.percentile(99.0)), (64, Some(125.2)));
        let kinds: Vec<(&str, u64)> =
            figures.kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(kinds, [("status", 52), ("timeout", 5), ("error", 7)], "12 errors, and 52 of 566 answers");
    }
}
