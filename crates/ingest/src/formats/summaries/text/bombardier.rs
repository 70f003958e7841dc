//! bombardier's plain text.

use super::super::json::bombardier::RETRIES;
use super::super::json::value::named;
use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::Told;
use super::super::split::lines::Line;
use super::super::split::section::{Section, needed};
use super::super::tool::TextTool;
use super::super::units;
use super::wrk;

pub(crate) struct Bombardier;

/// The most words of its first line that are looked at.
const MOST_WORDS: usize = 100;

impl TextTool for Bombardier {
    fn name(&self) -> &'static str {
        "bombardier"
    }

    fn begins(&self, line: Line<'_>) -> bool {
        let is_banner = |line: &str| line.starts_with("Bombarding ") && line.ends_with(" connection(s)");
        // Before JSON the same lines are progress.
        let mut own = line.below().map(Line::trimmed).take_while(|line| !is_banner(line));
        is_banner(line.trimmed()) && !own.any(|line| line.starts_with("{\"spec\""))
    }

    fn read(&self, section: &Section<'_>) -> Result<Told, String> {
        let words: Vec<&str> = section.first().split_whitespace().take(MOST_WORDS).collect();
        let before = |word: &str| {
            words.iter().position(|found| *found == word).and_then(|at| words.get(at.checked_sub(1)?))
        };
        let connections = before("connection(s)").and_then(|text| text.parse().ok());
        let url = words.get(1).map(|url| (*url).to_owned());
        let seconds = before("using").and_then(|text| units::time_ms(text)).map(|ms| ms / 1e3);
        let figures = figures(section, seconds).unwrap_or_else(Figures::aborted);
        Ok(Told { concurrency: connections, url, figures: Figures { in_flight: connections, ..figures } })
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
    let mut figures = Figures {
        duration: seconds.filter(|seconds| *seconds > 0.0),
        requests: Some(successes.saturating_add(failures)),
        successes: Some(successes),
        failures: Some(Bounds::exactly(failures)),
        kinds: named(&[("status", statuses), ("other", others)]),
        answers_per_second: Some(rate),
        bytes_per_second: section.after("Throughput:").and_then(units::bytes),
        latencies: Latencies::printed(mean, max, section.each(wrk::percentile)),
        notes: vec![RETRIES.to_owned()],
        ..Figures::default()
    };
    figures.notes.push("its text has the requested duration, not the measured one".to_owned());
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

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
}
