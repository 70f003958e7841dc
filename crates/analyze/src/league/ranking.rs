//! The ranking of frameworks by throughput, its table, and the remarks on it.

use super::apart::Apart;
use super::rank::ranks;
use super::repeats::by_framework;
use super::standing::{Standing, best_first};
use crate::error::{Error, Result};
use crate::table::{Table, Value};
use crate::timeline::Timeline;
use crate::timeline::summary::FAILING;
use crate::view::goal::Goal;

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
    /// The goals for response times in the runs' views ([`crate::View::goals`]).
    pub goals: Vec<Goal>,
}

impl League {
    /// The names of the columns of [`League::table`], without those of goals.
    pub const COLUMNS: &[&str] = &[
        "rank",
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
        let mut league = Self { test, standings, goals };
        league.rank(|framework| frameworks.get(framework).map(Vec::as_slice).unwrap_or_default());
        Ok(league)
    }

    /// Ranks the frameworks that do not fail, by the repeats of each.
    fn rank<'a>(&mut self, repeats: impl Fn(&str) -> &'a [&'a Timeline]) {
        let ranked: Vec<&Standing> = self.standings.iter().filter(|standing| !standing.fails()).collect();
        let throughputs = |standing: &&Standing| {
            repeats(&standing.framework).iter().map(|timeline| timeline.summary.throughput).collect()
        };
        let apart = Apart::new(&ranked.iter().map(throughputs).collect::<Vec<Vec<f64>>>());
        let throughput = |at: usize| ranked.get(at).map(|standing| standing.throughput);
        let is_faster = |one: usize, other: usize| match &apart {
            Some(apart) => apart.is_faster(one, other),
            None => throughput(one) > throughput(other),
        };
        let ranks = ranks(ranked.len(), is_faster);
        let faster_than = |at: usize, rank: &u64| -> Vec<String> {
            let others = ranked.iter().zip(&ranks).enumerate();
            let told = others.filter(|(other, (_, own))| *own == rank && is_faster(at, *other));
            told.map(|(_, (standing, _))| standing.framework.clone()).collect()
        };
        let told: Vec<(u64, Vec<String>)> =
            ranks.iter().enumerate().map(|(at, rank)| (*rank, faster_than(at, rank))).collect();
        for (standing, (rank, faster_than)) in self.standings.iter_mut().zip(told) {
            (standing.rank, standing.faster_than) = (Some(rank), faster_than);
        }
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
        let mut rows: Vec<(usize, Standing)> =
            std::mem::take(&mut self.standings).into_iter().enumerate().collect();
        rows.sort_by(|(one, a), (other, b)| {
            let (one, other) = (table.value(*one, at), table.value(*other, at));
            let absent = |value: &Value<'_>| *value == Value::Absent;
            let order = if descending { other.order(&one) } else { one.order(&other) };
            a.fails().cmp(&b.fails()).then(absent(&one).cmp(&absent(&other))).then(order)
        });
        self.standings = rows.into_iter().map(|(_, standing)| standing).collect();
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

    /// Returns remarks on the table as sentences: what the figures are, what a shared rank means or why ranks are
    /// uncertain, and which frameworks are not ranked.
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

    /// Returns remarks on shared ranks, and on what can't be known of ranks.
    fn notes_on_ranks(&self) -> Vec<String> {
        let ranked: Vec<&Standing> =
            self.standings.iter().filter(|standing| standing.rank.is_some()).collect();
        let single = ranked.iter().filter(|standing| standing.repeats == 1).count();
        let mut notes = Vec::new();
        if ranked.len() < 2 {
            return notes;
        }
        if single == ranked.len() {
            notes.push(
                "Each framework ran once: ranks are by value, and any difference may be chance.".to_owned(),
            );
            return notes;
        }
        let shared = |one: &&Standing| ranked.iter().filter(|other| other.rank == one.rank).count() > 1;
        if ranked.iter().any(shared) {
            notes.push(
                "Frameworks whose repeats overlap share a rank: equal ones get different ranks in at most 5 % of \
                 leagues."
                    .to_owned(),
            );
        }
        for one in ranked.iter().filter(|one| !one.faster_than.is_empty()) {
            notes.push(format!(
                "{} is faster than {}, although they share a rank: others between them differ from neither.",
                one.framework,
                one.faster_than.join(", ")
            ));
        }
        if single > 0 {
            notes.push(
                "A framework that ran once is assumed to vary between runs as much as the others.".to_owned(),
            );
        }
        notes
    }

    /// Returns the league as a table with the columns [`League::COLUMNS`], and a column for each goal.
    ///
    /// Text formats show `repeats` and the range of the throughput only if a framework has several repeats, and
    /// `partial` only if a run is partial.
    pub fn table(&self) -> Table {
        let several = self.standings.iter().any(|row| row.repeats > 1);
        let finest = self.standings.iter().map(|row| row.resolution).min().unwrap_or_default();
        let table = Table::of(&self.standings)
            .counted_in(finest)
            .column("rank", |row| row.rank)
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
