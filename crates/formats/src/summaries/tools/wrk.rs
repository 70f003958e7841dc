//! wrk 4: requests per second, and latencies that include invented ones; exact counts of each latency from the line
//! `WRKJSON`, which a Lua script has it print. wrk2: as wrk, at a constant rate, with latencies from the intended time of
//! sending.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Wrk;

/// Returns true if wrk or wrk2 begins here.
pub(super) fn begins(line: TextLine<'_>) -> bool {
    let next = line.next().trimmed();
    let line = line.trimmed();
    line.starts_with("Running ")
        && line.contains(" test @ ")
        && (next.is_empty() || next.contains(" threads and "))
}

impl TextTool for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        begins(line)
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let mut summary = counts(section)?;
        summary.figures.latencies = latencies(section);
        if let Some(dump) = section.after("WRKJSON ") {
            refine(&mut summary.figures, dump);
        }
        Ok(summary)
    }
}

/// Parses what wrk and wrk2 print in the same form.
pub(super) fn counts(section: &Section<'_>) -> Result<ParsedSummary, String> {
    let url = section.first().split_once(" test @ ").map(|(_, url)| url.trim().to_owned());
    let (threads, connections) = section.find(threads_and_connections).unzip();
    match figures(section, threads.unwrap_or(1), connections) {
        Ok(figures) => Ok(ParsedSummary { concurrency: connections, url, figures }),
        Err(reason) => Ok(ParsedSummary { concurrency: connections, url, figures: Figures::aborted(reason) }),
    }
}

fn figures(section: &Section<'_>, threads: u32, connections: Option<u32>) -> Result<Figures, String> {
    let (requests, printed) = needed(section.find(requests_and_seconds), "requests in")??;
    let rate = needed(section.number("Requests/sec:")?, "Requests/sec:")?;
    let errors = section.after("Socket errors:").map(socket_errors).transpose()?.unwrap_or_default();
    let status = section.count("Non-2xx or 3xx responses:")?.unwrap_or_default();
    let [connect, read, write, timeouts] = errors;
    let sockets = connect.saturating_add(read).saturating_add(write);
    // A late answer may also have a status above 399.
    let both = Bounds::between(timeouts.max(status), timeouts.saturating_add(status));
    let in_flight = connections.and_then(|connections| Some(connections.checked_div(threads)? * threads));
    let mut figures = Figures {
        in_flight,
        // The printed seconds have two decimals, or are minutes.
        duration: if rate > 0.0 { Some(requests as f64 / rate) } else { printed },
        requests: Some(requests),
        successes: Some(requests.saturating_sub(both.greatest)),
        failures: Some(Bounds::between(
            both.least.saturating_add(sockets),
            both.greatest.saturating_add(sockets),
        )),
        timeouts: Some(timeouts),
        answers_per_second: Some(rate),
        bytes_per_second: section.after("Transfer/sec:").and_then(units::bytes),
        ..Figures::default()
    };
    let kinds =
        [("connect", connect), ("read", read), ("write", write), ("timeout", timeouts), ("status", status)];
    figures.kinds = kinds.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| ((*kind).to_owned(), *n)).collect();
    if timeouts > 0 {
        figures.notes.push(format!(
            "{timeouts} time-outs are not in the latencies; requests without any answer are not counted"
        ));
    }
    if status > 0 {
        figures.notes.push(format!("the latencies include those of {status} answers that failed"));
    }
    if let (Some(asked), Some(opened)) = (connections, in_flight)
        && asked != opened
    {
        figures
            .notes
            .push(format!("{threads} threads share {asked} connections evenly: wrk opened {opened}"));
    }
    Ok(figures)
}

fn threads_and_connections(line: &str) -> Option<(u32, u32)> {
    let (threads, rest) = line.split_once(" threads and ")?;
    Some((threads.parse().ok()?, rest.strip_suffix(" connections")?.parse().ok()?))
}

