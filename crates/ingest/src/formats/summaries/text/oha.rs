//! oha's text.

use super::super::point::{Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::split::lines::TextLine;
use super::super::split::section::{Section, needed};
use super::super::tool::TextTool;
use super::super::units;
use super::answers::AnswerCounts;

pub(crate) struct Oha;

impl TextTool for Oha {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        line.trimmed() == "Summary:" && line.next().trimmed().starts_with("Success rate:")
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let total = needed(section.after("Total:").and_then(units::time_ms), "Total:")?;
        let rate = needed(section.number("Requests/sec:")?, "Requests/sec:")?;
        let ms = |name: &str| section.after(name).and_then(units::time_ms);
        let latencies = Latencies::printed(ms("Average:"), ms("Slowest:"), section.each(percentile));
        let answers = AnswerCounts::of_lines(section)?;
        let mut figures = Figures {
            duration: Some(total / 1e3).filter(|seconds| *seconds > 0.0),
            answers_per_second: Some(rate),
            bytes_per_second: section.after("Size/sec:").and_then(units::bytes),
            latencies,
            ..Figures::default()
        };
        answers.count_into(&mut figures);
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }
}

/// Reads `99.00% in 18.1120 ms`.
fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, time) = line.split_once("% in ")?;
    Some((units::number(percent)?, units::time_ms(time)?))
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn text_is_counted_as_json() {
        let figures = only("oha/failures-text.out").figures;
        assert_eq!(
            (figures.requests, figures.successes, figures.timeouts),
            (Some(2000), Some(1777), Some(6))
        );
        assert_eq!(
            (figures.failures.unwrap().least, figures.latencies.percentile(99.0)),
            (223, Some(18.112))
        );
        assert!((figures.duration.unwrap() - 2.037_048_6).abs() < 1e-9);
    }

    #[test]
    fn parallel_requests_of_each_connection_are_in_flight() {
        let text =
            std::fs::read_to_string(super::super::super::fixtures::path("oha/failures-text.out")).unwrap();
        for (options, in_flight) in [("-c 10 -p 50", 500), ("-c 10", 10)] {
            let command = format!("oha --http2 {options} http://127.0.0.1:8120/hello\n");
            let found = crate::points::sections(format!("{command}{text}").as_bytes());
            assert_eq!(found.sections[0].figures.in_flight, Some(in_flight), "{options}");
        }
    }
}
