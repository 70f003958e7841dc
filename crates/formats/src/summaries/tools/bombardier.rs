//! bombardier's plain text and JSON, which retried requests are not in.

use serde_json::Value;

use super::wrk;
use crate::summaries::json::{JsonValue, named, sum};
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{JsonTool, ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct BombardierText;

/// How its first line ends, the second time before version 1.2.
const CONNECTIONS: [&str; 2] = ["connection(s)", "connections"];

/// The most words of its first line that are looked at.
const MOST_WORDS: usize = 100;

impl TextTool for BombardierText {
    fn name(&self) -> &'static str {
        "bombardier"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let is_banner = |line: &str| {
            line.starts_with("Bombarding ") && CONNECTIONS.iter().any(|word| line.ends_with(word))
        };
        // Before JSON the same lines are progress.
        let mut own = line.below().map(TextLine::trimmed).take_while(|line| !is_banner(line));
        is_banner(line.trimmed()) && !own.any(|line| line.starts_with("{\"spec\""))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let words: Vec<&str> = section.first().split_whitespace().take(MOST_WORDS).collect();
        let before = |word: &str| {
            words.iter().position(|found| *found == word).and_then(|at| words.get(at.checked_sub(1)?))
        };
        let connections = CONNECTIONS.iter().find_map(|word| before(word)?.parse().ok());
        let url = words.get(1).map(|url| (*url).to_owned());
        let seconds = before("using").and_then(|text| units::time_ms(text)).map(|ms| ms / 1e3);
        let figures = figures(section, seconds).unwrap_or_else(Figures::aborted);
        Ok(ParsedSummary {
            concurrency: connections,
            url,
            figures: Figures { in_flight: connections, ..figures },
        })
    }
}

fn figures(section: &Section<'_>, seconds: Option<f64>) -> Result<Figures, String> {
    let rate = needed(section.number("Reqs/sec")?, "Reqs/sec")?;
    let codes = needed(section.find(|line| line.starts_with("1xx - ").then_some(line)), "HTTP codes")?;
    let of = |name: &str| {
        let count = codes.split(',').find_map(|part| part.trim().strip_prefix(name)).and_then(units::count);
        count.ok_or_else(|| format!("the codes \"{codes}\" have no count of {name}"))
    };
    let successes = of("1xx - ")?.saturating_add(of("2xx - ")?).saturating_add(of("3xx - ")?);
    let statuses = of("4xx - ")?.saturating_add(of("5xx - ")?);
    let others = section.count("others -")?.unwrap_or_default();
    let row =
        section.find(|line| line.strip_prefix("Latency ").filter(|rest| !rest.contains("Distribution")));
    let mut columns = row.unwrap_or_default().split_whitespace().map(units::time_ms);
    let (mean, _deviation, max) = (columns.next().flatten(), columns.next(), columns.next().flatten());
    let failures = statuses.saturating_add(others);
    let requests = successes.saturating_add(failures);
    let by_rate = Some(requests as f64 / rate).filter(|seconds| seconds.is_finite());
    let mut figures = Figures {
        duration: seconds.or(by_rate).filter(|seconds| *seconds > 0.0),
        requests: Some(requests),
        successes: Some(successes),
        failures: Some(Bounds::exactly(failures)),
        kinds: named(&[("status", statuses), ("other", others)]),
        answers_per_second: Some(rate),
        bytes_per_second: section.after("Throughput:").and_then(units::bytes),
        latencies: Latencies::printed(mean, max, section.each(wrk::percentile)),
        notes: vec![RETRIES.to_owned()],
        ..Figures::default()
    };
    let of_duration = match seconds {
        Some(_) => "its text has the requested duration, not the measured one",
        None => "its text has no duration: it is that of all requests at the mean rate",
    };
    figures.notes.push(of_duration.to_owned());
    Ok(figures)
}

pub(super) struct BombardierJson;

/// What bombardier reports in no format.
const RETRIES: &str =
    "bombardier's default client sends again what was reset or timed out, and counts neither";

impl JsonTool for BombardierJson {
    fn name(&self) -> &'static str {
        "bombardier"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/spec/numberOfConnections", "/result/timeTakenSeconds"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
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
    use crate::summaries::fixtures::{only, read};

    #[test]
    fn codes_are_counted() {
        let found = only("bombardier/plain.out");
        let figures = &found.figures;
        assert_eq!(
            (found.concurrency, found.url.as_deref()),
            (Some(16), Some("http://127.0.0.1:8120/hello"))
        );
        assert_eq!((figures.requests, figures.successes), (Some(4991), Some(4991)));
        assert_eq!((figures.latencies.mean_ms, figures.latencies.percentile(99.0)), (Some(9.6), Some(19.64)));
    }

    fn counted(banner: &str) -> crate::summaries::walk::FoundSection {
        let text = format!(
            "{banner}\n 100000 / 100000 [==================] 100.00% 8735/s 11s\nDone!\n\
             Statistics        Avg      Stdev        Max\n  Reqs/sec      8000.00    4966.11   56350.75\n  \
             Latency        5.71ms     4.35ms   376.70ms\n  HTTP codes:\n    1xx - 0, 2xx - 92000, 3xx - 0, 4xx - 0, 5xx - 0\n    \
             others - 8000\n  Errors:\n    dial tcp 127.0.0.1:3000: connect: connection refused - 8000\n  \
             Throughput:     1.83MB/s\n"
        );
        let mut found = crate::summaries::sections(text.as_bytes());
        assert_eq!((found.sections.len(), found.ignored), (1, 0), "{found:?}");
        found.sections.remove(0)
    }

    #[test]
    fn run_of_a_number_of_requests_has_its_rate() {
        for banner in [
            "Bombarding http://127.0.0.1:3000 with 100000 request(s) using 50 connection(s)",
            // Before 1.2 there were no brackets.
            "Bombarding http://127.0.0.1:3000 with 100000 requests using 50 connections",
        ] {
            let found = counted(banner);
            assert_eq!((found.concurrency, found.url.as_deref()), (Some(50), Some("http://127.0.0.1:3000")));
            let figures = &found.figures;
            assert_eq!((figures.requests, figures.successes), (Some(100_000), Some(92_000)));
            assert_eq!((figures.duration, figures.throughput()), (Some(12.5), Some(7360.0)));
            assert!(figures.notes.iter().any(|note| note.contains("has no duration")), "{:?}", figures.notes);
        }
        let timed = counted("Bombarding http://127.0.0.1:3000 for 10s using 50 connections");
        assert_eq!(timed.figures.duration, Some(10.0));
    }

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