/// Reads `2561 requests in 6.09s, 322.63KB read`.
fn requests_and_seconds(line: &str) -> Option<Result<(u64, Option<f64>), String>> {
    let (requests, rest) = line.split_once(" requests in ")?;
    let seconds = rest.split(',').next().and_then(units::time_ms).map(|ms| ms / 1000.0);
    let read = units::count(requests).ok_or_else(|| format!("\"{requests} requests\" is not a count"));
    Some(read.map(|requests| (requests, seconds)))
}

/// Reads `connect 0, read 116, write 0, timeout 0`.
fn socket_errors(text: &str) -> Result<[u64; 4], String> {
    let of = |name: &str| {
        let found = text.split(',').find_map(|part| part.trim().strip_prefix(name)).and_then(units::count);
        found.ok_or_else(|| format!("the socket errors \"{text}\" have no count of {name}"))
    };
    Ok([of("connect")?, of("read")?, of("write")?, of("timeout")?])
}

fn latencies(section: &Section<'_>) -> Latencies {
    let row = section.after("Latency ").filter(|row| !row.starts_with("Distribution")).unwrap_or_default();
    let mut columns = row.split_whitespace().map(units::time_ms);
    let (mean, _deviation, max) =
        (columns.next().flatten(), columns.next().flatten(), columns.next().flatten());
    // wrk prints 0.00us where it recorded nothing.
    if max.is_none_or(|max| max <= 0.0) {
        return Latencies::default();
    }
    Latencies::printed(mean, max, section.each(percentile))
}

/// Reads `99%  160.21ms` and `99.999%   36.74ms`.
pub(super) fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, value) = line.split_once('%')?;
    Some((units::number(percent)?, units::time_ms(value)?))
}

pub(super) struct Wrk2;

