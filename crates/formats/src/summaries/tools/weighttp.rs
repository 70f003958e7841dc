//! weighttp: 0.3 prints lines, 0.5 a JSON object.

use crate::summaries::json::{JsonValue, Pruned};
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Weighttp;

impl TextTool for Weighttp {
    fn name(&self) -> &'static str {
        "weighttp"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let line = line.trimmed();
        line.starts_with("weighttp ") && line.contains("webserver benchmarking tool")
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let threads = section.each(connections_of_thread);
        let all: u64 = threads.iter().sum();
        let concurrency = u32::try_from(all).ok().filter(|all| *all > 0);
        section.each(|line| line.starts_with("progress:").then_some(()));
        let figures = match section.from(|line| line.trim() == "{") {
            Some((at, json)) => of_json(section, at, json),
            None => of_lines(section),
        };
        let figures = figures.unwrap_or_else(Figures::aborted);
        Ok(ParsedSummary { concurrency, url: None, figures: Figures { in_flight: concurrency, ..figures } })
    }
}

/// Reads `spawning thread #1: 16 concurrent requests, 800 total requests`.
fn connections_of_thread(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("spawning thread #")?.split_once(": ")?;
    rest.split_once(" concurrent requests").and_then(|(count, _)| units::count(count))
}

/// Reads the number before a unit, as in `470 millisec`.
fn before(text: &str, unit: &str) -> Option<f64> {
    let (head, _) = text.split_once(unit)?;
    head.split_whitespace().next_back().and_then(units::number)
}

fn of_lines(section: &Section<'_>) -> Result<Figures, String> {
    let finished = needed(section.after("finished in "), "finished in")?;
    let part = |unit: &str| before(finished, unit).unwrap_or_default();
    // In whole microseconds, which no sum of fractions would give.
    let us = (part(" min") * 60.0 + part(" sec")) * 1e6 + part(" millisec") * 1e3 + part(" microsec");
    let seconds = us / 1e6;
    let counts = needed(section.after("requests:"), "requests:")?;
    let of = |name: &str| {
        let count = counts.split(',').find_map(|part| part.trim().strip_suffix(name)).and_then(units::count);
        count.ok_or_else(|| format!("the requests \"{counts}\" have no count of {name}"))
    };
    // Errors are among the failed ones.
    let (failed, errored) = (of("failed")?, of("errored")?);
    let codes = section.after("status codes:").unwrap_or_default();
    let server_errors = ["4xx", "5xx"].map(|code| {
        codes
            .split(',')
            .find_map(|part| part.trim().strip_suffix(code))
            .and_then(units::count)
            .unwrap_or_default()
    });
    section.after("traffic:");
    let kinds = [("errored", errored), ("status", server_errors.iter().sum())];
    Ok(Figures {
        duration: Some(seconds).filter(|seconds| *seconds > 0.0),
        requests: Some(of("total")?),
        successes: Some(of("succeeded")?),
        failures: Some(Bounds::exactly(failed)),
        kinds: kinds.iter().filter(|(_, n)| *n > 0).map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        answers_per_second: before(finished, " req/s"),
        bytes_per_second: before(finished, " kbyte/s").map(|kib| kib * 1024.0),
        ..Figures::default()
    })
}

