//! Rules about chance, decided together: is a figure worse than that of a baseline by more than chance explains?

use perfpipe_model::StoredRun;

use super::baseline::{Baseline, LabelPhase, part, view_of};
use super::measure::Measure;
use super::not_worse::NotWorse;
use super::rule::{Limit, Operator, Rule};
use super::server::OfServer;
use super::verdict::Verdict;
use crate::compare::difference::{MISSED, adjusted};
use crate::compare::margin::{KnownNoise, Null, TestedFigure, tested};
use crate::compare::{self, Measured, Noise, Side};
use crate::error::Result;
use crate::format::decimals;
use crate::view::View;

/// The figures of a run that rules compare with a baseline, with their noise.
///
/// Takes about 100 KB for each label and phase that the rules name.
#[derive(Debug, Clone)]
pub struct RuleFigures {
    measured: Vec<(LabelPhase, Measured)>,
}

impl RuleFigures {
    /// Measures a run for the rules that compare figures whose noise can be known; for all others, nothing is measured.
    ///
    /// # Errors
    /// The same errors as [`crate::check`].
    pub fn new(rules: &[Rule], run: &StoredRun, view: &View) -> Result<Self> {
        let rules: Vec<&Rule> = rules.iter().filter(|rule| is_measured(rule)).collect();
        // The memory of the noise is that of all figures of the server, so that there should be more than the rules name.
        let mut percentiles = View::default().percentiles;
        for rule in &rules {
            if let Measure::Percentile(percent) = rule.measure
                && !percentiles.contains(&percent)
            {
                percentiles.push(percent);
            }
        }
        let view = View { percentiles, goals: Vec::new(), ..view.clone() };
        let mut measured: Vec<(LabelPhase, Measured)> = Vec::new();
        for part in rules.iter().map(|rule| part(rule)) {
            if measured.iter().all(|(known, _)| *known != part) {
                let of_part = Measured::new(run, &view_of(&part, &view))?;
                measured.push((part, of_part));
            }
        }
        Ok(Self { measured })
    }

    fn of(&self, rule: &Rule) -> Option<&Measured> {
        let part = part(rule);
        self.measured.iter().find(|(known, _)| *known == part).map(|(_, measured)| measured)
    }

    /// Returns how often a run that equals the baseline would break a rule with a fixed limit; `None` if that can't be
    /// estimated.
    pub(super) fn equal_runs_break(&self, rule: &Rule, baseline: &Baseline, unit: f64) -> Option<EqualRuns> {
        let Limit::Baseline(times, plus) = rule.limit else { return None };
        if !is_measured(rule) {
            return None;
        }
        let (a, b) = (side(rule, baseline.runs())?, side(rule, std::slice::from_ref(self))?);
        let null = Null { times, plus: plus * unit };
        let known = tested(&a, &b, &figure(rule, [&a, &b])?, null)?.known.filter(|known| known.is_sure)?;
        let share = match rule.operator {
            Operator::Less | Operator::LessOrEqual => known.equal_above,
            Operator::Greater | Operator::GreaterOrEqual => 1.0 - known.equal_above,
            Operator::Equal | Operator::Unequal => return None,
        };
        Some(EqualRuns { share, noise: known.noise })
    }
}

/// How often runs that equal their baseline break a rule.
pub(super) struct EqualRuns {
    pub(super) share: f64,
    noise: Noise,
}

impl EqualRuns {
    pub(super) fn sentence(&self) -> String {
        let percent = 100.0 * self.share;
        let often = match percent {
            ..0.1 => "less than 0.1 %".to_owned(),
            ..10.0 => format!("about {} %", decimals(percent, 1)),
            _ => format!("about {} %", decimals(percent, 0)),
        };
        let scatter = match self.noise {
            Noise::Repeats => "the repeats",
            Noise::Pairs => "the pairs",
            Noise::Seconds | Noise::SecondsOfRepeats => "their seconds",
        };
        format!("equal runs would break this in {often} of cases, by the scatter of {scatter}")
    }
}

