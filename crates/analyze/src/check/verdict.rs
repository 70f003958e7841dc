//! The check of a run against rules, and its verdicts; with a duration, the seconds in a row that break a rule.

use perfpipe_model::{RunKey, StoredRun};

use super::baseline::{Baseline, RuleTimelines};
use super::bound::Bound;
use super::gate::{Comparison, Gate, RuleFigures};
use super::rule::{Limit, Operator, Rule};
use super::server::OfServer;
use crate::error::{Error, Result};
use crate::format::Unit;
use crate::table::{Table, Tone};
use crate::timeline::Timeline;
use crate::timeline::unseen::long_failures::LongFailures;
use crate::view::View;
use crate::view::phases::Span;

/// The least and the most decimals of a value and its limit in text output.
const DECIMALS: std::ops::RangeInclusive<u8> = 2..=17;

/// Result of checking one rule.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The run's key, or that of a level of points.
    pub run: String,
    /// The text of the rule.
    pub rule: String,
    /// True if the rule holds; false also where there is no figure to judge by. True also where chance is too great to say
    /// (see [`Verdict::outcome`]).
    pub holds: bool,
    /// The figure judged by; for a rule about single seconds, that of the worst second.
    pub value: Option<f64>,
    /// The limit compared with; equal to the value if the two differ by no more than rounding explains.
    pub limit: Option<f64>,
    /// The unit of both.
    pub unit: Unit,
    /// For a rule about single seconds: the longest row of seconds that break it, or that leave it undecided.
    pub span: Option<Span>,
    /// A remark, as on a missing figure, or on requests that the figure leaves out.
    pub note: Option<String>,
    /// The failures that took longer than the figure and are not in it, if they matter to it.
    pub long_failures: Option<LongFailures>,
    /// True if the rule does not hold because there is no figure to judge by, or because seconds without a value leave it
    /// open.
    pub open: bool,
    /// True if the rule is about chance, and the data can't tell.
    pub unknown: bool,
    /// True if the rule does not hold because there is no run to compare with.
    pub lacks_baseline: bool,
    /// Of a rule about chance: how the figure compares with that of the baseline.
    pub comparison: Option<Comparison>,
    /// Of a fixed limit by a baseline: the share of equal runs that would break it by chance, 0 to 1, if that is known.
    pub equal_runs_break: Option<f64>,
}

/// What became of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It is about chance, and the data can't tell.
    Unknown,
}

impl RuleOutcome {
    /// Returns the name used in output: `passed`, `failed` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl Verdict {
    /// Returns what became of the rule. An unknown outcome holds, unless the caller decides otherwise.
    pub fn outcome(&self) -> RuleOutcome {
        match (self.unknown, self.holds) {
            (true, _) => RuleOutcome::Unknown,
            (false, true) => RuleOutcome::Passed,
            (false, false) => RuleOutcome::Failed,
        }
    }

    /// Returns the verdict on a rule that can't be checked in a run, as one on a label that the run does not have: the
    /// rule does not hold, and the note says why.
    pub fn unchecked(rule: &Rule, run: &RunKey, why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), ..Self::open(rule, run.to_string()) }
    }

    /// Returns a verdict without a figure.
    pub(super) fn open(rule: &Rule, run: String) -> Self {
        Self {
            run,
            rule: rule.to_string(),
            holds: false,
            value: None,
            limit: None,
            unit: rule.measure.unit(),
            span: None,
            note: None,
            long_failures: None,
            open: true,
            unknown: false,
            lacks_baseline: false,
            comparison: None,
            equal_runs_break: None,
        }
    }

    /// Returns the number of decimals, at least two, with which a value and a limit that differ print differently.
    pub fn decimals(&self) -> u8 {
        let shown = |number: f64, decimals: u8| format!("{number:.*}", usize::from(decimals));
        let distinct = |one: f64, other: f64| {
            DECIMALS.into_iter().find(|decimals| shown(one, *decimals) != shown(other, *decimals))
        };
        let differ = self.value.zip(self.limit).filter(|(value, limit)| value != limit);
        differ.and_then(|(value, limit)| distinct(value, limit)).unwrap_or(*DECIMALS.start())
    }
}

