//! `.hgrm`: the percentiles of an HdrHistogram, without anything else of the run.

use crate::summaries::section::{Section, TextLine, needed};
use crate::summaries::tool::{ParsedSummary, TextTool};
use crate::summaries::units;
use perfpipe_model::points::{Figures, Latencies};

pub(super) struct Hgrm;

/// The percentiles that are kept.
const PERCENTS: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// The title that wrk2 puts above the same table.
const OF_WRK2: &str = "Detailed Percentile spectrum:";

impl TextTool for Hgrm {
    fn name(&self) -> &'static str {
        "hgrm"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        let mut words = words(line.trimmed());
        // vegeta names the unit.
        let is_value = matches!(words.next(), Some("Value" | "Value(ms)"));
        let is_table = is_value && words.next() == Some("Percentile") && words.next() == Some("TotalCount");
        is_table && line.above() != Some(OF_WRK2)
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let mut last = None;
        let mut found = PERCENTS.map(|percent| (percent, None));
        section.all(|line| {
            let Some((value, share, total)) = row(line) else { return false };
            let reached = found.iter_mut().filter(|(percent, _)| share * 100.0 >= percent - 1e-9);
            reached.for_each(|(_, first)| _ = first.get_or_insert(value));
            last = Some((value, total));
            true
        });
        let (greatest, total) = needed(last, "1.000000000000")?;
        let reached_value = |(percent, value): (f64, Option<f64>)| Some((percent, value?));
        let percentiles = found.into_iter().filter_map(reached_value).collect();
        let mean = section
            .after("#[Mean")
            .and_then(|text| units::number(text.trim_start_matches([' ', '=']).split(',').next()?));
        section.each(|line| line.starts_with("#[").then_some(()));
        let mut figures = Figures {
            requests: Some(total),
            latencies: Latencies::printed(mean, Some(greatest), percentiles),
            ..Figures::default()
        };
        figures.notes.push("a percentile is the next row at or above it; values are taken as ms".to_owned());
        figures.notes.push("the file has no duration and no failures".to_owned());
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

/// The words of a line, between blanks or, as in C's CSV, between commas and in quotes.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let bare = line.split(|letter: char| letter.is_whitespace() || letter == ',');
    bare.map(|word| word.trim_matches('"')).filter(|word| !word.is_empty())
}

/// Reads `5.715     0.500000         1242         2.00`.
fn row(line: &str) -> Option<(f64, f64, u64)> {
    let mut words = words(line);
    let (value, share) = (units::number(words.next()?)?, units::number(words.next()?)?);
    Some((value, share, units::count(words.next()?)?)).filter(|_| share <= 1.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_percentiles() {
        let text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n 3.663 0.000000 1 1.00\n 5.715 0.500000 1242 2.00\n \
                    26.847 0.990625 2458 106.67\n 36.735 1.000000 2481 inf\n#[Mean    =        6.854, StdDeviation   =        4.062]\n";
        let found = crate::summaries::sections(text.as_bytes());
        let latencies = &found.sections[0].figures.latencies;
        assert_eq!((latencies.percentile(50.0), latencies.percentile(99.0)), (Some(5.715), Some(26.847)));
        assert_eq!((latencies.mean_ms, found.sections[0].figures.requests), (Some(6.854), Some(2481)));
        assert_eq!(found.sections[0].figures.successes, None, "failures are not reported");
    }
}
