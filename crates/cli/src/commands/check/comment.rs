//! The verdicts of a check as a comment on a pull request.

use perfpipe_analyze::format::{Unit, counted};
use perfpipe_analyze::{Comparison, Noise, RuleOutcome, Verdict};

use super::args::CheckArgs;
use crate::error::CliError;
use crate::output::comment::{Comment, CommentColumn, Line, Shift, is, number_cell};

const COLUMNS: &[CommentColumn] = &[
    CommentColumn::Text("outcome"),
    CommentColumn::Text("rule"),
    CommentColumn::Text("run"),
    CommentColumn::Number("value"),
    CommentColumn::Number("limit"),
    CommentColumn::Text("why"),
];

/// Makes the comment on verdicts, the worst of which come first: of those that failed, the ones that are farthest beyond
/// their limit; of all others, rules about chance.
pub(super) fn of_verdicts(verdicts: &[Verdict], args: &CheckArgs) -> Comment {
    let mut sorted: Vec<&Verdict> = verdicts.iter().collect();
    sorted.sort_by(|a, b| {
        let by_excess = excess(b).total_cmp(&excess(a));
        let by_chance = a.comparison.is_none().cmp(&b.comparison.is_none());
        let failed = Standing::of(a) == Standing::Failed;
        Standing::of(a).cmp(&Standing::of(b)).then(if failed { by_excess } else { by_chance })
    });
    begun(headline(&sorted), args).table(COLUMNS, sorted.into_iter().map(row).collect())
}

/// Makes the comment on a check that has no run to compare with.
pub(super) fn without_baseline(error: &CliError, args: &CheckArgs) -> Comment {
    let verdict = Line::text("No baseline").bold().and(&format!(": {error}"));
    begun(verdict, args).notes([error.remedy.clone()])
}

/// Begins the comment, which is about the test, the frameworks and the runs that were asked for. Tags change from one call to
/// the next.
fn begun(verdict: Line, args: &CheckArgs) -> Comment {
    let runs = args.runs();
    let about = args.of.test.iter().chain(&args.of.framework).chain(&runs);
    Comment::new("check", about.map(String::as_str), verdict)
}

/// What became of a rule, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It failed.
    Failed,
    /// It failed, since the data can't tell.
    FailedUnknown,
    /// There is nothing to compare with.
    NoBaseline,
    /// The data can't tell.
    Unknown,
    /// It passed, since there is nothing to compare with.
    PassedFirst,
    /// It passed.
    Passed,
}

impl Standing {
    fn of(verdict: &Verdict) -> Self {
        match (verdict.holds, verdict.lacks_baseline, verdict.outcome()) {
            (false, true, _) => Self::NoBaseline,
            (true, true, _) => Self::PassedFirst,
            (false, _, RuleOutcome::Unknown) => Self::FailedUnknown,
            (true, _, RuleOutcome::Unknown) => Self::Unknown,
            (true, ..) => Self::Passed,
            (false, ..) => Self::Failed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::FailedUnknown => "unknown, failed",
            Self::NoBaseline => "no baseline",
            Self::Unknown => "unknown",
            Self::PassedFirst | Self::Passed => "passed",
        }
    }
}

/// Returns how far the value of a rule is beyond its limit, as a share of the limit; without end if that is not known.
fn excess(verdict: &Verdict) -> f64 {
    let share = verdict.value.zip(verdict.limit).map(|(value, limit)| (value - limit).abs() / limit.abs());
    share.filter(|share| !share.is_nan()).unwrap_or(f64::INFINITY)
}