/// Checks a run against rules; see [`Rule`] for their syntax.
///
/// A label or a phase in a rule takes precedence over that of the view. Everything is computed from the exact counts
/// alone, once for each label and phase that rules name. A rule about points (`at 32`) does not hold in a run. Rules about
/// chance are decided together; a [`Gate`] decides those of several runs, and of repeats by their mean.
///
/// # Errors
/// [`Error::NoBaseline`] if a rule needs a baseline and none is given; otherwise the same errors as [`Timeline::new`].
/// A label or a phase that the run does not have is therefore an error, never a pass.
///
/// ```
/// use perfpipe_analyze::{Rule, View, check};
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// let key = CellKey { second: 0, label: 0, success: true, transaction: false };
/// let cell = Cell { elapsed: vec![(10, 2), (40, 1)], ..Cell::default() };
/// let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 900);
/// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]));
/// let rules: [Rule; 2] = ["p50 <= 10ms".parse()?, "cpu < 80%".parse()?];
/// let verdicts = check(&rules, &run, &View::default(), None)?;
/// assert_eq!((verdicts[0].holds, verdicts[0].value), (true, Some(10.0)));
/// assert_eq!((verdicts[1].holds, verdicts[1].value), (false, None), "a run without CPU readings");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn check(
    rules: &[Rule],
    run: &StoredRun,
    view: &View,
    baseline: Option<&Baseline>,
) -> Result<Vec<Verdict>> {
    let compared = rules.iter().find(|rule| rule.needs_baseline());
    if let (None, Some(rule)) = (baseline, compared) {
        return Err(Error::NoBaseline { rule: rule.to_string() });
    }
    let figures = RuleTimelines::new(rules, run, view)?;
    let measured = RuleFigures::new(rules, run, view)?;
    let mut gate = Gate::default();
    if let Some(baseline) = baseline {
        gate.add(rules, &run.info.key.to_string(), std::slice::from_ref(&measured), baseline);
    }
    let mut decided = gate.verdicts().into_iter();
    let verdict = |rule: &Rule| match rule.knows_chance() {
        true => decided
            .next()
            .map(|verdict| figures.of(rule).map_or(verdict.clone(), |of| rule.remarked(of, verdict))),
        false => Some(judge(rule, figures.of(rule)?, baseline, &measured)),
    };
    Ok(rules.iter().filter_map(verdict).collect())
}

/// Builds a table of verdicts: `run`, `rule`, `passed`, `outcome`, `value`, `limit`, `unit`, `first`, `last` (seconds), `note`;
/// of rules about chance `change_percent`, its interval (`change_percent_low`, `change_percent_high`), that of the difference
/// (`difference_low`, `difference_high`), `p_adjusted` and `noise`; and of fixed limits by a baseline
/// `equal_runs_break_percent`.
pub fn verdict_table(verdicts: &[Verdict]) -> Table {
    let decimals = verdicts.iter().map(Verdict::decimals).max().unwrap_or_default();
    let spans = verdicts.iter().any(|row| row.span.is_some());
    Table::of(verdicts)
        .schema("perfpipe-check/1")
        .column("run", |row| Some(row.run.clone()))
        .column("rule", |row| Some(row.rule.clone()))
        .major()
        .column("passed", |row| Some(row.holds))
        .people_see(false)
        .column("outcome", |row| Some(row.outcome().name().to_owned()))
        .title("passed")
        .words(&[("passed", "yes"), ("failed", "no")])
        .major()
        .tones(&[("yes", Tone::Good), ("no", Tone::Bad), ("unknown", Tone::Doubt)])
        .column("value", |row| row.value)
        .unit("", decimals)
        .column("limit", |row| row.limit)
        .unit("", decimals)
        .column("unit", |row| Some(row.unit.name().to_owned()))
        .column("first", |row| row.span.map(|span| u64::from(span.first)))
        .people_see(spans)
        .minor()
        .column("last", |row| row.span.map(|span| u64::from(span.last)))
        .people_see(spans)
        .minor()
        .column("note", |row| row.note.clone())
        .people_see(verdicts.iter().any(|row| row.note.is_some()))
        .column("change_percent", |row| row.comparison.as_ref()?.percent())
        .people_see(false)
        .column("change_percent_low", |row| row.comparison.as_ref()?.percent_interval.map(|(low, _)| low))
        .people_see(false)
        .column("change_percent_high", |row| row.comparison.as_ref()?.percent_interval.map(|(_, high)| high))
        .people_see(false)
        .column("difference_low", |row| row.comparison.as_ref()?.interval.map(|(low, _)| low))
        .people_see(false)
        .column("difference_high", |row| row.comparison.as_ref()?.interval.map(|(_, high)| high))
        .people_see(false)
        .column("p_adjusted", |row| row.comparison.as_ref()?.p_adjusted)
        .people_see(false)
        .column("noise", |row| Some(row.comparison.as_ref()?.noise?.name().to_owned()))
        .people_see(false)
        .column("equal_runs_break_percent", |row| row.equal_runs_break.map(|share| 100.0 * share))
        .people_see(false)
        .done()
}

