//! Whether a rule holds, and by which figure.

use perfpipe_ingest::StoredRun;

use crate::error::{Error, Result};
use crate::phases::Span;
use crate::table::Table;
use crate::timeline::Timeline;
use crate::view::View;

use super::bound::Bound;
use super::figures::Figures;
use super::rule::{Limit, Operator, Rule};

/// Decimals with which people read a value and its limit, at least and at most.
const DECIMALS: std::ops::RangeInclusive<u8> = 2..=17;

/// What became of one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The run's key.
    pub run: String,
    /// The rule, as it was written.
    pub rule: String,
    /// Whether it holds. Where there is nothing to judge by, it does not.
    pub holds: bool,
    /// The figure judged by; of a rule about single seconds, that of the worst of them.
    pub value: Option<f64>,
    /// What it was compared with: the value itself, where the two differ by no more than rounding explains.
    pub limit: Option<f64>,
    /// The unit of both; "" for plain numbers.
    pub unit: &'static str,
    /// Of a rule about single seconds, the longest row of them in which it does not hold.
    pub span: Option<Span>,
    /// What to know beside it, as where a figure is missing.
    pub note: Option<String>,
}

impl Verdict {
    /// With how many decimals, two or more, the value and the limit read differently, where they differ.
    pub fn decimals(&self) -> u8 {
        let shown = |number: f64, decimals: u8| format!("{number:.*}", usize::from(decimals));
        let apart = |one: f64, other: f64| {
            DECIMALS.into_iter().find(|decimals| shown(one, *decimals) != shown(other, *decimals))
        };
        let differ = self.value.zip(self.limit).filter(|(value, limit)| value != limit);
        differ.and_then(|(value, limit)| apart(value, limit)).unwrap_or(*DECIMALS.start())
    }
}

/// Judges a run by rules: see [`Rule`] for what they say.
///
/// A rule's own label and phase go before those of the view. It is computed from the exact counts alone, each label and
/// phase once for all rules that are about it.
///
/// # Errors
/// [`Error::NoBaseline`] when a rule needs a baseline and there is none, and as [`Timeline::new`], so that a label or a
/// phase that the run does not have is an error, and never a pass.
///
/// ```
/// use perfpipe_analyze::{Rule, View, check};
/// use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey, StoredRun};
///
/// let key = CellKey { second: 0, label: 0, success: true, transaction: false };
/// let cell = Cell { elapsed: vec![(10, 2), (40, 1)], ..Cell::default() };
/// let run = StoredRun {
///     info: RunInfo::new(RunKey::new("spring", "2048"), 0, 900),
///     cells: CellTable::new(vec!["Get".into()], vec![], [(key, cell)]),
///     cpu: CpuSeries::default(),
///     errors: vec![],
///     labels: vec![],
/// };
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
    baseline: Option<(&StoredRun, &View)>,
) -> Result<Vec<Verdict>> {
    let figures = Figures::new(rules, run, view)?;
    let compared: Vec<Rule> = rules.iter().filter(|rule| rule.needs_baseline()).cloned().collect();
    let baseline = match (baseline, compared.first()) {
        (Some((run, view)), _) => Some(Figures::new(&compared, run, view)?),
        (None, Some(rule)) => return Err(Error::NoBaseline { rule: rule.to_string() }),
        (None, None) => None,
    };
    Ok(rules
        .iter()
        .filter_map(|rule| Some(judge(rule, figures.of(rule)?, bound(rule, baseline.as_ref()))))
        .collect())
}

/// Verdicts as a table: `run`, `rule`, `holds`, `value`, `limit`, `unit`, `first`, `last` and `note`.
pub fn verdict_table(verdicts: &[Verdict]) -> Table {
    let decimals = verdicts.iter().map(Verdict::decimals).max().unwrap_or_default();
    Table::of(verdicts)
        .column("run", |row| Some(row.run.clone()))
        .column("rule", |row| Some(row.rule.clone()))
        .column("holds", |row| Some(row.holds))
        .column("value", |row| row.value)
        .unit("", decimals)
        .column("limit", |row| row.limit)
        .unit("", decimals)
        .column("unit", |row| Some(row.unit.to_owned()))
        .column("first", |row| row.span.map(|span| u64::from(span.first)))
        .column("last", |row| row.span.map(|span| u64::from(span.last)))
        .column("note", |row| row.note.clone())
        .done()
}

/// The limit in figures; `None` where the baseline has none.
fn bound(rule: &Rule, baseline: Option<&Figures>) -> Option<Bound> {
    match rule.limit {
        Limit::Number(number) => Some(Bound::of(number)),
        Limit::Baseline(factor, more) => {
            rule.measure.of_run(baseline?.of(rule)?).map(|value| Bound::sum(value * factor, more))
        }
    }
}

