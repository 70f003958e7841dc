//! The check of a sweep's points against rules that name a level.

use std::collections::BTreeMap;

use perfpipe_model::points::{Point, PointKey};

use crate::format::counted;
use crate::sweep::points::Spread;

use super::bound::Bound;
use super::rule::{Limit, Rule};
use super::verdict::Verdict;

/// Checks points against the rules that name a level (`throughput > 1500 at 32`); other rules are passed over.
///
/// Each framework, tool and number of workers of each test is judged for itself: by the median of the repeats at the
/// level; for failures and time-outs, by the greatest. A rule does not hold where the level is missing, a repeat of it
/// was aborted, or a repeat lacks the figure. The verdicts are sorted by test, framework, tool and workers.
///
/// ```
/// use perfpipe_analyze::{Rule, points::check_points};
/// use perfpipe_ingest::points::{Figures, Point, PointKey};
///
/// let mut figures = Figures::default();
/// (figures.duration, figures.successes) = (Some(2.0), Some(3000));
/// let points = [Point::new(PointKey::new("wrk", "go", "/hello").with_concurrency(32), figures)];
/// let rules: [Rule; 2] = ["throughput > 1000 at 32".parse()?, "throughput > 1000 at 64".parse()?];
/// let holds: Vec<bool> = check_points(&rules, &points).iter().map(|verdict| verdict.holds).collect();
/// assert_eq!(holds, [true, false]);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn check_points(rules: &[Rule], points: &[Point]) -> Vec<Verdict> {
    let mut sweeps: BTreeMap<PointKey, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let mut key = point.key.clone().with_repeat(1);
        key.concurrency = None;
        sweeps.entry(key).or_default().push(point);
    }
    let judged = |(key, sweep): (&PointKey, &Vec<&Point>)| -> Vec<Verdict> {
        rules.iter().filter_map(|rule| Some(judge(rule, rule.level?, key, sweep))).collect()
    };
    sweeps.iter().flat_map(judged).collect()
}

fn judge(rule: &Rule, level: u32, sweep: &PointKey, points: &[&Point]) -> Verdict {
    let open = Verdict::open(rule, sweep.clone().with_concurrency(level).to_string());
    let Limit::Number(limit) = rule.limit else { return open };
    let bound = Bound::of(limit);
    let there: Vec<&Point> =
        points.iter().filter(|point| point.key.concurrency == Some(level)).copied().collect();
    let values: Vec<f64> = there.iter().filter_map(|point| rule.measure.of_point(&point.figures)).collect();
    let value = Spread::of(values.clone()).map(|spread| match rule.measure.is_greatest_of_points() {
        true => spread.greatest,
        false => spread.median,
    });
    let lack = lack(&there, values.len(), points);
    Verdict {
        holds: lack.is_none() && value.is_some_and(|value| rule.operator.holds(value, bound)),
        value,
        limit: Some(value.map_or(bound.limit(), |value| bound.against(value))),
        open: lack.is_some(),
        note: lack,
        ..open
    }
}

/// Returns the reason why the points of a level can't keep a rule, of which `reported` have the figure.
fn lack(there: &[&Point], reported: usize, sweep: &[&Point]) -> Option<String> {
    let of_all = |few: usize| format!("{few} of {}", counted(there.len() as u64, "repeat"));
    let aborted: Vec<&String> = there.iter().filter_map(|point| point.figures.aborted.as_ref()).collect();
    match aborted.first() {
        _ if there.is_empty() => Some(missing(sweep)),
        Some(reason) => Some(format!("{} aborted: {reason}", of_all(aborted.len()))),
        None if reported == 0 => Some("the tool does not report this figure".into()),
        None if reported < there.len() => {
            Some(format!("{} without such a figure", of_all(there.len() - reported)))
        }
        None => None,
    }
}

/// Says that a level is missing, and which there are.
fn missing(sweep: &[&Point]) -> String {
    let mut levels: Vec<u32> = sweep.iter().filter_map(|point| point.key.concurrency).collect();
    levels.sort_unstable();
    levels.dedup();
    let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
    match levels.as_slice() {
        [] => "its points have no concurrency".into(),
        levels => format!("there is no point at this concurrency, only at {}", levels.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_ingest::points::{PointNames, named_points, sections};

    use super::*;

    /// The points of outputs of ab.
    fn points(names: &[&str]) -> Vec<Point> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/other/ab/");
        let read = |name: &&str| {
            let text = std::fs::read(format!("{folder}{name}")).unwrap();
            ((*name).to_owned(), sections(&text).sections)
        };
        let names_of = PointNames {
            framework: Some("f".into()),
            test: Some("t".into()),
            concurrency: Some(16),
            ..PointNames::default()
        };
        named_points(&names.iter().map(read).collect::<Vec<_>>(), &names_of).unwrap()
    }

    fn judged(rules: &[&str], points: &[Point]) -> Vec<Verdict> {
        let rules: Vec<Rule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        check_points(&rules, points)
    }

    #[test]
    fn median_is_judged_and_of_failures_the_greatest() {
        let sweep = points(&["jempower/32.8101", "jempower/64.8101"]);
        let found = judged(
            &[
                "throughput > 992 at 32",
                "throughput > 993 at 32",
                "throughput < 810 at c64",
                "answers > 16_567 at 64",
                "failures <= 3805 at 64",
                "failures < 95.2% at 64",
                "failures < 95% at 64",
                "p99 <= 64ms at 32",
                "mean < 0.032s at 32",
            ],
            &sweep,
        );
        let holds: Vec<bool> = found.iter().map(|verdict| verdict.holds).collect();
        assert_eq!(holds, [true, false, true, true, true, true, false, true, false], "{found:?}");
        assert_eq!((found[0].run.as_str(), found[3].value), ("f t by ab at c32", Some(16567.06)));
        assert_eq!((found[4].value, found[8].limit), (Some(3805.0), Some(32.0)));
    }

    #[test]
    fn missing_levels_and_figures_and_aborted_repeats_keep_no_rule() {
        let sweep = points(&["jempower/32.8101", "jempower/64.8101"]);
        let found = judged(&["throughput > 0 at 16", "timeouts < 9 at 32", "p42 < 1 at 32"], &sweep);
        assert!(found.iter().all(|verdict| !verdict.holds && verdict.value.is_none()), "{found:?}");
        assert!(found[0].note.as_ref().unwrap().contains("only at 32, 64"), "{:?}", found[0].note);
        assert_eq!(found[1].note.as_deref(), Some("the tool does not report this figure"));
        let found = judged(&["throughput > 0 at 16"], &points(&["drop-abort.txt", "http500.txt"]));
        let note = found.iter().filter_map(|verdict| verdict.note.clone()).collect::<String>();
        assert!(found.iter().any(|verdict| !verdict.holds) && note.contains("aborted: "), "{found:?}");
    }

    #[test]
    fn rules_about_runs_are_passed_over() {
        let sweep = points(&["jempower/32.8101"]);
        assert_eq!(judged(&["throughput > 0", "throughput > 0 at 32"], &sweep).len(), 1);
    }
}