/// Computes the limit of a rule, whose numbers are in `unit`, or returns the reason why the baseline gives none.
fn bound(rule: &Rule, baseline: Option<&Baseline>, unit: f64) -> std::result::Result<Bound, &'static str> {
    match rule.limit {
        Limit::Number(number) => Ok(Bound::of(number * unit)),
        Limit::Baseline(factor, more) => {
            let lack = baseline.map_or("there is no baseline", Baseline::lack);
            let value = baseline.and_then(|baseline| baseline.value(rule)).ok_or(lack)?;
            Ok(Bound::sum(value * factor, more * unit))
        }
    }
}

fn judge(rule: &Rule, timeline: &Timeline, baseline: Option<&Baseline>, own: &RuleFigures) -> Verdict {
    let open = Verdict::open(rule, timeline.info.key.to_string());
    if rule.level.is_some() {
        return Verdict { note: Some("the rule is about points of a sweep".into()), ..open };
    }
    let (unit, open) = match rule.of_server(timeline) {
        Ok(None) => (1.0, open),
        Ok(Some((series, factor))) => (factor, Verdict { unit: OfServer::unit_of(&series.unit), ..open }),
        Err(lack) => return Verdict { note: Some(lack), ..open },
    };
    let bound = match bound(rule, baseline, unit) {
        Ok(bound) => bound,
        Err(lack) => {
            let lacks_baseline = baseline.is_some_and(Baseline::is_empty);
            return Verdict { note: Some(lack.into()), lacks_baseline, ..open };
        }
    };
    let verdict = Verdict { limit: Some(bound.limit()), ..open };
    let verdict = match rule.lasting {
        Some(lasting) => judge_seconds(rule, timeline, bound, lasting, verdict),
        None => match rule.of_run(timeline) {
            Some(value) => Verdict {
                holds: rule.operator.holds(value, bound),
                open: false,
                value: Some(value),
                limit: Some(bound.against(value)),
                ..verdict
            },
            None => Verdict { note: Some("the run has no such figure".into()), ..verdict },
        },
    };
    if verdict.value.is_none() {
        return verdict;
    }
    let verdict = match baseline.and_then(|baseline| own.equal_runs_break(rule, baseline, unit)) {
        Some(broken) => {
            Verdict { note: Some(broken.sentence()), equal_runs_break: Some(broken.share), ..verdict }
        }
        None => verdict,
    };
    rule.remarked(timeline, verdict)
}