/// Says what became of the rules, and of the worst of them more.
fn headline(sorted: &[&Verdict]) -> Line {
    let Some(first) = sorted.first() else { return Line::text("No rule was checked").bold() };
    let of =
        |standings: &[Standing]| sorted.iter().filter(|one| standings.contains(&Standing::of(one))).count();
    let share = |number: usize, what: &str| match sorted.len() {
        1 => String::new(),
        all => format!("; {number} of {all} rules {what}"),
    };
    match Standing::of(first) {
        Standing::Failed => {
            failed(first).and(&share(of(&[Standing::Failed, Standing::FailedUnknown]), "failed"))
        }
        Standing::FailedUnknown => {
            unknown(first, "Failed").and(&share(of(&[Standing::FailedUnknown]), "failed"))
        }
        Standing::NoBaseline => {
            let number = of(&[Standing::NoBaseline]);
            let rules = counted(number as u64, "rule");
            let text = format!(
                ": {rules} of {} can't be checked, since there is no run to compare with",
                sorted.len()
            );
            Line::text("No baseline").bold().and(&text)
        }
        Standing::Unknown => unknown(first, "Unknown")
            .and(&share(of(&[Standing::Unknown]), "can't be decided"))
            .and("; more or longer repeats decide"),
        Standing::PassedFirst => Line::text("Passed without a baseline")
            .bold()
            .and(": there is no earlier run to compare with yet"),
        Standing::Passed if sorted.len() == 1 => {
            let line =
                Line::text("Passed").bold().and(": ").and_code(&first.rule).and(" in ").and_code(&first.run);
            first.note.iter().fold(line, |line, note| line.and(": ").and(note))
        }
        Standing::Passed => {
            let line = Line::text("Passed").bold().and(&format!(": all {} rules", sorted.len()));
            // What is known of a change says more than that there is none beyond a limit.
            match &first.note {
                Some(note) if first.comparison.is_some() => {
                    line.and("; ").and_code(&first.rule).and(": ").and(note)
                }
                _ => line,
            }
        }
    }
}

/// Says how a rule failed: as a change for the worse, if it is about one.
fn failed(verdict: &Verdict) -> Line {
    if let (Some(comparison), Some((figure, how))) = (&verdict.comparison, change_of(&verdict.rule)) {
        let shift = shift(verdict, comparison);
        return shift
            .sentence("Failed: ", &Line::text(figure), how)
            .and(&noise(comparison))
            .and(": ")
            .and_code(&verdict.run);
    }
    let value = number_cell(verdict.value, verdict.decimals().into(), verdict.unit.name());
    let line = Line::text("Failed: ").and_code(&verdict.rule).bold().and(" in ").and_code(&verdict.run);
    match (verdict.value, &verdict.note) {
        (Some(_), _) => line.and(": ").and_line(&value),
        (None, Some(note)) => line.and(": ").and(note),
        (None, None) => line,
    }
}

/// Says that the data can't tell, and what they say.
fn unknown(verdict: &Verdict, word: &str) -> Line {
    let line = Line::text(&format!("{word}: the data can't tell"));
    let Some((figure, how)) = change_of(&verdict.rule) else {
        return line.and(" of ").and_code(&verdict.rule).bold();
    };
    let line = line.and(&format!(" whether {figure} {} {how}", is(figure))).bold();
    let change = verdict.comparison.as_ref().map(|comparison| {
        Line::text(", ").and_line(&shift(verdict, comparison).cell()).and(&noise(comparison))
    });
    change.iter().fold(line, Line::and_line).and(": ").and_code(&verdict.run)
}

/// Splits a rule about chance, such as "p95 not worse than baseline by 3%", into its figure and the word for harm.
fn change_of(rule: &str) -> Option<(&str, &'static str)> {
    ["worse", "more", "less"].into_iter().find_map(|how| {
        // A label may have these words, too, and comes before them.
        let (figure, _) = rule.rsplit_once(&format!(" not {how} than baseline"))?;
        Some((figure, how))
    })
}

/// Returns the change that a rule about chance is about.
fn shift(verdict: &Verdict, comparison: &Comparison) -> Shift {
    let difference = comparison.value - comparison.baseline;
    match verdict.unit {
        // Of failures, which are a share themselves.
        Unit::Percent if verdict.rule.starts_with("failures") => {
            Shift::points(Some(difference), comparison.interval)
        }
        _ => Shift::percent(comparison.percent(), comparison.percent_interval),
    }
}

/// Says by what a change is known.
fn noise(comparison: &Comparison) -> String {
    let (baseline, checked) = comparison.runs;
    match comparison.noise {
        Some(Noise::Repeats | Noise::SecondsOfRepeats) => format!(", by {baseline} and {checked} repeats"),
        Some(Noise::Pairs) => format!(", by {checked} pairs"),
        Some(_) => ", by the seconds of these runs".to_owned(),
        None => String::new(),
    }
}

fn row(verdict: &Verdict) -> Vec<Line> {
    let number = |value| number_cell(value, verdict.decimals().into(), verdict.unit.name());
    let seconds = verdict.span.map(|span| format!("in seconds {} to {}", span.first, span.last));
    let why: Vec<String> = seconds.into_iter().chain(verdict.note.clone()).collect();
    vec![
        Line::text(Standing::of(verdict).name()),
        Line::code(&verdict.rule),
        Line::code(&verdict.run),
        number(verdict.value),
        number(verdict.limit),
        Line::text(&why.join("; ")),
    ]
}