/// Returns true if a rule compares a figure whose noise is that of whole runs.
fn is_measured(rule: &Rule) -> bool {
    let is_known = matches!(
        rule.measure,
        Measure::Throughput
            | Measure::FailuresPercent
            | Measure::ElapsedMean
            | Measure::Percentile(_)
            | Measure::CpuMean
            | Measure::Server
            | Measure::ServerMax
    );
    is_known && rule.needs_baseline() && rule.lasting.is_none() && rule.level.is_none()
}

/// Returns what runs have for a rule; `None` without runs.
fn side(rule: &Rule, runs: &[RuleFigures]) -> Option<Side> {
    let measured: Option<Vec<Measured>> = runs.iter().map(|run| run.of(rule).cloned()).collect();
    measured.filter(|measured| !measured.is_empty()).map(Side::of)
}

/// Returns the figure that a rule is about, among those of some sides; `None` for a series that no side has.
fn figure(rule: &Rule, sides: [&Side; 2]) -> Option<compare::Measure> {
    let series = |is_max: bool| {
        let name = &rule.series.as_ref()?.name;
        let is_meant = |measure: &&&compare::Measure| {
            let is_of_kind = matches!(measure, compare::Measure::SeriesMax(_)) == is_max;
            is_of_kind && measure.series().is_some_and(|series| series.name == *name)
        };
        sides.iter().find_map(|side| side.measures().iter().find(is_meant).map(|measure| (*measure).clone()))
    };
    match rule.measure {
        Measure::Throughput => Some(compare::Measure::Throughput),
        Measure::FailuresPercent => Some(compare::Measure::FailuresPercent),
        Measure::ElapsedMean => Some(compare::Measure::ElapsedMean),
        Measure::CpuMean => Some(compare::Measure::CpuMean),
        Measure::Percentile(percent) => Some(compare::Measure::Percentile(percent)),
        Measure::Server => series(false),
        Measure::ServerMax => series(true),
        _ => None,
    }
}

/// How a figure compares with that of a baseline.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The mean of the baseline's runs.
    pub baseline: f64,
    /// The mean of the runs that are checked.
    pub value: f64,
    /// The 99 % confidence interval of the difference; `None` if the noise can't be estimated.
    pub interval: Option<(f64, f64)>,
    /// The 99 % confidence interval of the change in percent of the baseline; `None` if the noise can't be estimated, or if
    /// the baseline may be 0.
    pub percent_interval: Option<(f64, f64)>,
    /// The probability that chance alone makes the harm exceed the rule's margin by as much, two-sided, adjusted for all
    /// rules that were decided together (Holm). The rule fails below 0.01.
    pub p_adjusted: Option<f64>,
    /// The source of the noise; `None` if it can't be estimated.
    pub noise: Option<Noise>,
    /// The number of runs that are compared: of the baseline, and of those that are checked. Of pairs, one of each.
    pub runs: (usize, usize),
}

impl Comparison {
    /// Returns the change in percent of the baseline; `None` if that is 0.
    pub fn percent(&self) -> Option<f64> {
        (self.baseline != 0.0).then(|| (self.value - self.baseline) / self.baseline * 100.0)
    }
}