/// Judges a rule about single seconds.
fn judge_seconds(rule: &Rule, timeline: &Timeline, bound: Bound, lasting: u32, verdict: Verdict) -> Verdict {
    let known = |value: f64| (value, !rule.operator.holds(value, bound));
    let seconds = timeline
        .whole_seconds()
        .iter()
        .map(|second| Judged { second: second.second, known: rule.of_second(timeline, second).map(known) });
    let seconds: Vec<Judged> = seconds.collect();
    let judged = Lasting::of(&seconds, lasting);
    let (row, note) = match judged {
        Lasting::Holds(row) => (row, None),
        Lasting::Broken(row) => {
            let unknown = Some(unknown_seconds(row)).filter(|unknown| *unknown > 0);
            (row, unknown.map(|unknown| format!("{unknown} of these seconds have no value")))
        }
        Lasting::Open(row) => (row, Some(describe_open(row))),
        Lasting::Short => {
            let note = format!(
                "can't be judged: the view has {} seconds, and the rule needs {lasting}",
                seconds.len()
            );
            return Verdict { note: Some(note), ..verdict };
        }
    };
    let value = worst(rule.operator, if row.is_empty() { &seconds } else { row });
    let limit = Some(value.map_or(bound.limit(), |value| bound.against(value)));
    let (holds, open) = (matches!(judged, Lasting::Holds(_)), matches!(judged, Lasting::Open(_)));
    Verdict { holds, open, value, limit, span: span_of_row(row), note, ..verdict }
}

/// Returns the value that is farthest on the wrong side of the limit.
fn worst(operator: Operator, seconds: &[Judged]) -> Option<f64> {
    let mut values = values_of_row(seconds);
    match operator {
        Operator::Less | Operator::LessOrEqual => values.reduce(f64::max),
        Operator::Greater | Operator::GreaterOrEqual => values.reduce(f64::min),
        Operator::Equal | Operator::Unequal => values.next(),
    }
}

/// One selected second, judged by a rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) second: u32,
    /// The second's value, and true if it breaks the rule; `None` if the second has no value.
    pub(super) known: Option<(f64, bool)>,
}

/// Result of a rule that must not be broken for a number of seconds in a row.
///
/// A rule holds only if it would hold for any values of the unknown seconds, since absent readings are no evidence.
#[derive(Debug)]
enum Lasting<'a> {
    /// The rule holds. Contains the longest row of seconds that break it, empty if no second does.
    Holds(&'a [Judged]),
    /// The rule is broken: a row of breaking seconds is long enough, with gaps of fewer unknown seconds than the
    /// duration.
    Broken(&'a [Judged]),
    /// Can't be judged: breaking and unknown seconds combined make a row that is long enough, with no second that
    /// holds.
    Open(&'a [Judged]),
    /// There are fewer seconds than the rule's duration.
    Short,
}

impl<'a> Lasting<'a> {
    /// Judges consecutive seconds by a rule with a duration of `lasting` seconds.
    pub(super) fn of(seconds: &'a [Judged], lasting: u32) -> Self {
        let lasting = lasting as usize;
        if seconds.len() < lasting {
            return Self::Short;
        }
        let keeps = |second: &Judged| second.known.is_some_and(|(_, breaks)| !breaks);
        let possible = || seconds.split(keeps);
        let broken = longest(possible().flat_map(|row| broken(row, lasting)));
        let open = longest(possible());
        match (broken.len() >= lasting, open.len() >= lasting) {
            (true, _) => Self::Broken(broken),
            (false, true) => Self::Open(open),
            (false, false) => Self::Holds(broken),
        }
    }
}

/// Finds the rows that begin and end with a known second and have gaps shorter than `lasting`. `row` has no second
/// that keeps to the rule.
fn broken(row: &[Judged], lasting: usize) -> Vec<&[Judged]> {
    let known: Vec<usize> =
        row.iter().enumerate().filter(|(_, second)| second.known.is_some()).map(|(at, _)| at).collect();
    let rows = known.chunk_by(|one, next| next - one <= lasting);
    rows.filter_map(|rows| row.get(*rows.first()?..=*rows.last()?)).collect()
}

/// Returns the longest row, the first of equally long ones; empty if there is none.
fn longest<'a>(rows: impl Iterator<Item = &'a [Judged]>) -> &'a [Judged] {
    rows.reduce(|longest, row| if row.len() > longest.len() { row } else { longest }).unwrap_or_default()
}

/// Returns the first and the last second of a row; `None` if it is empty.
fn span_of_row(row: &[Judged]) -> Option<Span> {
    Some(Span { first: row.first()?.second, last: row.last()?.second })
}

/// Returns the known values of a row.
fn values_of_row(row: &[Judged]) -> impl Iterator<Item = f64> {
    row.iter().filter_map(|second| Some(second.known?.0))
}

