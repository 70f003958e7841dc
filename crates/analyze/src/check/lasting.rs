//! Rules about single seconds: for how long one is broken, and what can't be known of it.

use crate::view::phases::Span;

/// What is known of one of the seconds that are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub(super) second: u32,
    /// Its value, and whether it breaks the rule.
    pub(super) known: Option<(f64, bool)>,
}

/// What becomes of a rule that must not be broken for some seconds in a row.
///
/// It holds only if it would whatever the seconds without a value had been, since absent readings are no evidence.
#[derive(Debug)]
pub(super) enum Lasting<'a> {
    /// It holds. The longest row of seconds that break it, none where no second does.
    Holds(&'a [Judged]),
    /// Seconds that break it last as long, with fewer unknown ones between any two of them than the rule is about.
    Broken(&'a [Judged]),
    /// Unknown seconds leave it open: with those that break it they last as long, and none of them keeps to it.
    Open(&'a [Judged]),
    /// There are fewer seconds than the rule is about.
    Short,
}

impl<'a> Lasting<'a> {
    /// Judges seconds that follow one another.
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

/// The rows of seconds of which the first and the last break a rule, in a row of such and of unknown ones.
fn broken(row: &[Judged], lasting: usize) -> Vec<&[Judged]> {
    let known: Vec<usize> =
        row.iter().enumerate().filter(|(_, second)| second.known.is_some()).map(|(at, _)| at).collect();
    let rows = known.chunk_by(|one, next| next - one <= lasting);
    rows.filter_map(|rows| row.get(*rows.first()?..=*rows.last()?)).collect()
}

/// The longest of some rows, the first of equal ones; an empty one where there is none.
fn longest<'a>(rows: impl Iterator<Item = &'a [Judged]>) -> &'a [Judged] {
    rows.reduce(|longest, row| if row.len() > longest.len() { row } else { longest }).unwrap_or_default()
}

/// The seconds of a row; `None` where it is empty.
pub(super) fn span(row: &[Judged]) -> Option<Span> {
    Some(Span { first: row.first()?.second, last: row.last()?.second })
}

/// The values that are known of a row.
pub(super) fn values(row: &[Judged]) -> impl Iterator<Item = f64> {
    row.iter().filter_map(|second| Some(second.known?.0))
}

/// Why a row of seconds can't be judged.
pub(super) fn open(row: &[Judged]) -> String {
    let (all, unknown) = (row.len(), unknown(row));
    match span(row) {
        Some(Span { first, last }) if first == last => {
            format!("can't be judged: second {first} has no value")
        }
        Some(Span { first, last }) if unknown == all => {
            format!("can't be judged: none of the {all} seconds {first} to {last} has a value")
        }
        Some(Span { first, last }) => format!(
            "can't be judged: {unknown} of the {all} seconds {first} to {last} have no value, and none keeps to it"
        ),
        None => "can't be judged: there is no second".to_owned(),
    }
}

/// How many seconds of a row have no value.
pub(super) fn unknown(row: &[Judged]) -> usize {
    row.iter().filter(|second| second.known.is_none()).count()
}
