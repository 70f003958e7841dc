//! ApacheBench: counts that include failures, one failure under several names; and its files in addition to the summary,
//! `-e`, percentiles in microseconds, and `-g`, every request without its success.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use crate::work_count;
use perfpipe_model::points::{Bounds, Figures, Latencies};

/// ApacheBench.
pub struct Ab;

const BANNER: &str = "This is ApacheBench, Version";

impl TextTool for Ab {
    fn name(&self) -> &'static str {
        "ab"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let line = line.trimmed();
        line.starts_with(BANNER) || (line.starts_with('<') && line.contains(BANNER))
    }

    fn rounding_ms(&self) -> f64 {
        // Whole milliseconds.
        0.5
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        if section.first().contains("<i>") || section.first().trim_start().starts_with('<') {
            section.use_to(usize::MAX);
            return Err("tables in HTML, which lack the percentiles: run ab without -w".to_owned());
        }
        let concurrency = section.after("Concurrency Level:").and_then(|text| text.parse().ok());
        // A run that ended early has no rate, which is printed after the counts.
        let ended = || section.after("Requests per second:").is_none().then(|| gave_up(section)).flatten();
        let figures = figures(section).unwrap_or_else(|reason| Figures::aborted(ended().unwrap_or(reason)));
        Ok(ParsedSummary {
            concurrency,
            url: url(section),
            figures: Figures { in_flight: concurrency, ..figures },
        })
    }
}

/// The URL, from its parts.
fn url(section: &Section<'_>) -> Option<String> {
    let (host, port) = (section.after("Server Hostname:")?, section.after("Server Port:")?);
    let path = section.after("Document Path:")?;
    Some(format!("http://{host}:{port}{path}"))
}

/// Why ab ended early. It prints the reason to standard error, which may be in the same file.
fn gave_up(section: &Section<'_>) -> Option<String> {
    let done = section.find(|line| {
        let (_, rest) = line.split_once("Total of ")?;
        rest.strip_suffix(" requests completed").and_then(units::count)
    });
    let reason = section.find(|line| {
        let from = line.find("apr_")?;
        line.get(from..).map(str::to_owned)
    });
    let waits = section.find(|line| line.contains("(be patient)").then_some(()));
    match (reason, done) {
        (Some(reason), _) => Some(reason),
        (None, Some(done)) => {
            Some(format!("ab gave up after {done} requests; the reason is on its standard error"))
        }
        (None, None) => waits
            .map(|()| "ab gave up before its first figures; the reason is on its standard error".to_owned()),
    }
}

fn figures(section: &Section<'_>) -> Result<Figures, String> {
    let rate = needed(section.number("Requests per second:")?, "Requests per second:")?;
    let requests = needed(section.count("Complete requests:")?, "Complete requests:")?;
    let duration = needed(section.number("Time taken for tests:")?, "Time taken for tests:")?;
    let kinds = kinds(section)?;
    let failures = failures(&kinds);
    // Requests whose write failed are not complete.
    let within = failures.least.saturating_sub(kinds.write).min(requests);
    let transferred = section.count("Total transferred:")?;
    let mut figures = Figures {
        duration: Some(duration).filter(|seconds| *seconds > 0.0),
        requests: Some(requests),
        successes: Some(requests - within),
        failures: Some(failures),
        kinds: kinds.named(),
        answers_per_second: Some(rate),
        bytes_per_second: transferred.filter(|_| duration > 0.0).map(|bytes| bytes as f64 / duration),
        latencies: latencies(section),
        ..Figures::default()
    };
    let other_lengths = kinds.length.saturating_sub(kinds.non_2xx.saturating_add(kinds.exceptions));
    if other_lengths > 0 {
        figures.notes.push(format!(
            "{other_lengths} answers of another length than the first, which are not failures"
        ));
    }
    if failures.greatest > 0 {
        figures.notes.push("the latencies include those of failures".to_owned());
    }
    section.find(|line| line.contains("(longest request)").then_some(()));
    Ok(figures)
}