fn of_json(section: &Section<'_>, at: usize, text: &str) -> Result<Figures, String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Pruned>();
    let Pruned(value) = values
        .next()
        .ok_or("its JSON is missing")?
        .map_err(|problem| format!("its JSON can't be read: {problem}"))?;
    section.use_to(at + text.get(..values.byte_offset()).unwrap_or_default().matches('\n').count() + 1);
    let json = JsonValue(&value);
    let seconds = needed(json.number("/secs_elapsed"), "secs_elapsed")?;
    let requests = json.needed_count("/request_counts/started")?;
    let pass = json.needed_count("/response_counts/pass")?;
    let fail = json.needed_count("/response_counts/fail")?;
    let errors = json.count_or_zero("/response_counts/errs")?;
    let percents = ["50", "75", "90", "95", "99"];
    let at = |percent: &str| {
        Some((units::number(percent)?, json.number(&format!("/total_times/{percent}%"))? / 1e3))
    };
    let us = |key: &str| json.number(key).map(|us| us / 1e3);
    let status =
        json.count_or_zero("/status_codes/4xx")?.saturating_add(json.count_or_zero("/status_codes/5xx")?);
    let kinds = [("errors", errors), ("status", status)];
    let mut figures = Figures {
        duration: Some(seconds).filter(|seconds| *seconds > 0.0),
        requests: Some(requests),
        successes: Some(pass),
        failures: Some(Bounds::exactly(fail.saturating_add(errors))),
        kinds: kinds.iter().filter(|(_, n)| *n > 0).map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        answers_per_second: json.number("/reqs_per_sec"),
        bytes_per_second: json
            .count("/traffic/bytes_total")
            .filter(|_| seconds > 0.0)
            .map(|bytes| bytes as f64 / seconds),
        latencies: Latencies::printed(
            us("/total_times/avg"),
            us("/total_times/100%"),
            percents.into_iter().filter_map(at).collect(),
        ),
        ..Figures::default()
    };
    if fail > 0 {
        figures.notes.push("the latencies include those of failures".to_owned());
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::{only, read};

    #[test]
    fn json_of_later_versions_is_read() {
        let found = only("weighttp/failures.out");
        assert_eq!(
            (found.concurrency, found.figures.requests, found.figures.successes),
            (Some(16), Some(2000), Some(1777))
        );
        assert_eq!(found.figures.failures.unwrap().to_string(), "223");
        assert_eq!(
            (found.figures.latencies.percentile(99.0), found.figures.latencies.mean_ms),
            (Some(35.813), Some(17.067))
        );
    }

    #[test]
    fn lines_of_earlier_versions_are_read() {
        // Rewritten in the form of 0.3.
        let text = "weighttp -n 5000000 -c 128 -t 8 -k http://10.0.0.9:8080/json\n\
                    weighttp 0.3 - a lightweight and simple webserver benchmarking tool\n\nstarting benchmark...\n\
                    spawning thread #1: 64 concurrent requests, 2500000 total requests\n\
                    spawning thread #2: 64 concurrent requests, 2500000 total requests\nprogress: 100% done\n\n\
                    finished in 31 sec, 470 millisec and 472 microsec, 158879 req/s, 46081 kbyte/s\n\
                    requests: 5000000 total, 5000000 started, 5000000 done, 5000000 succeeded, 0 failed, 0 errored\n\
                    status codes: 5000000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                    traffic: 1485000000 bytes total, 1105000000 bytes http, 380000000 bytes data\n";
        let found = crate::summaries::sections(text.as_bytes());
        assert_eq!((found.sections.len(), found.ignored), (1, 0), "{:?}", found.first_ignored);
        let section = &found.sections[0];
        assert_eq!(
            (section.concurrency, section.url.as_deref()),
            (Some(128), Some("http://10.0.0.9:8080/json"))
        );
        let figures = &section.figures;
        assert_eq!((figures.duration, figures.answers_per_second), (Some(31.470_472), Some(158_879.0)));
        assert_eq!((figures.requests, figures.successes), (Some(5_000_000), Some(5_000_000)));
        assert_eq!(figures.bytes_per_second, Some(46_081.0 * 1024.0));
        assert_eq!(figures.latencies.source, None, "0.3 has no latencies");
    }

    #[test]
    fn both_tools_of_one_file_are_told_apart() {
        let found = read("wrk/workers/result_w4_1.log");
        let tools: Vec<&str> = found.sections.iter().map(|section| section.tool).collect();
        assert_eq!(tools, ["weighttp", "wrk", "weighttp", "wrk"]);
        assert_eq!(found.ignored, 0, "{:?}", found.first_ignored);
        assert_eq!(found.sections[0].url.as_deref(), Some("http://127.0.0.1:8200/json"), "by the command");
        assert_eq!(found.sections[1].figures.answers_per_second, Some(842.73));
    }
}
