//! h2load: failures include requests that it never sent.

use super::super::json::value::named;
use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::Told;
use super::super::split::lines::Line;
use super::super::split::section::{Section, needed};
use super::super::tool::TextTool;
use super::super::units;

pub(crate) struct H2load;

impl TextTool for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn begins(&self, line: Line<'_>) -> bool {
        line.trimmed() == "starting benchmark..." && line.next().trimmed().contains(" total client(s)")
    }

    fn read(&self, section: &Section<'_>) -> Result<Told, String> {
        let clients: u64 = section.each(clients_of_thread).iter().sum();
        let concurrency = u32::try_from(clients).ok().filter(|clients| *clients > 0);
        let figures = figures(section).unwrap_or_else(Figures::aborted);
        Ok(Told { concurrency, url: None, figures: Figures { in_flight: concurrency, ..figures } })
    }
}

/// Reads `spawning thread #0: 16 total client(s). 3000 total requests`.
fn clients_of_thread(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("spawning thread #")?.split_once(": ")?;
    units::count(rest.split_once(" total client(s)")?.0)
}

fn figures(section: &Section<'_>) -> Result<Figures, String> {
    let finished = needed(section.after("finished in "), "finished in")?;
    let mut parts = finished.split(", ");
    let time = parts.next().and_then(units::time_ms);
    let seconds = Some(needed(time, "finished in TIME")? / 1e3);
    let rate = parts.next().and_then(|text| units::number(text.strip_suffix(" req/s")?));
    let rate = Some(needed(rate, "req/s")?);
    let counts = needed(section.after("requests:"), "requests:")?;
    let of = |name: &str| {
        let count = counts.split(',').find_map(|part| part.trim().strip_suffix(name)).and_then(units::count);
        count.ok_or_else(|| format!("the requests \"{counts}\" have no count of {name}"))
    };
    let (total, started, succeeded, timeouts) =
        (of("total")?, of("started")?, of("succeeded")?, of("timeout")?);
    let failures = started.saturating_sub(succeeded);
    let codes = section.after("status codes:").unwrap_or_default();
    let code =
        |name: &str| codes.split(',').find_map(|part| part.trim().strip_suffix(name)).and_then(units::count);
    let statuses = code("4xx").unwrap_or_default().saturating_add(code("5xx").unwrap_or_default());
    let bytes =
        section.after("traffic:").and_then(|text| units::count(text.split_once('(')?.1.split_once(')')?.0));
    let row = section.after("time for request:").unwrap_or_default();
    let mut columns = row.split_whitespace().map(units::time_ms);
    let (_min, max, mean) = (columns.next(), columns.next().flatten(), columns.next().flatten());
    section.after("req/s           :");
    let mut figures = Figures {
        duration: seconds.filter(|seconds| *seconds > 0.0),
        requests: Some(started),
        successes: Some(succeeded),
        failures: Some(Bounds::exactly(failures)),
        kinds: named(&[
            ("status", statuses),
            ("timeout", timeouts),
            ("error", failures.saturating_sub(statuses.saturating_add(timeouts))),
        ]),
        timeouts: Some(timeouts),
        answers_per_second: rate,
        bytes_per_second: bytes
            .zip(seconds)
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(bytes, seconds)| bytes as f64 / seconds),
        latencies: Latencies::printed(mean, max, Vec::new()),
        ..Figures::default()
    };
    if let Some(unsent) = total.checked_sub(started).filter(|unsent| *unsent > 0) {
        figures
            .notes
            .push(format!("{unsent} of {total} requests were never sent: h2load does not connect again"));
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{only, read};

    #[test]
    fn requests_that_were_never_sent_are_no_failures() {
        let found = only("h2load/failures.out");
        assert_eq!((found.concurrency, found.figures.requests), (Some(16), Some(913)));
        assert_eq!((found.figures.successes, found.figures.failures.unwrap().least), (Some(812), 101));
        assert!(found.figures.notes[0].starts_with("1087 of 2000 requests were never sent"));
        assert_eq!(found.figures.latencies.mean_ms, Some(6.39));
        assert_eq!(read("h2load/failures.out").ignored, 0);
    }
}