/// Describes why a row of seconds can't be judged.
fn describe_open(row: &[Judged]) -> String {
    let (all, unknown) = (row.len(), unknown_seconds(row));
    match span_of_row(row) {
        Some(Span { first, last }) if first == last => {
            format!("can't be judged: second {first} has no value")
        }
        Some(Span { first, last }) if unknown == all => {
            format!("can't be judged: none of the {all} seconds {first} to {last} has a value")
        }
        Some(Span { first, last }) => format!(
            "can't be judged: {unknown} of the {all} seconds {first} to {last} have no value, and the others \
             break the rule"
        ),
        None => "can't be checked: there is no second".to_owned(),
    }
}

/// Returns the number of seconds without a value in a row.
fn unknown_seconds(row: &[Judged]) -> usize {
    row.iter().filter(|second| second.known.is_none()).count()
}

#[cfg(test)]
mod tests {
    use perfpipe_model::RunInfo;
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::series::TimeSeries;
    use proptest::prelude::*;

    use super::*;

    /// A run with this many successes of 10 ms in each second.
    fn run(successes: &[u64]) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cell = |n: u64| Cell { elapsed: vec![(10, n)], ..Cell::default() };
        let busy = (0..).zip(successes).filter(|(_, n)| **n > 0);
        let cells = busy.map(|(second, n)| (key(second), cell(*n)));
        StoredRun::new(
            RunInfo::new(RunKey::new("a", "b"), 0, 1000 * successes.len() as i64 - 1),
            CellTable::new(vec!["Get".into()], vec![], cells),
        )
    }

    fn judged(rule: &str, run: &StoredRun, baseline: Option<&StoredRun>) -> Verdict {
        let view = View::default();
        let rules = [rule.parse().unwrap()];
        let baseline = baseline.map(|run| of_runs(&rules, &[run]));
        check(&rules, run, &view, baseline.as_ref()).unwrap().remove(0)
    }

    fn of_runs(rules: &[Rule], runs: &[&StoredRun]) -> Baseline {
        let mut baseline = Baseline::new(rules);
        runs.iter().for_each(|run| baseline.add(run, &View::default()).unwrap());
        baseline
    }

    proptest! {
        #[test]
        fn lasting_rule_is_broken_by_as_many_seconds_in_a_row(
            successes in prop::collection::vec(0..6u64, 1..40), limit in 0..6u64, lasting in 1..6usize,
        ) {
            let run = run(&successes);
            let verdict = judged(&format!("throughput >= {limit} for {lasting}s"), &run, None);
            let broken = successes.windows(lasting).any(|row| row.iter().all(|n| *n < limit));
            prop_assert_eq!(verdict.holds, !broken && successes.len() >= lasting, "{:?}", verdict);
            if let Some(span) = verdict.span {
                let row = &successes[span.first as usize..=span.last as usize];
                prop_assert!(row.iter().all(|n| *n < limit));
                prop_assert_eq!(verdict.value, row.iter().min().map(|n| *n as f64));
            }
        }

        /// The verdict must be the same for all values that the unknown seconds might have had.
        #[test]
        fn lasting_rule_holds_where_no_unknown_second_could_break_it(
            seconds in prop::collection::vec(prop::option::weighted(0.6, any::<bool>()), 1..11), lasting in 1..8usize,
        ) {
            let verdict = judged(&format!("mean < 15 for {lasting}s"), &of_seconds(&seconds), None);
            let unknown = seconds.iter().filter(|second| second.is_none()).count();
            let fillings = (0..1u32 << unknown).map(|bits| {
                let mut at = 0;
                let filled = seconds.iter().map(|second| second.unwrap_or_else(|| {
                    at += 1;
                    bits >> (at - 1) & 1 == 0
                }));
                filled.collect::<Vec<bool>>()
            });
            let keeps = |filled: Vec<bool>| filled.windows(lasting).all(|row| row.contains(&true));
            let keeps: Vec<bool> = fillings.map(keeps).collect();
            let holds = keeps.iter().all(|keeps| *keeps) && seconds.len() >= lasting;
            prop_assert_eq!(verdict.holds, holds, "{:?}", verdict);
            // A rule that every filling breaks is reported as broken, with its seconds.
            if keeps.iter().all(|keeps| !keeps) {
                prop_assert!(verdict.span.is_some_and(|span| span.seconds() as usize >= lasting), "{:?}", verdict);
                prop_assert!(verdict.note.is_none_or(|note| !note.contains("can't be checked")));
            }
        }
    }

    #[test]
    fn limits_follow_the_baseline() {
        let (slow, fast) = (run(&[4, 4]), run(&[8, 8]));
        let against = |rule| judged(rule, &slow, Some(&fast));
        assert!(!against("throughput >= baseline").holds);
        assert!(against("throughput >= baseline * 0.5").holds);
        assert_eq!(against("throughput > baseline - 4").limit, Some(4.0));
        assert!(against("requests != baseline").holds);
        assert_eq!(against("cpu < baseline").note.as_deref(), Some("the baseline has no such figure"));
        let alone = check(&["p50 < baseline".parse().unwrap()], &slow, &View::default(), None);
        assert!(matches!(alone, Err(Error::NoBaseline { .. })));
    }

    #[test]
    fn rule_without_an_earlier_run_says_so() {
        let rule = ["throughput >= baseline".parse().unwrap()];
        let none = check(&rule, &run(&[4, 4]), &View::default(), Some(&Baseline::new(&rule))).unwrap();
        assert!(!none[0].holds);
        assert_eq!(none[0].note.as_deref(), Some("there is no earlier run to compare with"));
    }

    #[test]
    fn several_runs_are_a_baseline_by_their_median() {
        let runs = [run(&[2, 2]), run(&[9, 9]), run(&[4, 4])];
        let rules = ["throughput >= baseline".parse().unwrap(), "cpu < baseline".parse().unwrap()];
        let baseline = of_runs(&rules, &runs.each_ref());
        let verdicts = check(&rules, &run(&[5, 5]), &View::default(), Some(&baseline)).unwrap();
        assert_eq!((verdicts[0].holds, verdicts[0].limit), (true, Some(4.0)));
        assert_eq!(verdicts[1].note.as_deref(), Some("the baseline has no such figure"));
        assert_eq!(of_runs(&rules, &[]).value(&rules[0]), None);
    }

    /// A run of seconds that are good (10 ms), bad (20 ms) or silent, which makes them unknown.
    fn of_seconds(seconds: &[Option<bool>]) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cell = |good: bool| Cell { elapsed: vec![(if good { 10 } else { 20 }, 1)], ..Cell::default() };
        let known = (0..).zip(seconds).filter_map(|(at, good)| Some((key(at), cell((*good)?))));
        let run = run(&vec![0; seconds.len()]);
        StoredRun::new(run.info, CellTable::new(vec!["Get".into()], vec![], known))
    }

    /// 120 seconds with a value in every `step`-th.
    fn every(step: usize, good: impl Fn(usize) -> bool) -> StoredRun {
        of_seconds(&(0..120).map(|at| (at % step == 0).then(|| good(at))).collect::<Vec<_>>())
    }

    #[test]
    fn sparse_readings_of_a_busy_machine_break_a_rule() {
        for every in [1, 5, 10, 30] {
            let with = |cpu: f64| {
                let mut run = run(&[0; 120]);
                run.cpu = TimeSeries::new((0..120).step_by(every).map(|at| (at, cpu)).collect());
                run
            };
            let busy = judged("cpu < 6500 for 30s", &with(7000.0), None);
            assert_eq!((busy.holds, busy.value), (false, Some(7000.0)), "{busy:?}");
            assert!(busy.span.is_some_and(|span| span.first == 0 && span.last >= 90), "{busy:?}");
            let calm = judged("cpu < 6500 for 30s", &with(6000.0), None);
            assert_eq!((calm.holds, calm.note), (true, None), "every {every} s");
        }
    }

    #[test]
    fn seconds_without_a_value_leave_a_rule_open() {
        let judged = |rule: &str, run: &StoredRun| {
            let verdict = judged(rule, run, None);
            (verdict.holds, verdict.span.map(|span| (span.first, span.last)), verdict.note)
        };
        let rule = "mean < 15 for 30s";
        // One bad value, others at a distance of 5 or 30 s.
        assert_eq!(judged(rule, &every(5, |at| at != 60)), (true, Some((60, 60)), None));
        let note =
            "can't be judged: 58 of the 59 seconds 31 to 89 have no value, and the others break the rule";
        assert_eq!(judged(rule, &every(30, |at| at != 60)), (false, Some((31, 89)), Some(note.into())));
        // No value for as long as the duration, and for the whole run.
        let note = "can't be judged: none of the 59 seconds 1 to 59 has a value";
        assert_eq!(judged(rule, &every(60, |_| true)), (false, Some((1, 59)), Some(note.into())));
        let note = "can't be judged: none of the 40 seconds 0 to 39 has a value";
        assert_eq!(judged(rule, &run(&[0; 40])), (false, Some((0, 39)), Some(note.into())));
        let note = "can't be judged: second 1 has no value";
        assert_eq!(judged("mean < 15 for 1s", &run(&[1, 0, 1])), (false, Some((1, 1)), Some(note.into())));
        let note = "can't be judged: the view has 40 seconds, and the rule needs 60";
        assert_eq!(judged("mean < 15 for 60s", &run(&[1; 40])), (false, None, Some(note.into())));
    }

    #[test]
    fn slow_requests_that_come_seldom_break_a_rule() {
        let slow: Vec<Option<bool>> = (0..60).map(|at| (at % 2 == 0).then_some(false)).collect();
        let verdict = judged("p95 < 15 for 10s", &of_seconds(&slow), None);
        assert_eq!((verdict.holds, verdict.span), (false, Some(Span { first: 0, last: 58 })), "{verdict:?}");
        assert_eq!(verdict.note.as_deref(), Some("29 of these seconds have no value"));
    }

    /// A run with one second, with these elapsed times in ms and their counts.
    fn of_times(times: &[(i32, u64)]) -> StoredRun {
        let key = CellKey { second: 0, label: 0, success: true, transaction: false };
        let cell = Cell { elapsed: times.to_vec(), ..Cell::default() };
        StoredRun::new(run(&[1]).info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]))
    }

    #[test]
    fn figures_that_differ_in_their_representation_only_are_equal() {
        // 50 * 1.14 is 56.99999999999999 in binary; 1000.1 - 1000 is 0.10000000000002274.
        let (slow, fast) = (of_times(&[(57, 1)]), of_times(&[(50, 1)]));
        for (sign, holds) in
            [("<=", true), (">=", true), ("==", true), ("<", false), (">", false), ("!=", false)]
        {
            let verdict = judged(&format!("p95 {sign} baseline * 1.14"), &slow, Some(&fast));
            assert_eq!(
                (verdict.holds, verdict.value, verdict.limit),
                (holds, Some(57.0), Some(57.0)),
                "{sign}"
            );
            let lasting = judged(&format!("p95 {sign} baseline * 1.14 for 1s"), &slow, Some(&fast));
            assert_eq!((lasting.holds, lasting.limit), (holds, Some(57.0)), "{sign}");
        }
        let (tenth, thousand) = (of_times(&[(0, 9), (1, 1)]), of_times(&[(1000, 9), (1001, 1)]));
        assert!(judged("mean == baseline - 1000", &tenth, Some(&thousand)).holds);
        // Values that differ are printed differently, too.
        let verdict = judged("p95 <= 56.9999999999", &slow, None);
        assert!(!verdict.holds && verdict.limit == Some(56.999_999_999_9));
        let mut printed = Vec::new();
        verdict_table(&[verdict]).write(crate::table::Format::Text, &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.contains("57.0000000000  56.9999999999"), "{printed}");
    }

    #[test]
    fn figure_that_the_run_lacks_is_an_error_and_no_pass() {
        let run = run(&[1, 2]);
        for rule in ["mean of \"Gett\" < 5", "mean in hold < 5"] {
            assert!(check(&[rule.parse().unwrap()], &run, &View::default(), None).is_err(), "{rule}");
        }
    }
}