/// Decides rules about chance, those of one command together.
///
/// The runs that are added at once are repeats, and judged by their means. The noise is that of [`crate::compare_sides`]:
/// the scatter of the repeats, or without enough of them that of the seconds within the runs; and where a baseline has
/// several sessions that differ by more than the repeats within them, as on several days, the scatter of the sessions.
///
/// # Outcomes
/// A rule fails if the harm exceeds its margin by more than chance explains: the 99 % interval lies wholly beyond. It passes if
/// the interval lies wholly within the margin, and is unknown otherwise ([`Verdict::unknown`]). Without a margin, it passes
/// if no harm is shown, and the note says how much could hide; unknown is only what has no noise to judge by.
///
/// Of equal runs, at most one gate in a hundred has a rule that fails, however many rules there are (Holm 1979, over all
/// rules that were added); likewise, at most one in a hundred has a rule that passes although the harm is beyond its margin.
/// A rule fails where a run lacks the figure.
///
/// ```
/// use perfpipe_analyze::{Baseline, Gate, Rule, RuleFigures, RuleOutcome, View};
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// let run = |successes: u64| {
///     let key = |second| CellKey { second, label: 0, success: true, transaction: false };
///     let cell = |second: u32| Cell { elapsed: vec![(10, successes + u64::from(second % 7))], ..Cell::default() };
///     let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 99_999);
///     StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], (0..100).map(|second| (key(second), cell(second)))))
/// };
/// let rules: [Rule; 1] = ["throughput not worse than baseline by 3%".parse()?];
/// let (view, mut baseline) = (View::default(), Baseline::new(&rules));
/// baseline.add(&run(1000), &view)?;
/// let mut gate = Gate::default();
/// for successes in [1000, 900] {
///     gate.add(&rules, "spring_2048", &[RuleFigures::new(&rules, &run(successes), &view)?], &baseline);
/// }
/// let outcomes: Vec<RuleOutcome> = gate.verdicts().iter().map(|verdict| verdict.outcome()).collect();
/// assert_eq!(outcomes, [RuleOutcome::Passed, RuleOutcome::Failed]);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Gate {
    verdicts: Vec<(Verdict, Option<RuleTest>)>,
}

/// A rule whose figures were compared.
#[derive(Debug)]
struct RuleTest {
    not_worse: NotWorse,
    figure: TestedFigure,
    is_share: bool,
}

impl Gate {
    /// Adds the rules about chance for runs, which are judged together under a name; passes over other rules.
    pub fn add(&mut self, rules: &[Rule], name: &str, runs: &[RuleFigures], baseline: &Baseline) {
        for rule in rules {
            if let Some(not_worse) = rule.not_worse {
                self.verdicts.push(compared(rule, not_worse, name, runs, baseline));
            }
        }
    }

    /// Decides all rules, and returns their verdicts in the order in which they were added.
    pub fn verdicts(self) -> Vec<Verdict> {
        let known = |test: &Option<RuleTest>| test.as_ref().and_then(RuleTest::tails);
        let tails: Vec<(f64, Option<f64>)> =
            self.verdicts.iter().filter_map(|(_, test)| known(test)).collect();
        let beyond = adjusted(&tails.iter().map(|(beyond, _)| *beyond).collect::<Vec<f64>>());
        let within = adjusted(&tails.iter().filter_map(|(_, within)| *within).collect::<Vec<f64>>());
        let (mut beyond, mut within) = (beyond.into_iter(), within.into_iter());
        let several = tails.len() > 1;
        let decide = |(verdict, test): (Verdict, Option<RuleTest>)| {
            let Some(test) = test else { return verdict };
            let p = test.tails().and_then(|(_, of_within)| {
                let beyond = beyond.next()?.adjusted;
                Some((beyond, of_within.and_then(|_| within.next()).map(|member| member.adjusted)))
            });
            test.decided(verdict, p, several)
        };
        self.verdicts.into_iter().map(decide).collect()
    }
}

