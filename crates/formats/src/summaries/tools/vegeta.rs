//! `vegeta report` as text and JSON (`-type=json`), whose percentiles are estimated.

use serde_json::Value;

use crate::summaries::json::{JsonValue, is_success, named, sum};
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{JsonTool, ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct VegetaText;

impl TextTool for VegetaText {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        // Before version 12.6 the row has no throughput.
        let names = line.trimmed().strip_prefix("Requests").map(str::trim_start);
        names.is_some_and(|names| names.starts_with("[total, rate"))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let row = |name: &str| {
            section.find(|line| line.strip_prefix(name)?.trim().strip_prefix('[')?.split_once(']'))
        };
        let (_, requests) = needed(row("Requests"), "Requests")?;
        let (_, durations) = needed(row("Duration"), "Duration")?;
        let (_, codes) = needed(row("Status Codes"), "Status Codes")?;
        let (names, times) = row("Latencies").unwrap_or_default();
        let seconds = durations.split(',').next().and_then(go_time_ms).map(|ms| ms / 1e3);
        let mut rates = requests.split(',').skip(1).map(units::number);
        let (rate, throughput) = (rates.next().flatten(), rates.next().flatten());
        let (mut mean, mut max, mut percentiles) = (None, None, Vec::new());
        for (name, time) in names.split(',').zip(times.split(',')) {
            let ms = go_time_ms(time);
            match name.trim() {
                "mean" => mean = ms,
                "max" => max = ms,
                name => percentiles.extend(units::number(name).zip(ms)),
            }
        }
        let codes: Vec<(&str, u64)> = codes
            .split_whitespace()
            .map(|pair| {
                let read = pair.split_once(':').and_then(|(code, count)| Some((code, units::count(count)?)));
                read.ok_or_else(|| format!("the status code \"{pair}\" has no count"))
            })
            .collect::<Result<_, _>>()?;
        section.find(|line| line.starts_with("Error Set:").then_some(()));
        section.use_to(usize::MAX);
        let mut figures = Figures {
            duration: seconds.filter(|seconds| *seconds > 0.0),
            answers_per_second: rate,
            latencies: Latencies::printed(mean, max, percentiles),
            ..Figures::default()
        };
        vegeta_codes(&codes, &mut figures);
        if let (Some(seconds), Some(throughput), Some(successes)) =
            (figures.duration, throughput, figures.successes)
            && DECIMALS / throughput < rounding(seconds) / seconds
        {
            figures.duration = Some(successes as f64 / throughput).filter(|seconds| *seconds > 0.0);
        }
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// By how much a printed throughput may be off, in 1/s.
const DECIMALS: f64 = 0.005;

/// By how much a printed duration may be off, in seconds: it is rounded to the unit below its greatest one.
fn rounding(seconds: f64) -> f64 {
    match seconds {
        ..1.0 => 0.5e-6,
        ..60.0 => 0.5e-3,
        ..3600.0 => 0.5,
        _ => 30.0,
    }
}

/// Reads a duration as Go writes it, such as `1m2.5s` or `692.689µs`.
fn go_time_ms(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (_, after) = rest.split_at_checked(digits)?;
        let unit = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (part, others) = rest.split_at_checked(digits + unit)?;
        sum += units::time_ms(part)?;
        rest = others;
    }
    Some(sum).filter(|_| !text.trim().is_empty())
}

/// Adds the counts by code of vegeta's reports, where 0 is a request without an answer.
fn vegeta_codes(codes: &[(&str, u64)], figures: &mut Figures) {
    let successes = sum(codes.iter().filter(|(code, _)| is_success(code)).map(|(_, count)| *count));
    let unanswered = sum(codes.iter().filter(|(code, _)| *code == "0").map(|(_, count)| *count));
    let all = sum(codes.iter().map(|(_, count)| *count));
    let failures = all.saturating_sub(successes);
    figures.requests = Some(all);
    figures.successes = Some(successes);
    figures.failures = Some(Bounds::exactly(failures));
    figures.kinds = named(&[("status", failures.saturating_sub(unanswered)), ("no answer", unanswered)]);
    figures.notes.push(
        "vegeta's percentiles are estimated, and include failures: read its results instead".to_owned(),
    );
}

pub(super) struct VegetaJson;

impl JsonTool for VegetaJson {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/latencies/99th", "/status_codes", "/requests"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
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
    use super::*;
    use crate::summaries::fixtures::only;

    #[test]
    fn durations_of_go_are_read() {
        assert_eq!(
            (go_time_ms("1m2.5s"), go_time_ms(" 15.92ms"), go_time_ms("")),
            (Some(62_500.0), Some(15.92), None)
        );
        assert!((go_time_ms("692.689µs").unwrap() - 0.692_689).abs() < 1e-12);
        assert_eq!(
            (go_time_ms("5"), go_time_ms("x1s"), go_time_ms("1h0m1s")),
            (None, None, Some(3_601_000.0))
        );
    }

    fn report(requests: &str, duration: &str, codes: &str) -> perfpipe_model::points::Figures {
        let text = format!(
            "Requests      [total, rate{requests}\nDuration      [total, attack, wait]    {duration}\n\
             Latencies     [mean, 50, 95, 99, max]  19.402096ms, 12.844271ms, 54.65001ms, 96.276948ms, 135.597203ms\n\
             Bytes In      [total, mean]            5337500, 10675.00\nSuccess       [ratio]                  90.00%\n\
             Status Codes  [code:count]             {codes}\nError Set:\n"
        );
        crate::summaries::sections(text.as_bytes()).sections.remove(0).figures
    }

    #[test]
    fn printed_throughput_is_more_exact_than_whole_minutes() {
        let of = |requests: &str, duration: &str, codes: &str| {
            report(&format!(", throughput]         {requests}"), duration, codes).throughput().unwrap()
        };
        let long = of("42071837, 70119.49, 63548.87", "10m0s, 10m0s, 80.808ms", "0:3937292  200:38134545");
        assert!((long - 63_548.87).abs() < 1e-6, "{long}");
        // 3 requests in a minute: two decimals are less exact than the second.
        assert_eq!(of("3, 0.05, 0.05", "1m2s, 1m1s, 1s", "200:3"), 3.0 / 62.0);
        assert_eq!(of("500, 50.10, 0.00", "10s, 9.98s, 11ms", "0:500"), 0.0);
    }

    /// Before 12.6 there was no throughput, and durations were not rounded.
    #[test]
    fn earlier_versions_are_read() {
        let figures = report("]            500, 50.10", "9.991377689s, 9.97999997s, 11.377719ms", "200:500");
        assert_eq!((figures.requests, figures.successes), (Some(500), Some(500)));
        assert_eq!(figures.answers_per_second, Some(50.1));
        assert!((figures.duration.unwrap() - 9.991_377_689).abs() < 1e-12, "{figures:?}");
        assert_eq!(
            (figures.latencies.mean_ms, figures.latencies.percentile(99.0)),
            (Some(19.402_096), Some(96.276_948))
        );
    }

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
