//! h2load: failures include requests that it never sent.

use super::answers::on_their_way;
use crate::summaries::json::named;
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct H2load;

/// The line of each thread of a run by time.
const TIMED: &str = "Timing-based test";

impl TextTool for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        line.trimmed() == "starting benchmark..."
            && CLIENTS.iter().any(|words| line.next().trimmed().contains(words))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let clients: u64 = section.each(clients_of_thread).iter().sum();
        let concurrency = u32::try_from(clients).ok().filter(|clients| *clients > 0);
        let figures = figures(section).unwrap_or_else(Figures::aborted);
        // How many streams each client has is in the command only.
        Ok(ParsedSummary { concurrency, url: None, figures })
    }
}

/// The text after the number of a thread's clients: since 1.0, and before.
const CLIENTS: [&str; 2] = [" total client(s)", " concurrent clients"];

/// Reads `spawning thread #0: 16 total client(s). 3000 total requests`.
fn clients_of_thread(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("spawning thread #")?.split_once(": ")?;
    units::count(CLIENTS.iter().find_map(|words| rest.split_once(words))?.0)
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
    let (total, started, done) = (of("total")?, of("started")?, of("done")?);
    let (succeeded, failed) = (of("succeeded")?, of("failed")?);
    // Before 1.0 there were none.
    let timeouts = of("timeout").unwrap_or_default();
    // By time, what was begun and neither succeeded nor failed was on its way at the end.
    let is_timed = total < started || section.find(|line| line.contains(TIMED).then_some(())).is_some();
    let failures = if is_timed {
        failed.max(total.saturating_sub(succeeded))
    } else {
        started.saturating_sub(succeeded)
    };
    let requests = succeeded.saturating_add(failures);
    let codes = section.after("status codes:").unwrap_or_default();
    let code =
        |name: &str| codes.split(',').find_map(|part| part.trim().strip_suffix(name)).and_then(units::count);
    let statuses = code("4xx").unwrap_or_default().saturating_add(code("5xx").unwrap_or_default());
    let bytes =
        section.after("traffic:").and_then(|text| units::count(text.split_once('(')?.1.split_once(')')?.0));
    // The printed rate is of all answers, and more exact than the printed time, which a warm-up is in.
    let answers = succeeded.saturating_add(statuses).min(done);
    let by_rate = rate.map(|rate| answers as f64 / rate).filter(|seconds| seconds.is_finite());
    let seconds = by_rate.or(seconds);
    let mut figures = Figures {
        duration: seconds.filter(|seconds| *seconds > 0.0),
        requests: Some(requests),
        successes: Some(succeeded),
        failures: Some(Bounds::exactly(failures)),
        kinds: named(&[
            ("status", statuses.min(failures)),
            ("timeout", timeouts),
            ("error", failures.saturating_sub(statuses.saturating_add(timeouts))),
        ]),
        timeouts: Some(timeouts),
        answers_per_second: rate,
        bytes_per_second: bytes
            .zip(seconds)
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(bytes, seconds)| bytes as f64 / seconds),
        latencies: latencies(section),
        ..Figures::default()
    };
    let at_the_end = started.saturating_sub(requests);
    if at_the_end > 0 {
        figures.notes.push(on_their_way(at_the_end));
    }
    if let Some(unsent) = total.checked_sub(started).filter(|unsent| *unsent > 0) {
        figures
            .notes
            .push(format!("{unsent} of {total} requests were never sent: h2load does not connect again"));
    }
    Ok(figures)
}