fn judge(rule: &Rule, timeline: &Timeline, bound: Option<Bound>) -> Verdict {
    let verdict = Verdict {
        run: timeline.info.key.to_string(),
        rule: rule.to_string(),
        holds: false,
        value: None,
        limit: bound.map(Bound::limit),
        unit: rule.measure.unit(),
        span: None,
        note: None,
    };
    let Some(bound) = bound else {
        return Verdict { note: Some("the baseline has no such figure".into()), ..verdict };
    };
    match rule.lasting {
        Some(lasting) => judge_seconds(rule, timeline, bound, lasting, verdict),
        None => match rule.measure.of_run(timeline) {
            Some(value) => Verdict {
                holds: rule.operator.holds(value, bound),
                value: Some(value),
                limit: Some(bound.against(value)),
                ..verdict
            },
            None => Verdict { note: Some("the run has no such figure".into()), ..verdict },
        },
    }
}

/// A rule about single seconds. One without a value ends a row of them: nothing is known of it.
fn judge_seconds(rule: &Rule, timeline: &Timeline, bound: Bound, lasting: u32, verdict: Verdict) -> Verdict {
    let seconds = timeline.whole_seconds().iter();
    let values: Vec<(u32, f64)> = seconds
        .filter_map(|second| Some((second.second, rule.measure.of_second(timeline, second)?)))
        .collect();
    if values.len() < lasting as usize {
        let note = format!("only {} seconds have a value, of {lasting} that the rule is about", values.len());
        return Verdict { note: Some(note), ..verdict };
    }
    let breaks = |value: f64| !rule.operator.holds(value, bound);
    let longest = values
        .chunk_by(|a, b| a.0 + 1 == b.0 && breaks(a.1) == breaks(b.1))
        .filter(|row| row.iter().all(|(_, value)| breaks(*value)))
        .reduce(|longest, row| if row.len() > longest.len() { row } else { longest });
    let span = longest.and_then(|row| Some(Span { first: row.first()?.0, last: row.last()?.0 }));
    let value = worst(rule.operator, longest.unwrap_or(&values));
    Verdict {
        holds: longest.is_none_or(|row| row.len() < lasting as usize),
        value,
        limit: Some(value.map_or(bound.limit(), |value| bound.against(value))),
        span,
        ..verdict
    }
}

/// The value of some seconds that is the farthest on the wrong side.
fn worst(operator: Operator, values: &[(u32, f64)]) -> Option<f64> {
    let values = values.iter().map(|(_, value)| *value);
    match operator {
        Operator::Less | Operator::LessOrEqual => values.reduce(f64::max),
        Operator::Greater | Operator::GreaterOrEqual => values.reduce(f64::min),
        Operator::Equal | Operator::Unequal => values.take(1).next(),
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey};
    use proptest::prelude::*;

    use super::*;

    /// A run with this many successes of 10 ms in each second.
    fn run(successes: &[u64]) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cell = |n: u64| Cell { elapsed: vec![(10, n)], ..Cell::default() };
        let busy = (0..).zip(successes).filter(|(_, n)| **n > 0);
        let cells = busy.map(|(second, n)| (key(second), cell(*n)));
        StoredRun {
            info: RunInfo::new(RunKey::new("a", "b"), 0, 1000 * successes.len() as i64 - 1),
            cells: CellTable::new(vec!["Get".into()], vec![], cells),
            cpu: CpuSeries::default(),
            errors: vec![],
            labels: vec![],
        }
    }

    fn judged(rule: &str, run: &StoredRun, baseline: Option<&StoredRun>) -> Verdict {
        let view = View::default();
        let rules = [rule.parse().unwrap()];
        check(&rules, run, &view, baseline.map(|run| (run, &view))).unwrap().remove(0)
    }

    proptest! {
        #[test]
        fn a_lasting_rule_is_broken_by_as_many_seconds_in_a_row(
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
            // Silent seconds have no response time, so that nothing is known of them.
            let verdict = judged(&format!("mean > 10 for {lasting}s"), &run, None);
            let known = successes.iter().filter(|n| **n > 0).count();
            let in_a_row = successes.windows(lasting).any(|row| row.iter().all(|n| *n > 0));
            prop_assert_eq!(verdict.holds, known >= lasting && !in_a_row, "{:?}", verdict);
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

    /// A run with so many requests of each of these times in its only second.
    fn of_times(times: &[(i32, u64)]) -> StoredRun {
        let key = CellKey { second: 0, label: 0, success: true, transaction: false };
        let cell = Cell { elapsed: times.to_vec(), ..Cell::default() };
        StoredRun { cells: CellTable::new(vec!["Get".into()], vec![], [(key, cell)]), ..run(&[1]) }
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
        // What differs is told apart, in what is printed too.
        let verdict = judged("p95 <= 56.9999999999", &slow, None);
        assert!(!verdict.holds && verdict.limit == Some(56.999_999_999_9));
        let mut printed = Vec::new();
        verdict_table(&[verdict]).write(crate::table::Format::Text, &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.contains("57.0000000000  56.9999999999"), "{printed}");
    }

    #[test]
    fn what_the_run_does_not_have_is_an_error_and_no_pass() {
        let run = run(&[1, 2]);
        for rule in ["mean of \"Gett\" < 5", "mean in hold < 5"] {
            assert!(check(&[rule.parse().unwrap()], &run, &View::default(), None).is_err(), "{rule}");
        }
    }
}