/// What ab counts as failed, by its names.
#[derive(Default)]
struct FailureKinds {
    connect: u64,
    receive: u64,
    length: u64,
    exceptions: u64,
    write: u64,
    non_2xx: u64,
}

impl FailureKinds {
    fn named(&self) -> Vec<(String, u64)> {
        let all = [
            ("connect", self.connect),
            ("receive", self.receive),
            ("length", self.length),
            ("exceptions", self.exceptions),
            ("write", self.write),
            ("status", self.non_2xx),
        ];
        all.iter().filter(|(_, count)| *count > 0).map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }
}

fn kinds(section: &Section<'_>) -> Result<FailureKinds, String> {
    let failed = section.count("Failed requests:")?.unwrap_or_default();
    let mut kinds = FailureKinds {
        write: section.count("Write errors:")?.unwrap_or_default(),
        non_2xx: section.count("Non-2xx responses:")?.unwrap_or_default(),
        ..FailureKinds::default()
    };
    if failed == 0 {
        return Ok(kinds);
    }
    let text = needed(section.find(|line| line.strip_prefix("(Connect:").map(|_| line)), "(Connect:")?;
    let of = |name: &str| {
        let value = text.trim_matches(['(', ')']).split(',').find_map(|part| part.trim().strip_prefix(name));
        value.and_then(units::count).ok_or_else(|| format!("the failures \"{text}\" have no count of {name}"))
    };
    kinds.connect = of("Connect:")?;
    // ab 2.0 does not count these.
    kinds.receive = if text.contains("Receive:") { of("Receive:")? } else { 0 };
    kinds.length = of("Length:")?;
    kinds.exceptions = of("Exceptions:")?;
    Ok(kinds)
}

/// ab counts one reset connection as received wrongly, of another length, and an exception: the greatest of these counts
/// is that of the resets. Where they are not equal, they may be of different requests.
fn failures(kinds: &FailureKinds) -> Bounds {
    let parts = [kinds.connect, kinds.receive, kinds.exceptions];
    let greatest = parts.into_iter().max().unwrap_or_default();
    let others = parts.into_iter().filter(|count| *count != greatest).fold(0, u64::saturating_add);
    let certain = kinds.non_2xx.saturating_add(greatest).saturating_add(kinds.write);
    Bounds::between(certain, certain.saturating_add(others))
}

fn latencies(section: &Section<'_>) -> Latencies {
    let row = section.after("Total:").unwrap_or_default();
    let mut columns = row.split_whitespace().map(units::number);
    let mean = columns.nth(1).flatten();
    let percentiles: Vec<(f64, f64)> = section.each(|line| {
        let (percent, ms) = line.split_once('%')?;
        let ms = ms.split_whitespace().next()?;
        Some((units::number(percent)?, units::number(ms)?))
    });
    let max = percentiles.iter().find(|(percent, _)| *percent >= 100.0).map(|(_, ms)| *ms);
    Latencies::printed(mean, max, percentiles)
}

/// One of ab's files that only have a meaning with its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbFile {
    /// `-e`: percentiles.
    Percentiles,
    /// `-g`: the times of every request, sorted by duration, failed ones unmarked.
    Requests,
}