impl TextTool for Wrk2 {
    fn name(&self) -> &'static str {
        "wrk2"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let mut own = line.below().take_while(|line| !begins(*line)).map(TextLine::trimmed);
        begins(line)
            && own.any(|line| line.starts_with("Thread calibration:") || line.contains("(HdrHistogram"))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let mut summary = counts(section)?;
        summary.figures.in_flight = None;
        let mean = section.after("#[Mean").and_then(value);
        let max = section.after("#[Max").and_then(value);
        summary.figures.latencies = Latencies::printed(mean, max, section.each(percentile));
        let counted = section
            .find(|line| line.split_once("Total count")?.1.trim_matches([' ', '=', ']']).parse::<u64>().ok());
        if counted == Some(0) {
            // It prints 0.00us where it recorded nothing.
            summary.figures.latencies = Latencies::default();
        }
        if let (Some(counted), Some(requests)) = (counted, summary.figures.requests) {
            summary.figures.notes.push(format!(
                "latencies are of {counted} of {requests} requests, after the first seconds, from the intended time of sending"
            ));
        }
        section.find(|line| line.starts_with("#[Buckets").then_some(()));
        Ok(summary)
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// Reads the number of `= 6.854, StdDeviation = 4.062]`.
fn value(text: &str) -> Option<f64> {
    units::number(text.trim_start_matches([' ', '=']).split(',').next()?)
}

/// The largest plausible latency: wrk records none above its time-out.
const LONGEST_US: u64 = 3_600_000_000;

/// The most counts of a plausible dump.
const MOST_COUNTS: usize = 1 << 20;

#[derive(Deserialize)]
struct Dump {
    duration_us: u64,
    requests: u64,
    timeout: u64,
    counts: Vec<(u64, u64)>,
}

/// Replaces the printed latencies by exact ones, and removes those that wrk invented.
fn refine(figures: &mut Figures, text: &str) {
    let dump: Dump = match serde_json::from_str(text) {
        Ok(dump) => dump,
        Err(problem) => return figures.notes.push(format!("the line WRKJSON can't be read: {problem}")),
    };
    let is_large = |(value, count): &(u64, u64)| *value > LONGEST_US || *count > u64::from(u32::MAX);
    if dump.counts.len() > MOST_COUNTS || dump.counts.iter().any(is_large) {
        return figures.notes.push("the line WRKJSON has counts or latencies beyond any of wrk".to_owned());
    }
    figures.duration =
        Some(dump.duration_us as f64 / 1e6).filter(|seconds| *seconds > 0.0).or(figures.duration);
    let latencies: u64 = dump.counts.iter().map(|(_, count)| count).sum();
    let answered = dump.requests.saturating_sub(dump.timeout);
    let counts = match (figures.in_flight.and_then(|c| without_invented(&dump, c)), latencies == answered) {
        (Some(counts), _) => {
            if let Some(invented) = latencies.checked_sub(answered).filter(|invented| *invented > 0) {
                figures
                    .notes
                    .push(format!("{invented} of {latencies} latencies were invented by wrk, and removed"));
            }
            counts
        }
        (None, true) => dump.counts.iter().copied().collect(),
        (None, false) => {
            figures
                .notes
                .push(format!("{latencies} latencies for {answered} answers: wrk invented some of them"));
            dump.counts.iter().copied().collect()
        }
    };
    let counts: Vec<(u64, u64)> = counts.into_iter().collect();
    figures.latencies = Latencies::counted(&counts, 0.001);
}

/// Undoes wrk's correction of coordinated omission, which for each latency of at least twice the expected interval adds
/// ones that are shorter by one interval, two, and so on. `None` if what is left is not one latency an answer.
fn without_invented(dump: &Dump, connections: u32) -> Option<BTreeMap<u64, u64>> {
    let rounds = dump.requests.checked_div(u64::from(connections)).filter(|rounds| *rounds > 0)?;
    let expected = dump.duration_us.checked_div(rounds).filter(|expected| *expected > 0)?;
    let mut counts: BTreeMap<u64, u64> = dump.counts.iter().copied().collect();
    // What was added to shorter latencies that differ from a longer one by whole intervals, and which of them has to be there:
    // by what is left of them when divided by the interval.
    let mut added: HashMap<u64, (u64, Option<u64>)> = HashMap::new();
    // From the longest on down: the counts of shorter ones contain what the longer ones added.
    for (value, count) in counts.iter_mut().rev().take_while(|(value, _)| **value > expected) {
        let (sum, next) = added.entry(value % expected).or_default();
        if next.take().is_some_and(|next| next != *value) {
            return None;
        }
        *count = count.checked_sub(*sum)?;
        if *value >= expected.saturating_mul(2) {
            *sum = sum.checked_add(*count)?;
        }
        *next = Some(value - expected).filter(|next| *sum > 0 && *next > expected);
    }
    if added.values().any(|(_, next)| next.is_some()) {
        return None;
    }
    let left: u64 = counts.values().sum();
    (left == dump.requests.saturating_sub(dump.timeout)).then_some(counts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::summaries::fixtures::{only, read};
    use perfpipe_model::points::LatencySource;

    #[test]
    fn failures_are_told_by_kind() {
        let http = only("wrk/http500.txt");
        assert_eq!((http.figures.requests, http.figures.successes), (Some(5812), Some(5230)));
        let drop = only("wrk/drop.txt").figures;
        assert_eq!((drop.requests, drop.successes), (Some(5706), Some(5706)));
        assert_eq!(drop.failures.unwrap().to_string(), "116", "resets are not among the requests");
        let late = only("wrk/timeouts-2s.txt").figures;
        assert_eq!((late.requests, late.successes, late.timeouts), (Some(28563), Some(28521), Some(42)));
        assert!(
            late.notes.iter().any(|note| note.starts_with("42 time-outs are not in the latencies")),
            "{:?}",
            late.notes
        );
        assert_eq!(late.latencies.max_ms, Some(79.55), "while 42 took 4 s");
    }

    #[test]
    fn ladder_is_read_to_its_printed_digits() {
        let rows = [
            (50, 2561, 0, 420.76, 117.23, 118.8, 100.0),
            (100, 2510, 0, 414.63, 236.46, 241.2, 100.0),
            (200, 2261, 0, 373.09, 514.83, 536.1, 100.0),
            (400, 2526, 0, 414.75, 886.17, 964.4, 100.0),
            (600, 2497, 0, 409.90, 1230.0, 1463.8, 100.0),
            (800, 2470, 809, 405.37, 1440.0, 1973.5, 67.2),
            (1000, 2591, 1698, 425.41, 995.64, 2350.7, 34.5),
            (1200, 2586, 1755, 426.23, 1040.0, 2815.4, 32.1),
            (1400, 2244, 1490, 369.25, 1130.0, 3791.5, 33.6),
        ];
        let found = read("wrk/ladder.log");
        assert_eq!((found.sections.len(), found.ignored), (rows.len(), 0));
        for (section, (c, answers, late, rate, mean, little, share)) in found.sections.iter().zip(rows) {
            let figures = &section.figures;
            assert_eq!(
                (section.concurrency, figures.requests, figures.timeouts),
                (Some(c), Some(answers), Some(late))
            );
            assert_eq!((figures.answers_per_second, figures.latencies.mean_ms), (Some(rate), Some(mean)));
            assert!((figures.little_ms().unwrap() - little).abs() < 0.051, "{c}: {:?}", figures.little_ms());
            let succeeded = figures.successes.unwrap() as f64 / answers as f64 * 100.0;
            assert!((succeeded - share).abs() < 0.051, "{c}: {succeeded}");
            assert_eq!(section.url.as_deref(), Some("http://127.0.0.1:8180/fib"));
        }
    }

    #[test]
    fn minutes_are_told_by_the_rate() {
        let text = "Running 1m test @ http://10.0.1.3:8080/json\n  8 threads and 128 connections\n  \
                    10329674 requests in 1.00m, 2.86GB read\nRequests/sec: 171874.66\nTransfer/sec:     48.68MB\n";
        let found = crate::summaries::sections(text.as_bytes());
        let figures = &found.sections[0].figures;
        assert!((figures.duration.unwrap() - 60.1000).abs() < 0.0001, "{:?}", figures.duration);
        assert_eq!(figures.latencies.source, None, "nothing was printed");
    }

    #[test]
    fn threads_without_an_even_share_open_fewer_connections() {
        let text = "Running 1s test @ http://h/\n  4 threads and 10 connections\n  80 requests in 1.00s, 1.00KB read\n\
                    Requests/sec:  80.00\n";
        let found = crate::summaries::sections(text.as_bytes());
        assert_eq!((found.sections[0].concurrency, found.sections[0].figures.in_flight), (Some(10), Some(8)));
        assert_eq!(found.sections[0].figures.little_ms(), Some(100.0));
    }

    #[test]
    fn refused_run_is_known_by_its_command() {
        let text = "$ wrk -c 8 -t 2 -d 1 http://127.0.0.1:8114/hello\nunable to connect to 127.0.0.1:8114 Connection refused\n";
        let found = crate::summaries::sections(text.as_bytes());
        assert_eq!(found.sections[0].concurrency, Some(8));
        let reason = "unable to connect to 127.0.0.1:8114 Connection refused";
        assert_eq!(found.sections[0].figures.aborted.as_deref(), Some(reason));
    }

    #[test]
    fn pipelined_requests_are_in_flight() {
        let output = "Running 15s test @ http://h:80/plaintext\n  5 threads and 256 connections\n  \
                      Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     7.83ms    7.56ms 168.62ms   89.00%\n  \
                      6507808 requests in 15.03s, 825.44MB read\nRequests/sec: 432994.78\nTransfer/sec:     54.92MB\n";
        let command = "wrk -H 'Host: h' --latency -d 15 -c 256 -t 5 http://h:80/plaintext";
        for (script, in_flight) in [
            (" -s pipeline.lua -- 16", Some(255 * 16)),
            (" --script=scripts/pipeline.lua -- 16 /plaintext", Some(255 * 16)),
            (" -s pipeline.lua", None),
            (" -s post.lua -- 16", Some(255)),
            ("", Some(255)),
        ] {
            let found = crate::summaries::sections(format!("{command}{script}\n{output}").as_bytes());
            let figures = &found.sections[0].figures;
            assert_eq!(
                (figures.in_flight, found.sections[0].concurrency),
                (in_flight, Some(256)),
                "{script}"
            );
            let accused = figures.notes.iter().any(|note| note.contains("is above c/X"));
            assert_eq!(accused, in_flight == Some(255), "{script}: {:?}", figures.notes);
        }
    }

    #[test]
    fn primer_and_warm_up_of_techempower_are_no_levels() {
        let run = |title: &str, c: u32| {
            let line = "---------------------------------------------------------\n";
            format!(
                "{line} {title}\n wrk -d 15 -c {c} -t 2 http://h:80/json\n{line}Running 15s test @ http://h:80/json\n  \
                 2 threads and {c} connections\n  80 requests in 1.00s, 1.00KB read\nRequests/sec:  80.00\n"
            )
        };
        let text = [
            run("Running Primer json", 8),
            run("Running Warmup json", 512),
            run("Concurrency: 16 for json", 16),
            run("Concurrency: 512 for json", 512),
        ]
        .concat();
        let found = crate::summaries::sections(text.as_bytes());
        let levels: Vec<Option<u32>> = found.sections.iter().map(|section| section.concurrency).collect();
        assert_eq!((levels, found.warm_ups), (vec![Some(16), Some(512)], 2));
        // Of one that failed there is only the command.
        let failed = format!(
            " Running Warmup json\nwrk -c 8 http://h/\nunable to connect\n{}",
            run("Concurrency: 16 for json", 16)
        );
        let found = crate::summaries::sections(failed.as_bytes());
        assert_eq!((found.sections.len(), found.warm_ups, found.sections[0].concurrency), (1, 1, Some(16)));
    }

    #[test]
    fn latencies_are_those_of_the_recorded_part() {
        let found = only("wrk2/clean.out");
        assert_eq!((found.tool, found.concurrency, found.figures.requests), ("wrk2", Some(16), Some(7498)));
        let latencies = &found.figures.latencies;
        assert_eq!((latencies.mean_ms, latencies.percentile(99.9)), (Some(6.854), Some(34.37)));
        assert_eq!(found.figures.little_ms(), None, "its loop is open");
        assert!(found.figures.notes[0].contains("2481 of 7498"), "{:?}", found.figures.notes);
    }

    #[test]
    fn invented_latencies_are_taken_out() {
        let figures = only("wrk/dump.txt").figures;
        assert_eq!(figures.latencies.source, Some(LatencySource::Exact));
        assert_eq!((figures.requests, figures.successes), (Some(5000), Some(5000)));
        // By the rate as it is printed, with two decimals.
        assert!((figures.little_ms().unwrap() - 9.634_985_6).abs() < 1e-4, "{:?}", figures.little_ms());
        assert!(
            figures.notes.iter().any(|note| note.starts_with("41 of 5041 latencies")),
            "{:?}",
            figures.notes
        );
        // No mean of a closed loop is above c/X.
        assert!(figures.latencies.mean_ms.unwrap() < figures.little_ms().unwrap(), "{figures:?}");
    }

    #[test]
    fn damaged_dumps_are_told() {
        for text in ["{", "{}", r#"{"duration_us":1,"requests":1,"timeout":0,"counts":[[99999999999,1]]}"#] {
            let mut figures = Figures::default();
            refine(&mut figures, text);
            assert_eq!((figures.notes.len(), figures.latencies.source), (1, None), "{text}");
        }
    }

    /// What wrk does, as an oracle.
    fn corrected(mut counts: BTreeMap<u64, u64>, expected: u64) -> BTreeMap<u64, u64> {
        let longest = counts.keys().last().copied().unwrap_or_default();
        for value in expected * 2..=longest {
            let count = counts.get(&value).copied().unwrap_or_default();
            let mut shorter = value - expected;
            while count > 0 && shorter > expected {
                *counts.entry(shorter).or_default() += count;
                shorter -= expected;
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn correction_is_undone_exactly(counts in prop::collection::btree_map(1u64..4000, 1u64..4, 1..30), rounds in 1u64..30) {
            let requests: u64 = counts.values().sum();
            let (connections, duration_us) = ((requests / rounds).max(1), 9000);
            let expected = duration_us / (requests / connections);
            let dump = Dump {
                duration_us, requests, timeout: 0,
                counts: corrected(counts.clone(), expected).into_iter().collect(),
            };
            let mut undone = without_invented(&dump, u32::try_from(connections).unwrap()).unwrap();
            undone.retain(|_, count| *count > 0);
            prop_assert_eq!(undone, counts);
        }
    }
}
