//! Locust's `_stats.csv` and `_stats_history.csv`: the row of all requests together.

use super::super::point::{Bounds, Figures, Latencies};
use super::super::split::found::ParsedSummary;
use super::super::split::lines::TextLine;
use super::super::split::section::Section;
use super::super::tool::TextTool;
use super::super::units;
use super::row::cells;

/// The table at the end of a run.
pub(crate) struct LocustStats;

/// The table by time, whose last row of all requests has the totals.
pub(crate) struct LocustHistory;

/// How their headers begin, the second time as Locust 1.0 writes them.
const STATS: [&str; 2] = ["Type,Name,Request Count", "\"Type\",\"Name\",\"Request Count\""];
const HISTORY: [&str; 2] =
    ["Timestamp,User Count,Type,Name", "\"Timestamp\",\"User Count\",\"Type\",\"Name\""];

/// Locust writes the files at intervals.
const EARLY: &str = "Locust writes this file at intervals, and may have left out the end of the run";

impl TextTool for LocustStats {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        STATS.iter().any(|header| line.rest().starts_with(header))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let table = StatsTable::of(section);
        let row = table.all().ok_or("the file ends before the row Aggregated")?;
        let requests = row.needed_count("Request Count")?;
        let failures = row.needed_count("Failure Count")?;
        let rate = row.number("Requests/s");
        let mut figures = figures(requests, failures);
        figures.duration = rate.filter(|rate| *rate > 0.0).map(|rate| requests as f64 / rate);
        figures.answers_per_second = rate;
        figures.latencies = Latencies::printed(
            row.number("Average Response Time"),
            row.number("Max Response Time"),
            row.percentiles(),
        );
        Ok(ParsedSummary { figures, ..ParsedSummary::default() })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

impl TextTool for LocustHistory {
    fn name(&self) -> &'static str {
        "locust"
    }

    fn begins(&self, line: TextLine<'_>) -> bool {
        HISTORY.iter().any(|header| line.rest().starts_with(header))
    }

    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String> {
        let table = StatsTable::of(section);
        let row = table.all().ok_or("the file has no row Aggregated")?;
        let seconds = row.number("Timestamp").zip(table.first).map(|(last, first)| last - first);
        let users = table.users;
        let requests = row.needed_count("Total Request Count")?;
        let mut figures = figures(requests, row.needed_count("Total Failure Count")?);
        figures.duration = seconds.filter(|seconds| *seconds > 0.0);
        figures.answers_per_second = figures.duration.map(|seconds| requests as f64 / seconds);
        // The percentiles of this file are of the last ten seconds only.
        figures.latencies = Latencies::printed(
            row.number("Total Average Response Time"),
            row.number("Total Max Response Time"),
            Vec::new(),
        );
        Ok(ParsedSummary {
            concurrency: users.and_then(|users| u32::try_from(users).ok()),
            url: None,
            figures,
        })
    }

    fn is_closed_loop(&self) -> bool {
        false
    }
}

fn figures(requests: u64, failures: u64) -> Figures {
    Figures {
        requests: Some(requests),
        successes: Some(requests.saturating_sub(failures)),
        failures: Some(Bounds::exactly(failures)),
        notes: vec![EARLY.to_owned(), "the latencies include those of failures".to_owned()],
        ..Figures::default()
    }
}

/// A table with named columns, and what is read of its rows.
#[derive(Default)]
struct StatsTable {
    names: Vec<String>,
    /// The last row of all requests together.
    all: Option<Vec<String>>,
    /// The first time, and the most users.
    first: Option<f64>,
    users: Option<u64>,
}

impl StatsTable {
    fn of(section: &Section<'_>) -> Self {
        let mut table = Self::default();
        section.all(|line| {
            let cells = cells(line);
            let is_row = cells.len() > 1;
            match is_row {
                true if table.names.is_empty() => table.names = cells,
                true => table.add(cells),
                false => {}
            }
            is_row
        });
        table
    }

    fn add(&mut self, cells: Vec<String>) {
        let row = StatsRow { names: &self.names, cells: &cells };
        let (time, users) = (row.number("Timestamp"), row.count("User Count"));
        let is_all = row.cell("Name") == Some("Aggregated");
        self.first = self.first.or(time);
        self.users = self.users.max(users);
        if is_all {
            self.all = Some(cells);
        }
    }

    /// The last row of all requests together.
    fn all(&self) -> Option<StatsRow<'_>> {
        self.all.as_deref().map(|cells| StatsRow { names: &self.names, cells })
    }
}

struct StatsRow<'a> {
    names: &'a [String],
    cells: &'a [String],
}

impl StatsRow<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|found| found == name)?;
        self.cells.get(at).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.cell(name).and_then(units::number)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.cell(name).and_then(units::count)
    }

    fn needed_count(&self, name: &str) -> Result<u64, String> {
        self.count(name).ok_or_else(|| format!("the row Aggregated has no count in the column {name}"))
    }

    fn percentiles(&self) -> Vec<(f64, f64)> {
        let percents = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9];
        percents
            .into_iter()
            .filter_map(|percent| Some((percent, self.number(&format!("{percent}%"))?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::only;

    #[test]
    fn row_of_all_requests_is_read() {
        let figures = only("locust/run_stats.csv").figures;
        assert_eq!((figures.requests, figures.successes), (Some(1467), Some(1304)));
        assert_eq!((figures.failures.unwrap().least, figures.latencies.percentile(99.0)), (163, Some(120.0)));
        assert!(figures.notes[0].contains("left out the end"), "the run had 1501");
    }

    #[test]
    fn history_has_the_users() {
        let found = only("locust/run_stats_history.csv");
        assert_eq!(
            (found.concurrency, found.figures.requests, found.figures.successes),
            (Some(12), Some(1467), Some(1304))
        );
        assert_eq!(found.figures.duration, Some(12.0));
    }

    /// Locust 1.0 quotes the names of columns, and texts.
    #[test]
    fn quoted_tables_are_read() {
        let stats = "\"Type\",\"Name\",\"Request Count\",\"Failure Count\",\"Median Response Time\",\"Average Response Time\",\
                     \"Min Response Time\",\"Max Response Time\",\"Average Content Size\",\"Requests/s\",\"Failures/s\",\"50%\",\"99%\"\n\
                     \"GET\",\"/a\",40,3,17,32,8,203,171,8.0,0.6,17,180\n\"None\",\"Aggregated\",40,3,17,32,8,203,171,8.0,0.6,17,180\n";
        let history = "\"Timestamp\",\"User Count\",\"Type\",\"Name\",\"Requests/s\",\"Failures/s\",\"50%\",\"Total Request Count\",\
                       \"Total Failure Count\",\"Total Average Response Time\",\"Total Max Response Time\"\n\
                       \"1579600000\",\"6\",\"None\",\"Aggregated\",0,0,\"N/A\",0,0,0,0\n\
                       \"1579600005\",\"6\",\"None\",\"Aggregated\",8,1,17,40,3,32,203\n";
        for (text, users) in [(stats, None), (history, Some(6))] {
            let found = crate::points::sections(text.as_bytes());
            let figures = &found.sections[0].figures;
            assert_eq!((found.sections[0].tool, found.sections[0].concurrency), ("locust", users));
            assert_eq!((figures.requests, figures.successes), (Some(40), Some(37)));
            assert_eq!((figures.duration, figures.latencies.max_ms), (Some(5.0), Some(203.0)));
        }
    }
}