impl AbFile {
    /// Recognises a file by its beginning.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"Percentage served,Time in ms") {
            Some(Self::Percentiles)
        } else if bytes.starts_with(b"starttime\tseconds\tctime") {
            Some(Self::Requests)
        } else {
            None
        }
    }

    /// Refines the latencies of a summary by the text of the file. The inner error is the line, from 1, that can't be read.
    ///
    /// # Errors
    /// If reading fails.
    pub fn refine(self, text: &mut dyn BufRead, figures: &mut Figures) -> io::Result<Result<(), usize>> {
        match self {
            Self::Percentiles => {
                let mut percentiles = Vec::new();
                let read = each_row(text, |line| {
                    percentiles.push(percentile(line)?);
                    (percentiles.len() <= MOST_PERCENTILES).then_some(())
                })?;
                let (mean, max) = (figures.latencies.mean_ms, percentiles.last().map(|(_, ms)| *ms));
                figures.latencies = Latencies::printed(mean, max, percentiles);
                Ok(read)
            }
            Self::Requests => {
                let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
                let read = each_row(text, |line| {
                    *counts.entry(line.split('\t').nth(4).and_then(units::count)?).or_default() += 1;
                    (counts.len() <= MOST_TIMES).then_some(())
                })?;
                figures.latencies = Latencies::counted(&counts.into_iter().collect::<Vec<_>>(), 1.0);
                figures.notes.push(
                    "latencies are counted from ab's -g: whole ms, failed requests among them".to_owned(),
                );
                Ok(read)
            }
        }
    }
}

/// The most rows of percentiles, and the most different times of requests, in whole ms.
const MOST_PERCENTILES: usize = 1000;
const MOST_TIMES: usize = 1_000_000;

/// The longest row, in bytes.
const LONGEST: u64 = 64 << 10;

/// Passes the rows below the header to `read`. The inner error is the first line, from 1, that it can't read.
fn each_row(
    text: &mut dyn BufRead,
    mut read: impl FnMut(&str) -> Option<()>,
) -> io::Result<Result<(), usize>> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = (&mut *text).take(LONGEST).read_until(b'\n', &mut line)?;
        work_count::count(length);
        if length == 0 {
            break;
        }
        let row = String::from_utf8_lossy(&line);
        let is_read = length < LONGEST as usize
            && (number == 1 || row.trim().is_empty() || read(row.trim_end_matches(['\r', '\n'])).is_some());
        if !is_read {
            return Ok(Err(number));
        }
    }
    Ok(Ok(()))
}