/// Compares the figures of a rule.
fn compared(
    rule: &Rule,
    not_worse: NotWorse,
    name: &str,
    runs: &[RuleFigures],
    baseline: &Baseline,
) -> (Verdict, Option<RuleTest>) {
    let open = Verdict::open(rule, name.to_owned());
    let lacks = |lack: String| (Verdict { note: Some(lack), ..open.clone() }, None);
    let (Some(a), Some(b)) = (side(rule, baseline.runs()), side(rule, runs)) else {
        let lacks_baseline = baseline.is_empty();
        return (Verdict { lacks_baseline, ..lacks(baseline.lack().to_owned()).0 }, None);
    };
    let no_series = || rule.series.as_ref().map_or_else(String::new, OfServer::lack);
    let Some(measure) = figure(rule, [&b, &a]) else { return lacks(no_series()) };
    let unit = match (&rule.series, measure.series()) {
        (Some(of_rule), Some(series)) => match of_rule.factor(&series.unit) {
            Ok(factor) => (factor, OfServer::unit_of(&series.unit)),
            Err(lack) => return lacks(lack),
        },
        _ => (1.0, open.unit),
    };
    let null = not_worse.null(unit.0);
    let Some(figure) = tested(&a, &b, &measure, null) else {
        let is_own = b.mean(&measure).is_none();
        return lacks(match is_own {
            true => "the run has no such figure".to_owned(),
            false => "the baseline has no such figure".to_owned(),
        });
    };
    let remarks = if rule.measure.is_time() { b.remarks() } else { Vec::new() };
    let verdict = Verdict {
        value: Some(figure.b),
        limit: Some(null.of(figure.a)),
        unit: unit.1,
        open: false,
        note: (!remarks.is_empty()).then(|| remarks.join("; ")),
        ..open
    };
    let is_share = rule.measure == Measure::FailuresPercent;
    (verdict, Some(RuleTest { not_worse, figure, is_share }))
}

impl RuleTest {
    /// Returns the two-sided p-values of a harm beyond the margin, and of one within it, if there is a margin; `None` if the
    /// noise is not known.
    fn tails(&self) -> Option<(f64, Option<f64>)> {
        let KnownNoise { above, below, .. } = self.figure.known?;
        let (beyond, within) = if self.not_worse.harm_is_more { (above, below) } else { (below, above) };
        let of_both = |tail: f64| (2.0 * tail).min(1.0);
        Some((of_both(beyond), self.not_worse.margin.map(|_| of_both(within))))
    }

    /// Completes a verdict, given the adjusted p-values of a harm beyond the margin and of one within it.
    fn decided(&self, verdict: Verdict, p: Option<(f64, Option<f64>)>, several: bool) -> Verdict {
        let TestedFigure { a, b, known, runs } = self.figure;
        let is_sure = known.is_some_and(|known| known.is_sure);
        let is_beyond = p.is_some_and(|(beyond, _)| beyond < MISSED);
        let is_within = p.is_some_and(|(_, within)| within.is_some_and(|within| within < MISSED));
        let (holds, unknown) = match (is_beyond, is_sure, self.not_worse.margin) {
            (true, ..) => (false, false),
            (_, false, _) => (true, true),
            (_, _, Some(_)) => (true, !is_within),
            (_, _, None) => (true, false),
        };
        let said = match known {
            None => "the data can't tell: the runs are too short to estimate their noise".to_owned(),
            Some(known) if unknown && !is_sure => format!(
                "the data can't tell: change {}, and the runs are too short to estimate their slow noise",
                self.change(&known)
            ),
            Some(known) if unknown => {
                format!("the data can't tell: change {}{}", self.change(&known), by(&known))
            }
            Some(known) if holds && self.not_worse.margin.is_none() => self.no_harm(&known),
            Some(known) => format!("change {}{}", self.change(&known), by(&known)),
        };
        let chance = (several && !is_beyond && self.is_beyond_alone())
            .then(|| "by itself beyond 99 %, but among several rules that may be chance".to_owned());
        let notes = std::iter::once(said).chain(chance).chain(verdict.note.clone());
        let comparison = Comparison {
            baseline: a,
            value: b,
            interval: known.filter(|_| is_sure || is_beyond).map(|known| known.interval),
            percent_interval: known.filter(|_| is_sure || is_beyond).and_then(|known| known.percent),
            p_adjusted: p.map(|(beyond, _)| beyond),
            noise: known.map(|known| known.noise),
            runs,
        };
        Verdict {
            holds,
            unknown,
            note: notes.reduce(|one, other| format!("{one}; {other}")),
            comparison: Some(comparison),
            ..verdict
        }
    }

