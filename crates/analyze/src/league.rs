//! The league table: the runs of one test by framework, the fastest first.

use crate::error::{Error, Result};
use crate::table::Table;
use crate::timeline::Timeline;

/// The runs of one test compared, best first: by throughput, then by the framework's name.
///
/// Each run's figures are those of its own view; let all have the same one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct League {
    /// The test; empty where there is no run.
    pub test: String,
    /// A row for each run, best first.
    pub standings: Vec<Standing>,
}

/// One run among others. Times are in ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The system under test.
    pub framework: String,
    /// Successes a second, silent seconds counted.
    pub throughput: f64,
    /// Elapsed at 50 %.
    pub p50: Option<f64>,
    /// Elapsed at 95 %.
    pub p95: Option<f64>,
    /// Elapsed at 99 %.
    pub p99: Option<f64>,
    /// Failures in percent of all requests.
    pub failures_percent: Option<f64>,
    /// Mean CPU utilisation over the seconds that have one, in the export's percent.
    pub cpu_mean: Option<f64>,
    /// Whether the run was made from damaged files, of which a part could be read.
    pub partial: bool,
}

impl League {
    /// Ranks the runs of one test.
    ///
    /// # Errors
    /// When they are not all of one test.
    pub fn new<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Result<Self> {
        let mut league = Self::default();
        for timeline in timelines {
            let test = &timeline.info.key.test;
            if league.standings.is_empty() {
                league.test.clone_from(test);
            } else if league.test != *test {
                return Err(Error::MixedTests { one: league.test, other: test.clone() });
            }
            league.standings.push(Standing::of(timeline));
        }
        league.standings.sort_by(|a, b| {
            b.throughput.total_cmp(&a.throughput).then_with(|| a.framework.cmp(&b.framework))
        });
        Ok(league)
    }

    /// The league as a table: `framework`, `throughput`, `p50`, `p95`, `p99`, `failures_percent`, `cpu_mean`,
    /// `partial`.
    pub fn table(&self) -> Table {
        Table::of(&self.standings)
            .column("framework", |row| Some(row.framework.clone()))
            .column("throughput", |row| Some(row.throughput))
            .unit("1/s", 1)
            .column("p50", |row| row.p50)
            .unit("ms", 1)
            .column("p95", |row| row.p95)
            .unit("ms", 1)
            .column("p99", |row| row.p99)
            .unit("ms", 1)
            .column("failures_percent", |row| row.failures_percent)
            .title("failures")
            .unit("%", 2)
            .column("cpu_mean", |row| row.cpu_mean)
            .title("mean CPU")
            .unit("%", 1)
            .column("partial", |row| Some(row.partial))
            .done()
    }
}

impl Standing {
    fn of(timeline: &Timeline) -> Self {
        let summary = &timeline.summary;
        Self {
            framework: timeline.info.key.framework.clone(),
            throughput: summary.throughput,
            p50: summary.p50,
            p95: summary.p95,
            p99: summary.p99,
            failures_percent: summary.failure_share().map(|share| share * 100.0),
            cpu_mean: summary.cpu_mean,
            partial: timeline.info.is_partial(),
        }
    }
}
