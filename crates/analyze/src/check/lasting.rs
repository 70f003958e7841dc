//! Rules with a duration: for how many seconds in a row a rule is broken, and how seconds without a value count.

use crate::view::phases::Span;

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
pub(super) enum Lasting<'a> {
    /// The rule holds. Contains the longest row of seconds that break it, empty if no second does.
    Holds(&'a [Judged]),
    /// The rule is broken: a row of breaking seconds is long enough, with gaps of fewer unknown seconds than the
    /// duration.
    Broken(&'a [Judged]),
    /// Can't be judged: breaking and unknown seconds together make a row that is long enough, with no second that
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
pub(super) fn span(row: &[Judged]) -> Option<Span> {
    Some(Span { first: row.first()?.second, last: row.last()?.second })
}

/// Returns the known values of a row.
pub(super) fn values(row: &[Judged]) -> impl Iterator<Item = f64> {
    row.iter().filter_map(|second| Some(second.known?.0))
}

/// Describes why a row of seconds can't be judged.
pub(super) fn describe_open(row: &[Judged]) -> String {
    let (all, unknown) = (row.len(), unknown(row));
    match span(row) {
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
pub(super) fn unknown(row: &[Judged]) -> usize {
    row.iter().filter(|second| second.known.is_none()).count()
}