    /// Returns true if the harm would be shown to exceed the margin if this were the only rule.
    fn is_beyond_alone(&self) -> bool {
        self.tails().is_some_and(|(beyond, _)| beyond < MISSED)
    }

    /// Describes the change, as in `+9.8 % (99 %: +4.4 to +15.6 %)`.
    fn change(&self, known: &KnownNoise) -> String {
        let TestedFigure { a, b, .. } = self.figure;
        match known.percent {
            Some((low, high)) if !self.is_share => {
                format!("{:+.1} % (99 %: {low:+.1} to {high:+.1} %)", (b - a) / a * 100.0)
            }
            _ => {
                let unit = if self.is_share { " percentage points" } else { "" };
                let (low, high) = known.interval;
                format!("{:+.2}{unit} (99 %: {low:+.2} to {high:+.2})", b - a)
            }
        }
    }

    /// Says how much harm the data leave possible.
    fn no_harm(&self, known: &KnownNoise) -> String {
        let harm = |(low, high): (f64, f64)| if self.not_worse.harm_is_more { high } else { -low };
        let hidden = match known.percent {
            Some(percent) if !self.is_share => (harm(percent), " %"),
            _ if self.is_share => (harm(known.interval), " percentage points"),
            _ => (harm(known.interval), ""),
        };
        match hidden {
            (..=0.0, _) => format!("no harm shown: change {}{}", self.change(known), by(known)),
            (harm, unit) if harm < 10.0 => {
                format!("no harm shown ({}{unit} could hide){}", decimals(harm, 1), by(known))
            }
            (harm, unit) => format!("no harm shown ({}{unit} could hide){}", decimals(harm, 0), by(known)),
        }
    }
}

