//! siege's JSON (`-j`), with times in hundredths of a second, and its log file: a row a run.

use serde_json::Value;

use crate::summaries::json::JsonValue;
use crate::summaries::section::{Section, TextLine};
use crate::summaries::tool::{JsonTool, ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures, Latencies};

pub(super) struct Siege;

/// siege's unit of data.
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The note on its times.
const COARSE: &str = "siege reports times in hundredths of a second, and no percentiles";

/// The counts of siege: its transactions are the answers below 500, including 404 and others that are not successful.
struct SiegeCounts {
    transactions: u64,
    successful: u64,
    failed: u64,
}

impl SiegeCounts {
    /// The counts as figures.
    fn figures(&self) -> Figures {
        let requests = self.transactions.max(self.successful).saturating_add(self.failed);
        Figures {
            requests: Some(requests),
            successes: Some(self.successful),
            failures: Some(Bounds::exactly(requests - self.successful)),
            ..Figures::default()
        }
    }
}

impl JsonTool for Siege {
    fn name(&self) -> &'static str {
        "siege"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["/availability", "/transactions", "/transaction_rate"]
    }

    fn read(&self, value: &Value) -> Result<ParsedSummary, String> {
        let json = JsonValue(value);
        let counts = SiegeCounts {
            transactions: json.needed_count("/transactions")?,
            successful: json.needed_count("/successful_transactions")?,
            failed: json.needed_count("/failed_transactions")?,
        };
        let ms = |key: &str| json.number(key).map(units::seconds_ms);
        let figures = Figures {
            duration: json.number("/elapsed_time").filter(|seconds| *seconds > 0.0),
            answers_per_second: json.number("/transaction_rate"),
            bytes_per_second: json.number("/throughput").map(|rate| rate * MEGABYTE),
            latencies: Latencies::printed(ms("/response_time"), ms("/longest_transaction"), Vec::new()),
            notes: vec![COARSE.to_owned()],
            ..counts.figures()
        };
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        // Users may wait between requests.
        false
    }
}

pub(super) struct SiegeLog;

/// Cells of a row.
const CELLS: usize = 10;

impl TextTool for SiegeLog {
    fn name(&self) -> &'static str {
        "siege"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        // Each row is a run of its own; the header only says what the cells are.
        row(line.whole()).is_some()
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let [transactions, seconds, _, mean, rate, throughput, _, okay, failed] =
            row(section.first()).ok_or("the row has other cells than siege's log")?;
        let counts =
            SiegeCounts { transactions: transactions as u64, successful: okay as u64, failed: failed as u64 };
        let figures = Figures {
            duration: Some(seconds).filter(|seconds| *seconds > 0.0),
            answers_per_second: Some(rate),
            bytes_per_second: Some(throughput * MEGABYTE),
            latencies: Latencies::printed(Some(units::seconds_ms(mean)), None, Vec::new()),
            notes: vec![COARSE.to_owned()],
            ..counts.figures()
        };
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// Reads `2026-11-22 11:44:53,    240,       0.19, ...`: the numbers after the date.
fn row(line: &str) -> Option<[f64; 9]> {
    let (date, rest) = line.split_once(',')?;
    date.trim().parse::<jiff::civil::DateTime>().ok()?;
    let numbers: Vec<f64> = rest.split(',').map_while(units::number).take(CELLS).collect();
    let all = rest.split(',').count() + 1 == CELLS;
    numbers.try_into().ok().filter(|_| all)
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::{only, read};

    #[test]
    fn counts_are_those_of_the_server() {
        let figures = only("siege/failures.out").figures;
        assert_eq!((figures.requests, figures.successes), (Some(960), Some(853)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.max_ms), (107, Some(3060.0)));
    }

    /// siege's transactions are the answers below 500, but an answer of 404 is not among the successful ones.
    #[test]
    fn answers_that_are_neither_successful_nor_failed_are_failures() {
        let text = "{\n\t\"transactions\":\t 199,\n\t\"availability\":\t 81.56,\n\t\"elapsed_time\":\t 2.00,\n\
                    \t\"transaction_rate\":\t 99.50,\n\t\"successful_transactions\":\t 176,\n\
                    \t\"failed_transactions\":\t 45\n}\n";
        let figures = crate::summaries::sections(text.as_bytes()).sections.remove(0).figures;
        assert_eq!((figures.requests, figures.successes), (Some(244), Some(176)));
        assert_eq!(
            (figures.failures.unwrap().to_string().as_str(), figures.throughput()),
            ("68", Some(88.0))
        );
    }

    #[test]
    fn each_row_is_a_run() {
        let found = read("siege/siege.log");
        assert_eq!((found.sections.len(), found.ignored), (1, 2), "the header and a mark are no runs");
        let figures = &found.sections[0].figures;
        assert_eq!((figures.requests, figures.duration), (Some(240), Some(0.19)));
    }

    #[test]
    fn transactions_that_were_not_successful_are_failures() {
        let row = "2026-11-22 11:44:53,    199,       2.00,           0,       0.01,       99.50,        0.00,        7.47,     176,      45\n";
        let figures = crate::summaries::sections(row.as_bytes()).sections.remove(0).figures;
        assert_eq!((figures.requests, figures.successes), (Some(244), Some(176)));
        assert_eq!(figures.failures.unwrap().to_string(), "68");
    }
}
