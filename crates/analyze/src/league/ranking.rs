//! The ranking of frameworks by throughput, its table, and the remarks on it.

use super::ranks::{HoldRank, hold_note, ranks, ranks_by_hold};
use super::standing::{Standing, best_first, by_framework};
use crate::error::{Error, Result};
use crate::table::Table;
use crate::timeline::Timeline;
use crate::timeline::summary::FAILING;
use crate::timeline::unseen::few_remark;
use crate::timeline::unseen::long_failures::LongFailures;
use crate::view::Goal;

/// Columns in which higher is better; ordered by them, the table is descending.
const MORE_IS_BETTER: [&str; 7] = [
    "repeats",
    "throughput",
    "throughput_min",
    "throughput_max",
    "cpu_coverage",
    "requests_per_cpu_second",
    "load_max",
];

/// A ranking of the frameworks in one test: by median throughput in descending order, then by name. Frameworks with
/// more than 1 % failed requests over all repeats are not ranked and come last.
///
/// Each run's figures are those of its own view; all runs should have the same one.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct League {
    /// The test; empty if there is no run.
    pub test: String,
    /// One row for each framework, best first unless [`League::order_by`] has changed the order.
    pub standings: Vec<Standing>,
    /// The ranks by the holds of the runs alone, of frameworks where they differ from those of the whole runs; none if
    /// a run has no hold of 20 s.
    pub hold: Vec<HoldRank>,
    /// The goals for response times in the runs' views ([`crate::View::goals`]).
    pub goals: Vec<Goal>,
}

impl League {
    /// The names of the columns of [`League::table`], without those of goals.
    pub const COLUMNS: &[&str] = &[
        "rank_low",
        "rank_high",
        "framework",
        "repeats",
        "throughput",
        "throughput_min",
        "throughput_max",
        "p50",
        "p95",
        "p99",
        "failures_percent",
        "cpu_mean",
        "cpu_coverage",
        "requests_per_cpu_second",
        "load_max",
        "partial",
    ];

