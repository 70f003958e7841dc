//! Gatling's `simulation.log` up to version 3.12: lines of fields between tabs.
//!
//! ```text
//! RUN      Sim    sim    1795348622935  description  3.9.5
//! USER     users  START  1795348425712
//! REQUEST  shop   hello  1795348425532  1795348425847  OK  message
//! GROUP    shop   1795348425789  1795348425874  50  OK
//! ```
//!
//! Before version 3.4 requests have the user's number before the groups, and before version 3.0 the scenario before that.
//! Nothing is escaped, so a tab in a name or a message is a tab: the times are found by the verdict behind them.

use crate::formats::number::parse_i64;
use crate::formats::tools::csv::Column;
use crate::formats::tools::fields::Fields;
use crate::formats::tools::format::{Clock, Format};
use crate::formats::tools::lines::{ConvertLine, LineByLine};
use crate::formats::tools::rows::{MS, Row, Rows};
use crate::formats::tools::told::Wrong;
use crate::sample::resolution::Resolution;

/// The text log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "Gatling's log",
    tool: Some("gatling"),
    finest: Resolution::MILLISECOND,
    clock: |_| Clock::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"RUN\t") || head.starts_with(b"ASSERTION\t"),
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(Gatling::default())),
};

/// What Gatling tells of a request.
pub(super) const COLUMNS: &[Column] = &[
    Column::TimeStamp,
    Column::Elapsed,
    Column::Label,
    Column::ResponseMessage,
    Column::Success,
    Column::FailureMessage,
    Column::AllThreads,
];

/// The message of a failed group: Gatling tells none.
pub(super) const GROUP_FAILED: &[u8] = b"a request of the group failed";

/// Converts the lines of one log.
#[derive(Debug)]
pub(super) struct Gatling {
    /// The number of fields before the groups of a request.
    lead: usize,
    /// The users that have started and not ended.
    users: Users,
    fields: Fields,
    label: Vec<u8>,
}

impl Default for Gatling {
    fn default() -> Self {
        Self { lead: 1, users: Users::default(), fields: Fields::default(), label: Vec::new() }
    }
}

/// Counts active users.
#[derive(Debug, Default)]
pub(super) struct Users(i64);

impl Users {
    pub(super) fn change(&mut self, starts: bool) {
        self.0 += if starts { 1 } else { -1 };
    }

    /// Returns the number of active users; `None` if the log tells of none.
    pub(super) fn active(&self) -> Option<i64> {
        Some(self.0).filter(|users| *users > 0)
    }
}

impl ConvertLine for Gatling {
    fn line(&mut self, line: &[u8], rows: &mut Rows) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.split(line, b'\t');
        let taken = match fields.get(0) {
            b"REQUEST" => self.request(&fields, rows),
            b"GROUP" => self.group(&fields, rows),
            b"USER" => self.user(&fields),
            b"RUN" => {
                self.run(&fields);
                Ok(())
            }
            b"ERROR" | b"ASSERTION" | b"" => Ok(()),
            _ => Err((Wrong::Unknown, None)),
        };
        if let Err((wrong, value)) = taken {
            rows.reject(wrong, value, line);
        }
        self.fields = fields;
    }
}

/// What is wrong with a line, and the offending value.
type Refused<'a> = (Wrong, Option<&'a [u8]>);

impl Gatling {
    fn run(&mut self, fields: &Fields) {
        let version = fields.last();
        let mut numbers = version.split(|byte| *byte == b'.').map(|number| parse_i64(number).unwrap_or(0));
        self.lead = match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
            (..3, _) => 3,
            (3, ..4) => 2,
            _ => 1,
        };
    }

    fn user<'a>(&mut self, fields: &'a Fields) -> Result<(), Refused<'a>> {
        let starts = (0..fields.len()).rev().find_map(|at| match fields.get(at) {
            b"START" => Some(true),
            b"END" => Some(false),
            _ => None,
        });
        self.users.change(starts.ok_or((Wrong::Unknown, None))?);
        Ok(())
    }

    fn request<'a>(&mut self, fields: &'a Fields, rows: &mut Rows) -> Result<(), Refused<'a>> {
        let (at, success) = verdict(fields)?;
        let [start, end] = times(fields, at.wrapping_sub(2))?;
        let name_end = at.wrapping_sub(2);
        if name_end <= self.lead {
            return Err(too_few(fields, self.lead + 5));
        }
        let groups = fields.get(self.lead);
        self.label.clear();
        self.name_groups(groups);
        if !groups.is_empty() {
            self.label.extend_from_slice(b" / ");
        }
        self.label.extend_from_slice(fields.joined(self.lead + 1..name_end));
        rows.push(&Row {
            start_ms: start,
            elapsed_ns: end.saturating_sub(start).saturating_mul(MS),
            label: &self.label,
            success,
            failure_message: fields.joined(at + 1..fields.len()).trim_ascii(),
            threads: self.users.active(),
            ..Row::default()
        });
        Ok(())
    }

    fn group<'a>(&mut self, fields: &'a Fields, rows: &mut Rows) -> Result<(), Refused<'a>> {
        let (at, success) = verdict(fields)?;
        let [start, _] = times(fields, at.wrapping_sub(3))?;
        let elapsed = number(fields, at.wrapping_sub(1), Wrong::Number(Column::Elapsed))?;
        self.label.clear();
        self.name_groups(fields.joined(self.lead..at.wrapping_sub(3)));
        rows.push(&Row {
            start_ms: start,
            elapsed_ns: elapsed.saturating_mul(MS),
            label: &self.label,
            success,
            failure_message: if success { b"" } else { GROUP_FAILED },
            threads: self.users.active(),
            is_transaction: true,
            ..Row::default()
        });
        Ok(())
    }

    /// Appends the names of nested groups, which the log has between commas: one in a name is written as a blank.
    fn name_groups(&mut self, groups: &[u8]) {
        for (at, group) in groups.split(|byte| *byte == b',').enumerate() {
            if at > 0 {
                self.label.extend_from_slice(b" / ");
            }
            self.label.extend_from_slice(group);
        }
    }
}

fn too_few(fields: &Fields, expected: usize) -> Refused<'_> {
    (Wrong::Fields { found: fields.len() as u64, expected: expected as u64 }, None)
}

/// Returns the place of the last verdict that has two numbers before it, and true if it is OK.
fn verdict(fields: &Fields) -> Result<(usize, bool), Refused<'_>> {
    let is_number = |at: usize| parse_i64(fields.get(at)).is_some();
    let verdicts = || (0..fields.len()).rev().filter(|at| matches!(fields.get(*at), b"OK" | b"KO"));
    let found = verdicts().find(|at| *at > 2 && is_number(at - 1) && is_number(at - 2));
    match found.or_else(|| verdicts().next()) {
        Some(at) => Ok((at, fields.get(at) == b"OK")),
        None if fields.len() < 5 => Err(too_few(fields, 7)),
        None => Err((Wrong::Verdict(Column::Success), None)),
    }
}

/// Returns the start and the end, which stand from `at` on.
fn times(fields: &Fields, at: usize) -> Result<[i64; 2], Refused<'_>> {
    let time = |at| number(fields, at, Wrong::Time(Column::TimeStamp));
    Ok([time(at)?, time(at.wrapping_add(1))?])
}

fn number(fields: &Fields, at: usize, wrong: Wrong) -> Result<i64, Refused<'_>> {
    let field = fields.get(at);
    parse_i64(field).ok_or((wrong, Some(field)))
}
