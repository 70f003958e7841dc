//! wrk2: as wrk, at a constant rate, with latencies from the intended time of sending.

use super::super::super::point::Latencies;
use super::super::super::split::found::ParsedSummary;
use super::super::super::split::lines::TextLine;
use super::super::super::split::section::Section;
use super::super::super::tool::TextTool;
use super::super::super::units;
use crate::formats::summaries::text::wrk;

pub(crate) struct Wrk2;

impl TextTool for Wrk2 {
    fn name(&self) -> &'static str {
        "wrk2"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let mut own = line.below().take_while(|line| !wrk::begins(*line)).map(TextLine::trimmed);
        wrk::begins(line)
            && own.any(|line| line.starts_with("Thread calibration:") || line.contains("(HdrHistogram"))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let mut summary = wrk::counts(section)?;
        summary.figures.in_flight = None;
        let mean = section.after("#[Mean").and_then(value);
        let max = section.after("#[Max").and_then(value);
        summary.figures.latencies = Latencies::printed(mean, max, section.each(wrk::percentile));
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

#[cfg(test)]
mod tests {
    use super::super::super::super::fixtures::only;

    #[test]
    fn latencies_are_those_of_the_recorded_part() {
        let found = only("wrk2/clean.out");
        assert_eq!((found.tool, found.concurrency, found.figures.requests), ("wrk2", Some(16), Some(7498)));
        let latencies = &found.figures.latencies;
        assert_eq!((latencies.mean_ms, latencies.percentile(99.9)), (Some(6.854), Some(34.37)));
        assert_eq!(found.figures.little_ms(), None, "its loop is open");
        assert!(found.figures.notes[0].contains("2481 of 7498"), "{:?}", found.figures.notes);
    }
}