    /// Ranks the runs of one test.
    ///
    /// # Errors
    /// [`Error::MixedTests`] if the runs are not all of one test.
    pub fn new<'a>(timelines: impl IntoIterator<Item = &'a Timeline>) -> Result<Self> {
        let timelines: Vec<&Timeline> = timelines.into_iter().collect();
        let test = timelines.first().map(|first| first.info.key.test.clone()).unwrap_or_default();
        if let Some(other) = timelines.iter().find(|other| other.info.key.test != test) {
            return Err(Error::MixedTests { one: test, other: other.info.key.test.clone() });
        }
        let goals = timelines.first().map(|first| first.view.goals.clone()).unwrap_or_default();
        let frameworks = by_framework(timelines);
        let standings = best_first(&frameworks);
        let mut league = Self { test, standings, hold: Vec::new(), goals };
        league.rank(|framework| frameworks.get(framework).map(Vec::as_slice).unwrap_or_default());
        Ok(league)
    }

    /// Ranks the frameworks that do not fail, by the repeats of each.
    fn rank<'a>(&mut self, repeats: impl Fn(&str) -> &'a [&'a Timeline]) {
        let ranked: Vec<&Standing> = self.standings.iter().filter(|standing| !standing.fails()).collect();
        let throughputs = |standing: &&Standing| {
            repeats(&standing.framework).iter().map(|timeline| timeline.summary.throughput).collect()
        };
        let ranks = ranks(&ranked.iter().map(throughputs).collect::<Vec<Vec<f64>>>());
        for (standing, rank) in self.standings.iter_mut().zip(ranks) {
            standing.rank = Some(rank);
        }
        let ranked: Vec<&Standing> = self.ranked().collect();
        self.hold = ranks_by_hold(&ranked, repeats);
    }

    /// Returns the frameworks that are ranked.
    fn ranked(&self) -> impl Iterator<Item = &Standing> {
        self.standings.iter().filter(|standing| standing.rank.is_some())
    }

    /// Returns the frameworks that may have the first rank; none if each of several may have it.
    pub fn best(&self) -> Vec<&Standing> {
        let first = |standing: &&Standing| standing.rank.is_some_and(|rank| rank.low == 1);
        let best: Vec<&Standing> = self.ranked().filter(first).collect();
        if best.len() > 1 && best.len() == self.ranked().count() { Vec::new() } else { best }
    }

    /// Returns the ranked framework with the highest throughput.
    pub fn fastest(&self) -> Option<&Standing> {
        self.ranked().max_by(|one, other| one.throughput.total_cmp(&other.throughput))
    }

    /// Sorts the rows by a column: descending where higher is better, ascending otherwise (times, failures, CPU,
    /// names), absent values last. Rows with equal values keep their order, and those that are not ranked stay below
    /// the others.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] if there is no such column.
    ///
    /// ```
    /// use perfpipe_analyze::{Error, League};
    ///
    /// let mut league = League::default();
    /// league.order_by("p99")?;
    /// let error = league.order_by("p999").unwrap_err();
    /// assert!(error.remedy().unwrap().contains("p50, p95, p99, failures_percent"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn order_by(&mut self, column: &str) -> Result<()> {
        Self::check_column(column, &self.goals)?;
        let table = self.table();
        let Some(at) = table.columns().iter().position(|known| known.name() == column) else { return Ok(()) };
        let descending = MORE_IS_BETTER.contains(&column) || at >= Self::COLUMNS.len();
        let ordered = table.order(at, descending).into_iter();
        self.standings = ordered.filter_map(|row| self.standings.get(row).cloned()).collect();
        self.standings.sort_by_key(Standing::fails);
        Ok(())
    }

    /// Checks that a league of runs whose views have these goals has a column.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`] if it does not; the remedy names the columns it has.
    pub fn check_column(column: &str, goals: &[Goal]) -> Result<()> {
        let known = Self::COLUMNS.iter().copied().map(str::to_owned);
        let columns: Vec<String> = known.chain(goals.iter().map(|goal| goal.column())).collect();
        if columns.iter().any(|known| known == column) {
            return Ok(());
        }
        Err(Error::UnknownColumn { column: column.to_owned(), columns })
    }

    /// Returns remarks on the table as sentences: what the figures are, what an interval of ranks means or why ranks are
    /// uncertain, which requests the times leave out or are too few for, and which frameworks are not ranked.
    /// [`Self::note_on_hold`] is another one.
    pub fn notes(&self) -> Vec<String> {
        let failing = self.standings.iter().filter(|standing| standing.fails());
        let failing: Vec<&str> = failing.map(|standing| standing.framework.as_str()).collect();
        let mut notes = Vec::new();
        if self.standings.iter().any(|standing| standing.repeats > 1) {
            notes.push(
                "Figures are medians over a framework's repeats; failures are those of all its repeats."
                    .to_owned(),
            );
        }
        notes.extend(self.notes_on_ranks());
        notes.extend(self.standings.iter().filter_map(|standing| {
            let (name, (wait, repeat)) = (&standing.framework, standing.long_wait?);
            let whose = if standing.repeats > 1 { format!("{name}, repeat {repeat}") } else { name.clone() };
            Some(format!("{whose}: its throughput includes the wait for its last answer, {wait:.1} s."))
        }));
        notes.extend(self.standings.iter().flat_map(|standing| {
            let outstanding = standing.outstanding.map(|(found, repeat)| match standing.repeats {
                1 => found.remark(),
                _ => format!("repeat {repeat}: {}", found.remark()),
            });
            let remarks = standing.long_failures.iter().map(LongFailures::remark).chain(outstanding);
            let remarks = remarks.chain(few_remark(standing.requests_min));
            remarks.map(|remark| format!("{}: {remark}.", standing.framework))
        }));
        let doubted = self.standings.iter().filter(|standing| standing.cpu_scale_in_doubt);
        let doubted: Vec<&str> = doubted.map(|standing| standing.framework.as_str()).collect();
        if !doubted.is_empty() {
            notes.push(format!(
                "{}: no CPU reading above 100 %, so 100 % may be the whole machine instead of one core. Figures per \
                 CPU-second can be compared only once the scale is given.",
                doubted.join(", ")
            ));
        }
        if !failing.is_empty() {
            notes.push(format!("Not ranked, with > {FAILING} % failures: {}.", failing.join(", ")));
        }
        notes
    }

    /// Returns what can be said of ranks.
    fn notes_on_ranks(&self) -> Vec<String> {
        let count = self.ranked().count();
        let single = self.ranked().filter(|standing| standing.repeats == 1).count();
        let mut notes = Vec::new();
        if count < 2 {
            return notes;
        }
        if single == count {
            notes.push(
                "Each framework ran once: how much its runs vary is unknown, and so is its rank. The order is that of \
                 the throughputs."
                    .to_owned(),
            );
            return notes;
        }
        if self.ranked().any(|standing| standing.rank.is_some_and(|rank| rank.low < rank.high)) {
            notes.push(
                "A rank is an interval where repeats leave it open: in at least 95 % of leagues, each true rank is \
                 within its own."
                    .to_owned(),
            );
        }
        if single > 0 {
            notes.push(
                "A framework that ran once is assumed to vary between runs as much as the others.".to_owned(),
            );
        }
        notes
    }

    /// Returns the remark that the holds of the runs alone give other ranks; `None` if they do not.
    pub fn note_on_hold(&self) -> Option<String> {
        hold_note(&self.hold)
    }

    /// Returns the league as a table with the columns [`League::COLUMNS`], and a column for each goal.
    ///
    /// Text formats show both ends of a rank in one column, `repeats` and the range of the throughput only if a framework has several repeats, and
    /// `partial` only if a run is partial.
    pub fn table(&self) -> Table {
        let several = self.standings.iter().any(|row| row.repeats > 1);
        let finest = self.standings.iter().map(|row| row.resolution).min().unwrap_or_default();
        let table = Table::of(&self.standings)
            .schema("perfpipe-league/1")
            .counted_in(finest)
            .column("rank_low", |row| row.rank)
            .title("rank")
            .column("rank_high", |row| Some(row.rank?.high))
            .people_see(false)
            .column("framework", |row| Some(row.framework.clone()))
            .major()
            .column("repeats", |row| Some(row.repeats))
            .people_see(several)
            .column("throughput", |row| Some(row.throughput))
            .unit("1/s", 1)
            .major()
            .column("throughput_min", |row| Some(row.throughput_min))
            .title("least")
            .unit("1/s", 1)
            .minor()
            .people_see(several)
            .column("throughput_max", |row| Some(row.throughput_max))
            .title("greatest")
            .unit("1/s", 1)
            .minor()
            .people_see(several)
            .column("p50", |row| row.p50)
            .unit("ms", 1)
            .minor()
            .column("p95", |row| row.p95)
            .unit("ms", 1)
            .column("p99", |row| row.p99)
            .unit("ms", 1)
            .column("failures_percent", |row| row.failures_percent)
            .title("failures")
            .unit("%", 2)
            .major()
            .column("cpu_mean", |row| row.cpu_mean)
            .title("mean CPU")
            .unit("%", 1)
            .column("cpu_coverage", |row| row.cpu_coverage)
            .title("CPU coverage")
            .share()
            .minor()
            .people_see(self.standings.iter().any(|row| row.cpu_coverage.is_some_and(|share| share < 1.0)))
            .column("requests_per_cpu_second", |row| row.requests_per_cpu_second)
            .title("per CPU-second")
            .unit("", 1)
            .minor()
            .column("load_max", |row| row.load_max)
            .unit("", 1)
            .minor()
            .column("partial", |row| Some(row.partial))
            .major()
            .people_see(self.standings.iter().any(|row| row.partial));
        let goals = self.goals.iter().enumerate().fold(table, |table, (at, goal)| {
            goal.add_to(table, move |row: &Standing| row.goals.get(at).copied().flatten())
        });
        goals.done()
    }
}
