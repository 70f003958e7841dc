//! siege's log file: a row a run.

use super::super::json::siege::{COARSE, MEGABYTE, SiegeCounts};
use super::super::point::{Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::split::lines::TextLine;
use super::super::split::section::Section;
use super::super::tool::TextTool;
use super::super::units;

pub(crate) struct SiegeLog;

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
    use super::super::super::fixtures::read;

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
        let figures = crate::points::sections(row.as_bytes()).sections.remove(0).figures;
        assert_eq!((figures.requests, figures.successes), (Some(244), Some(176)));
        assert_eq!(figures.failures.unwrap().to_string(), "68");
    }
}