/// Reads the times of requests, whose columns are named above them. The other rows are those of each client.
fn latencies(section: &Section<'_>) -> Latencies {
    let names = section.find(|line| line.starts_with("min ").then_some(line)).unwrap_or_default();
    let row = section.find(|line| {
        let later = || line.strip_prefix("request")?.trim_start().strip_prefix(':');
        line.strip_prefix("time for request:").or_else(later)
    });
    section.all(|line| {
        let (name, _) = line.split_once(':').unwrap_or_default();
        ["req/s", "min RTT", "packets lost"].contains(&name.trim_end())
    });
    let (mut mean, mut max, mut percentiles) = (None, None, Vec::new());
    for (name, time) in names.split_whitespace().zip(row.unwrap_or_default().split_whitespace()) {
        let ms = units::time_ms(time);
        match name {
            "mean" => mean = ms,
            "max" => max = ms,
            "median" => percentiles.extend(ms.map(|ms| (50.0, ms))),
            name => percentiles.extend(name.strip_prefix('p').and_then(units::number).zip(ms)),
        }
    }
    Latencies::printed(mean, max, percentiles)
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::{only, read};

    #[test]
    fn requests_that_were_never_sent_are_no_failures() {
        let found = only("h2load/failures.out");
        assert_eq!((found.concurrency, found.figures.requests), (Some(16), Some(913)));
        assert_eq!((found.figures.successes, found.figures.failures.unwrap().least), (Some(812), 101));
        assert!(found.figures.notes[0].starts_with("1087 of 2000 requests were never sent"));
        assert_eq!(found.figures.latencies.mean_ms, Some(6.39));
        assert_eq!(read("h2load/failures.out").ignored, 0);
    }

    /// What h2load prints of a run by time: `-D 20` after 5 s of warm-up.
    fn timed(command: &str, finished: &str, counts: &str) -> String {
        format!(
            "{command}starting benchmark...\nspawning thread #0: 4 total client(s). Timing-based test with 5s of warm-up \
             time and 20s of main duration for measurements.\nWarm-up started for thread #0.\n\
             Application protocol: h2\nStopped all clients for thread #0\n\nfinished in {finished}, 1.00MB/s\n\
             requests: {counts}, 0 timeout\nstatus codes: 1250 2xx, 0 3xx, 0 4xx, 0 5xx\n\
             traffic: 1.00MB (1048576) total, 1.00KB (1024) headers (space savings 95.00%), 1.00MB (1047552) data\n\
             \x20                    min         max         mean         sd        +/- sd\n\
             time for request:    82.96ms    923.99ms    703.65ms     19.55ms    45.83%\n\
             time for connect:       61us        61us        61us         0us   100.00%\n"
        )
    }

    fn one(text: &str) -> crate::summaries::walk::FoundSection {
        crate::summaries::sections(text.as_bytes()).sections.remove(0)
    }

    #[test]
    fn throughput_is_the_printed_rate() {
        let all = "1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored";
        let figures = one(&timed("", "25.01s, 50.00 req/s", all)).figures;
        assert_eq!((figures.throughput(), figures.duration), (Some(50.0), Some(20.0)), "without the warm-up");
        assert_eq!(figures.bytes_per_second, Some(1_048_576.0 / 20.0));
        assert_eq!(only("h2load/clean.out").figures.throughput(), Some(1684.66), "not 3,000 in 1.78 s");
        // 899 answers, 87 of them failures, in 2.68 s.
        let failing = only("h2load/failures.out").figures;
        assert!((failing.throughput().unwrap() - 812.0 / 899.0 * 335.33).abs() < 1e-9, "{failing:?}");
        // Where nothing was answered there is no rate.
        let none = "0 total, 4 started, 0 done, 0 succeeded, 0 failed, 0 errored";
        assert_eq!(one(&timed("", "25.01s, 0.00 req/s", none)).figures.throughput(), Some(0.0));
    }

    #[test]
    fn requests_in_flight_at_the_end_are_no_failures() {
        let counts = "1000 total, 1040 started, 1000 done, 1000 succeeded, 0 failed, 0 errored";
        let by_text = timed("", "20.00s, 50.00 req/s", counts);
        let by_command = timed("$ h2load -c4 -D20 https://h/\n", "20.00s, 50.00 req/s", counts).replace(
            "Timing-based test with 5s of warm-up time and 20s of main duration for measurements.",
            "",
        );
        for text in [by_text, by_command] {
            let figures = one(&text).figures;
            assert_eq!((figures.requests, figures.successes), (Some(1000), Some(1000)));
            assert_eq!(figures.failures.unwrap().to_string(), "0");
            assert!(figures.notes[0].starts_with("40 requests were on their way"), "{:?}", figures.notes);
        }
        let failed = "1000 total, 1040 started, 995 done, 990 succeeded, 10 failed, 5 errored";
        let figures = one(&timed("", "20.00s, 49.50 req/s", failed)).figures;
        assert_eq!((figures.requests, figures.successes), (Some(1000), Some(990)));
        assert_eq!(figures.failures.unwrap().to_string(), "10");
    }

    #[test]
    fn streams_of_each_client_are_in_flight() {
        let all = "1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored";
        let by = |command: &str| one(&timed(command, "20.00s, 50.00 req/s", all)).figures;
        for (command, little) in [
            ("h2load -c4 -m10 -D20 https://h/\n", Some(800.0)),
            ("h2load -D20 --max-concurrent-streams=10 -c 4 https://h/\n", Some(800.0)),
            ("h2load -D20 https://h/\n", Some(80.0)),
            ("", None),
        ] {
            let figures = by(command);
            assert_eq!(figures.little_ms(), little, "{command}");
            let accused = figures.notes.iter().any(|note| note.contains("is above c/X"));
            assert_eq!(accused, little == Some(80.0), "{command}");
        }
    }

    #[test]
    fn rows_of_later_versions_have_percentiles() {
        let all = "1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored";
        let text = timed("", "20.00s, 50.00 req/s", all);
        let text = [
        text.split("         min ").next().unwrap(),
        "                 min         max         median      p95         p99         mean        sd         +/- sd\n\
             request     :        7us       461us        10us        15us     20.50ms        11us         3us    93.62%\n\
             connect     :       78us        97us        88us        97us        97us        88us         7us    50.00%\n\
             TTFB        :      258us       292us       275us       292us       292us       275us        16us    50.00%\n\
             req/s       :   63730.60    86812.79    78887.39    86812.79    86812.79    77079.54    11473.74    75.00%\n\
             min RTT     :        0us     10.42ms       394us     8.19ms    10.42ms     1.83ms      2.63ms    84.38%\n\
             packets lost:          0           0           0          0          0       0.00        0.00   100.00%\n",
    ]
    .concat();
        let found = crate::summaries::sections(text.as_bytes());
        assert_eq!(found.ignored, 0, "{:?}", found.first_ignored);
        let latencies = &found.sections[0].figures.latencies;
        assert_eq!((latencies.mean_ms, latencies.max_ms), (Some(0.011), Some(0.461)));
        let percentiles = [50.0, 95.0, 99.0].map(|percent| latencies.percentile(percent));
        assert_eq!(percentiles, [Some(0.01), Some(0.015), Some(20.5)]);
    }
}
