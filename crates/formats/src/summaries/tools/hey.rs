//! hey: a summary of what its client saw, which sent resets again in silence.

use super::answers::AnswerCounts;
use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Figures, Latencies};

pub(super) struct Hey;

impl TextTool for Hey {
    fn name(&self) -> &'static str {
        "hey"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let total = line.next().trimmed();
        line.trimmed() == "Summary:" && total.starts_with("Total:") && total.ends_with(" secs")
    }

    fn rounding_ms(&self) -> f64 {
        // Seconds with four decimals.
        0.05
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let ms = |name: &str| section.after(name).and_then(units::time_ms);
        let total = section.after("Total:").and_then(|text| units::number(text.strip_suffix(" secs")?));
        let duration = needed(total, "Total:")?;
        let rate = needed(section.number("Requests/sec:")?, "Requests/sec:")?;
        let (max, mean) = (ms("Slowest:"), ms("Average:"));
        section.after("Total data:");
        section.after("Size/request:");
        section.each(|line| {
            (line.contains("histogram:") || line.contains("distribution:") || is_detail(line)).then_some(())
        });
        section.each(|line| {
            (line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" [")).then_some(())
        });
        let answers = AnswerCounts::of_lines(section)?;
        // What a few requests are too few for, it prints as 0 % in 0 s.
        let percentiles =
            section.each(percentile).into_iter().filter(|(percent, _)| *percent > 0.0).collect();
        let mut figures = Figures {
            duration: Some(duration).filter(|seconds| *seconds > 0.0),
            answers_per_second: Some(rate),
            latencies: Latencies::printed(mean, max, percentiles),
            ..Figures::default()
        };
        answers.count_into(&mut figures);
        figures.notes.push("hey's client sends again what was reset, and does not count it".to_owned());
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }
}

fn is_detail(line: &str) -> bool {
    let names = ["Details (", "DNS+dialup:", "DNS-lookup:", "req write:", "resp wait:", "resp read:"];
    names.iter().any(|name| line.starts_with(name))
}

/// Reads `99%% in 0.0175 secs`; the second sign is one of some versions.
fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, time) = line.split_once(" in ").filter(|(_, time)| time.ends_with(" secs"))?;
    let percent = units::number(percent.strip_suffix('%')?.trim_end_matches('%'))?;
    Some((percent, units::time_ms(time)?))
}

#[cfg(test)]
mod tests {
    use crate::summaries::fixtures::{only, read};

    #[test]
    fn errors_count_as_requests() {
        let figures = only("hey/failures-summary.out").figures;
        assert_eq!(
            (figures.requests, figures.successes, figures.timeouts),
            (Some(2000), Some(1800), Some(6))
        );
        assert_eq!(figures.failures.unwrap().to_string(), "200");
        assert_eq!(figures.latencies.percentile(99.0), Some(29.0));
        assert_eq!(read("hey/failures-summary.out").ignored, 0);
    }

    #[test]
    fn connections_are_known_by_the_command() {
        let text =
            std::fs::read_to_string(crate::summaries::fixtures::path("hey/clean-summary.out")).unwrap();
        let found = crate::summaries::sections(
            format!("$ hey -n 3000 -c 16 http://127.0.0.1:8120/hello\n{text}").as_bytes(),
        );
        assert_eq!(found.sections[0].concurrency, Some(16));
        assert!((found.sections[0].figures.little_ms().unwrap() - 16e3 / 1656.6695).abs() < 1e-6);
    }
}
