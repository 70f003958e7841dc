//! `vegeta report` as text.

use super::super::point::{Figures, Latencies};
use super::super::split::found::Told;
use super::super::split::lines::Line;
use super::super::split::section::{Section, needed};
use super::super::tool::TextTool;
use super::super::units;
use super::answers::vegeta_codes;

pub(crate) struct Vegeta;

const REQUESTS: &str = "Requests      [total, rate, throughput]";

impl TextTool for Vegeta {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn begins(&self, line: Line<'_>) -> bool {
        line.trimmed().starts_with(REQUESTS)
    }

    fn read(&self, section: &Section<'_>) -> Result<Told, String> {
        let row = |name: &str| {
            section.find(|line| line.strip_prefix(name)?.trim().strip_prefix('[')?.split_once(']'))
        };
        let (_, requests) = needed(row("Requests"), "Requests")?;
        let (_, durations) = needed(row("Duration"), "Duration")?;
        let (_, codes) = needed(row("Status Codes"), "Status Codes")?;
        let (names, times) = row("Latencies").unwrap_or_default();
        let seconds = durations.split(',').next().and_then(go_time_ms).map(|ms| ms / 1e3);
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
            answers_per_second: requests.split(',').nth(1).and_then(units::number),
            latencies: Latencies::printed(mean, max, percentiles),
            ..Figures::default()
        };
        vegeta_codes(&codes, &mut figures);
        Ok(Told { figures, ..Told::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// Reads a duration as Go writes it, such as `1m2.5s` or `692.689µs`.
fn go_time_ms(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (_, behind) = rest.split_at_checked(digits)?;
        let unit = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (part, others) = rest.split_at_checked(digits + unit)?;
        sum += units::time_ms(part)?;
        rest = others;
    }
    Some(sum).filter(|_| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::go_time_ms;

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
}