/// Reads `50,18.478`.
fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, ms) = line.split_once(',')?;
    Some((units::number(percent)?, units::number(ms)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::fixtures::{only, path, read};

    #[test]
    fn failures_are_counted_once() {
        let http = only("ab/http500.txt").figures;
        assert_eq!((http.requests, http.successes), (Some(2000), Some(1800)));
        assert_eq!(http.failures.unwrap().to_string(), "200", "length and status are the same 200");
        let shed = only("ab/sweep/beta_c64_r1.txt");
        assert_eq!(
            (shed.concurrency, shed.figures.requests, shed.figures.successes),
            (Some(64), Some(4000), Some(195))
        );
        assert_eq!(shed.figures.failures.unwrap().least, 3805);
        assert_eq!(shed.figures.answers_per_second, Some(16567.06));
        assert_eq!(shed.url.as_deref(), Some("http://127.0.0.1:8101/hello"));
        let lengths = only("ab/length-l.txt").figures;
        assert_eq!(lengths.failures.unwrap().to_string(), "0");
    }

    #[test]
    fn one_reset_is_one_failure() {
        let text = std::fs::read_to_string(crate::summaries::fixtures::path("ab/http500.txt")).unwrap();
        let from = text.find("Failed requests:").unwrap();
        let to = text.find("Keep-Alive requests:").unwrap();
        let with = |failed: &str| {
            let text = [&text[..from], failed, &text[to..]].concat();
            crate::summaries::sections(text.as_bytes()).sections.remove(0).figures
        };
        let resets =
            with("Failed requests:        120\n   (Connect: 0, Receive: 40, Length: 40, Exceptions: 40)\n");
        assert_eq!((resets.failures.unwrap().to_string(), resets.successes), ("40".to_owned(), Some(1960)));
        let others =
            with("Failed requests:        130\n   (Connect: 0, Receive: 40, Length: 60, Exceptions: 30)\n");
        assert_eq!(others.failures.unwrap().to_string(), "40..70");
        let lengths =
            with("Failed requests:        7\n   (Connect: 0, Receive: 0, Length: 7, Exceptions: 0)\n");
        assert_eq!(lengths.successes, Some(2000));
        assert!(lengths.notes[0].starts_with("7 answers of another length"), "{:?}", lengths.notes);
    }

    #[test]
    fn aborted_runs_are_kept() {
        let reset = only("ab/drop-abort.txt").figures;
        assert_eq!(
            reset.aborted.as_deref(),
            Some("ab gave up after 49 requests; the reason is on its standard error")
        );
        let with_reason = [
            std::fs::read(crate::summaries::fixtures::path("ab/timeout-r.txt")).unwrap(),
            b"\napr_pollset_poll: The timeout specified has expired (70007)\n".to_vec(),
        ]
        .concat();
        let found = crate::summaries::sections(&with_reason);
        let reason = "apr_pollset_poll: The timeout specified has expired (70007)";
        assert_eq!(found.sections[0].figures.aborted.as_deref(), Some(reason));
        assert!(only("ab/refused.txt").figures.aborted.is_some());
    }

    #[test]
    fn appended_repeats_are_sections_of_their_own() {
        let found = read("ab/jempower/128.8101");
        let rates: Vec<f64> =
            found.sections.iter().filter_map(|section| section.figures.answers_per_second).collect();
        assert_eq!(rates, [7272.16, 17995.65, 10242.02]);
        assert_eq!(found.ignored, 0, "{:?}", found.first_ignored);
        let impossible = |section: &crate::summaries::walk::FoundSection| {
            section.figures.notes.iter().any(|note| note.contains("is above c/X"))
        };
        let rounded = read("ab/jempower/16.8101").sections;
        assert!(!rounded.iter().any(impossible), "a mean in whole ms may be above c/X by its rounding");
    }

    /// ab 2.0 has no count of what was received wrongly, and times with six decimals.
    #[test]
    fn earlier_versions_are_read() {
        let text = std::fs::read_to_string(crate::summaries::fixtures::path("ab/http500.txt")).unwrap();
        let text = text.replace("Receive: 0, ", "").replace("Version 2.3", "Version 2.0.40-dev");
        assert!(!text.contains("Receive:"));
        let figures = crate::summaries::sections(text.as_bytes()).sections.remove(0).figures;
        assert_eq!((figures.requests, figures.successes, figures.aborted), (Some(2000), Some(1800), None));
    }

    #[test]
    fn files_beside_the_summary_refine_its_latencies() {
        let mut figures = only("ab/http500.txt").figures;
        let file = std::fs::read(path("ab/http500.csv")).unwrap();
        AbFile::of(&file).unwrap().refine(&mut &*file, &mut figures).unwrap().unwrap();
        assert_eq!(figures.latencies.percentiles.len(), 100 + usize::from(file.starts_with(b"Percentage")));
        let precise = figures.latencies.percentile(50.0).unwrap();
        let file = std::fs::read(path("ab/http500.tsv")).unwrap();
        AbFile::of(&file).unwrap().refine(&mut &*file, &mut figures).unwrap().unwrap();
        assert!((figures.latencies.percentile(50.0).unwrap() - precise).abs() <= 1.0, "{precise}");
        assert_eq!(figures.latencies.source.map(|source| source.name()), Some("exact"));
    }

    #[test]
    fn damaged_lines_are_told() {
        let mut figures = Figures::default();
        assert_eq!(
            AbFile::Percentiles
                .refine(&mut &b"Percentage served,Time in ms\n0,1\nx,2\n"[..], &mut figures)
                .unwrap(),
            Err(3)
        );
        let mut requests = &b"starttime\tseconds\tctime\nMon\t1\t2\n"[..];
        assert_eq!(AbFile::Requests.refine(&mut requests, &mut figures).unwrap(), Err(2));
        assert_eq!(AbFile::of(b"timeStamp,elapsed"), None);
    }
}