/// Names the noise of a difference where it is not plainly that of the repeats.
fn by(known: &KnownNoise) -> &'static str {
    match known.noise {
        _ if known.by_sessions => ", by the scatter of the days",
        Noise::Seconds => ", by the seconds of these runs",
        Noise::Pairs => ", within pairs",
        Noise::Repeats | Noise::SecondsOfRepeats => "",
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::series::{ServerSeries, TimeSeries};
    use perfpipe_model::{RunInfo, RunKey};

    use super::*;
    use crate::check::check;
    use crate::{Error, RuleOutcome};

    /// Two minutes of about 100 successes a second, whose times are spread around `elapsed` ms; the repeat that begins at this
    /// hour.
    fn run(elapsed: f64, hour: i64) -> StoredRun {
        let mut chance = fastrand::Rng::with_seed(hour.unsigned_abs() * 31 + elapsed as u64);
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells: Vec<_> = (0..120)
            .map(|second| {
                let mut counts = std::collections::BTreeMap::<i32, u64>::new();
                for _ in 0..chance.u64(90..=110) {
                    *counts.entry((elapsed * (0.5 + chance.f64())) as i32).or_default() += 1;
                }
                (key(second), Cell { elapsed: counts.into_iter().collect(), ..Cell::default() })
            })
            .collect();
        let t0 = hour * 3_600_000;
        let mut info = RunInfo::new(RunKey::new("go", "t"), t0, t0 + 119_999);
        info.last_end_ms = Some(t0 + 120_000);
        StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells))
    }

    fn rules(texts: &[&str]) -> Vec<Rule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn judged(texts: &[&str], baseline: &[StoredRun], runs: &[StoredRun]) -> Vec<Verdict> {
        let (rules, view) = (rules(texts), View::default());
        let mut of_baseline = Baseline::new(&rules);
        baseline.iter().for_each(|run| of_baseline.add(run, &view).unwrap());
        let runs: Vec<RuleFigures> =
            runs.iter().map(|run| RuleFigures::new(&rules, run, &view).unwrap()).collect();
        let mut gate = Gate::default();
        gate.add(&rules, "go_t", &runs, &of_baseline);
        gate.verdicts()
    }

    fn outcome(text: &str, baseline: &[StoredRun], runs: &[StoredRun]) -> (RuleOutcome, String) {
        let verdict = judged(&[text], baseline, runs).remove(0);
        (verdict.outcome(), verdict.note.unwrap_or_default())
    }

    #[test]
    fn margin_has_three_outcomes() {
        let (same, other, slow) = ([run(1000.0, 1)], [run(1000.0, 2)], [run(1100.0, 3)]);
        let (passed, note) = outcome("mean not worse than baseline by 5%", &same, &other);
        assert_eq!(passed, RuleOutcome::Passed, "{note}");
        let (failed, note) = outcome("mean not worse than baseline by 5%", &same, &slow);
        assert_eq!(failed, RuleOutcome::Failed, "{note}");
        assert!(note.starts_with("change +") && note.ends_with("by the seconds of these runs"), "{note}");
        let (unknown, note) = outcome("mean not worse than baseline by 10%", &same, &slow);
        assert_eq!(unknown, RuleOutcome::Unknown, "{note}");
        assert!(note.starts_with("the data can't tell: change +"), "{note}");
        let (failed, _) = outcome("mean not worse than baseline by 50ms", &same, &slow);
        assert_eq!(failed, RuleOutcome::Failed);
        let verdict = judged(&["mean not worse than baseline by 10%"], &same, &slow).remove(0);
        assert!(verdict.holds && verdict.unknown && !verdict.open);
        let limit = verdict.comparison.unwrap().baseline * 1.1;
        assert!(verdict.limit.is_some_and(|own| (own - limit).abs() < 1e-9));
    }

    #[test]
    fn without_a_margin_harm_is_shown_or_may_hide() {
        let (passed, note) = outcome("p95 not worse than baseline", &[run(1000.0, 1)], &[run(1000.0, 2)]);
        assert_eq!(passed, RuleOutcome::Passed);
        assert!(note.starts_with("no harm shown (") && note.contains(" % could hide)"), "{note}");
        let (failed, note) = outcome("p95 not worse than baseline", &[run(1000.0, 1)], &[run(1100.0, 2)]);
        assert_eq!(failed, RuleOutcome::Failed, "{note}");
        // What is better is no harm, unless the rule forbids it.
        let (better, note) = outcome("p95 not worse than baseline", &[run(1100.0, 1)], &[run(1000.0, 2)]);
        assert!(better == RuleOutcome::Passed && note.starts_with("no harm shown: change -"), "{note}");
        let (less, _) = outcome("p95 not less than baseline", &[run(1100.0, 1)], &[run(1000.0, 2)]);
        assert_eq!(less, RuleOutcome::Failed);
        let failures = outcome("failures not worse than baseline by 1%", &[run(9.0, 1)], &[run(9.0, 2)]);
        assert_eq!(failures.0, RuleOutcome::Passed, "{}", failures.1);
    }

    #[test]
    fn short_runs_are_unknown_even_without_a_margin() {
        let short = |hour| {
            let run = run(1000.0, hour);
            let info = RunInfo::new(run.info.key.clone(), run.info.t0_ms, run.info.t0_ms + 9_999);
            let key = |second| CellKey { second, label: 0, success: true, transaction: false };
            let cells =
                (0..10).map(|second| (key(second), Cell { elapsed: vec![(9, 5)], ..Cell::default() }));
            StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells))
        };
        let (unknown, note) = outcome("p95 not worse than baseline", &[short(1)], &[short(2)]);
        assert_eq!(unknown, RuleOutcome::Unknown);
        assert!(note.contains("too short"), "{note}");
    }

    #[test]
    fn rules_of_one_gate_are_decided_together() {
        let (same, other) = ([run(1000.0, 1)], [run(1000.0, 2)]);
        let text = "mean not worse than baseline";
        let alone = judged(&[text], &same, &other).remove(0).comparison.unwrap().p_adjusted.unwrap();
        let many = judged(&[text, text, text, text], &same, &other).remove(3).comparison.unwrap();
        assert!((many.p_adjusted.unwrap() - (4.0 * alone).min(1.0)).abs() < 1e-9, "{many:?}");
    }

    #[test]
    fn days_that_differ_are_the_noise_of_a_baseline_of_several_days() {
        let day =
            |day: i64, elapsed: f64| [0, 1, 2].map(|at| run(elapsed + at as f64, 48 * day + at)).to_vec();
        let baseline = [day(1, 1000.0), day(2, 1030.0), day(3, 970.0), day(4, 1020.0)].concat();
        let (found, note) = outcome("mean not worse than baseline", &baseline, &day(9, 1060.0));
        assert_eq!(found, RuleOutcome::Passed, "{note}");
        assert!(note.ends_with("by the scatter of the days"), "{note}");
        let (found, note) = outcome("mean not worse than baseline", &baseline, &day(9, 1400.0));
        assert_eq!(found, RuleOutcome::Failed, "{note}");
        // The same repeats of one day show it.
        let one = [0, 1, 2, 3, 4, 5].map(|at| run(1000.0 + at as f64, at));
        let (found, note) = outcome("mean not worse than baseline", &one, &day(9, 1060.0));
        assert_eq!(found, RuleOutcome::Failed, "{note}");
    }

    #[test]
    fn figure_that_is_missing_fails_and_a_baseline_that_is_missing_is_said() {
        let (one, other) = ([run(10.0, 1)], [run(10.0, 2)]);
        let verdict = judged(&["cpu not more than baseline"], &one, &other).remove(0);
        assert_eq!((verdict.holds, verdict.note.as_deref()), (false, Some("the run has no such figure")));
        let verdict = judged(&["p95 not worse than baseline"], &[], &other).remove(0);
        assert!(!verdict.holds && verdict.lacks_baseline && verdict.open);
        let series = |run: StoredRun| {
            let readings = TimeSeries::new((0..120).map(|at| (at, 1e9)).collect());
            StoredRun { series: vec![ServerSeries::new("memory", "bytes", readings)], ..run }
        };
        let both = ([series(run(10.0, 0))], [series(run(10.0, 0))]);
        let rule = "series memory not more than baseline by 1MiB";
        assert_eq!(outcome(rule, &both.0, &both.1).0, RuleOutcome::Passed);
        let note = outcome("series memory not more than baseline by 1%", &one, &both.1).1;
        assert_eq!(note, "the baseline has no such figure");
        assert_eq!(
            outcome("series heat not more than baseline", &one, &both.1).1,
            "the run has no series heat"
        );
    }

    #[test]
    fn check_of_one_run_decides_its_rules_and_says_how_often_equal_runs_break_fixed_ones() {
        let texts = ["mean < baseline * 1.001", "mean not worse than baseline", "mean < baseline * 1.5"];
        let (rules, view) = (rules(&texts), View::default());
        let mut baseline = Baseline::new(&rules);
        baseline.add(&run(1000.0, 1), &view).unwrap();
        let verdicts = check(&rules, &run(1000.0, 2), &view, Some(&baseline)).unwrap();
        let texts_of: Vec<&str> = verdicts.iter().map(|verdict| verdict.rule.as_str()).collect();
        assert_eq!(texts_of, texts);
        let share = verdicts[0].equal_runs_break.unwrap();
        assert!((0.3..0.5).contains(&share), "{share}");
        assert_eq!((verdicts[1].outcome(), verdicts[1].equal_runs_break), (RuleOutcome::Passed, None));
        let note = verdicts[2].note.as_deref().unwrap();
        assert!(note.starts_with("equal runs would break this in less than 0.1 % of cases"), "{note}");
        assert!(matches!(check(&rules, &run(9.0, 2), &view, None), Err(Error::NoBaseline { .. })));
    }
}
