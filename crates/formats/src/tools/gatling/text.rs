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
//! Nothing is escaped, so a tab in a name or a message is a tab: the times are found by the verdict after them.

use crate::number::parse_i64;
use crate::tools::fields::LineFields;
use crate::tools::fields::LogColumn;
use crate::tools::format::{Format, TimeBase};
use crate::tools::lines::{ConvertLine, LineByLine};
use crate::tools::rejects::{RejectCause, RejectedField};
use crate::tools::rows::{ConvertedRows, MS, RequestRow};
use perfpipe_model::sample::resolution::Resolution;

/// The text log.
pub(crate) const FORMAT: Format = Format {
    name: "Gatling's log",
    tool: Some("gatling"),
    finest: Resolution::MILLISECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| head.starts_with(b"RUN\t") || head.starts_with(b"ASSERTION\t"),
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(GatlingText::default())),
};

/// The columns that Gatling reports.
pub(super) const COLUMNS: &[LogColumn] = &[
    LogColumn::TimeStamp,
    LogColumn::Elapsed,
    LogColumn::Label,
    LogColumn::ResponseMessage,
    LogColumn::Success,
    LogColumn::FailureMessage,
    LogColumn::AllThreads,
];

/// The message of a failed group: Gatling has none.
pub(super) const GROUP_FAILED: &[u8] = b"a request of the group failed";

/// Converts the lines of one log.
#[derive(Debug)]
pub(super) struct GatlingText {
    /// The number of fields before the groups of a request.
    lead: usize,
    /// The users that have started and not ended.
    users: ActiveUsers,
    fields: LineFields,
    label: Vec<u8>,
}

impl Default for GatlingText {
    fn default() -> Self {
        Self { lead: 1, users: ActiveUsers::default(), fields: LineFields::default(), label: Vec::new() }
    }
}

/// Counts active users.
#[derive(Debug, Default)]
pub(super) struct ActiveUsers(i64);

impl ActiveUsers {
    pub(super) fn change(&mut self, starts: bool) {
        self.0 += if starts { 1 } else { -1 };
    }

    /// Returns the number of active users; `None` if the log reports none.
    pub(super) fn active(&self) -> Option<i64> {
        Some(self.0).filter(|users| *users > 0)
    }
}

impl ConvertLine for GatlingText {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.split(line, b'\t');
        let converted = match fields.get(0) {
            b"REQUEST" => self.request(&fields, rows),
            b"GROUP" => self.group(&fields, rows),
            b"USER" => self.user(&fields),
            b"RUN" => {
                self.run(&fields);
                Ok(())
            }
            b"ERROR" | b"ASSERTION" | b"" => Ok(()),
            _ => Err((RejectCause::Unknown, None)),
        };
        if let Err((cause, value)) = converted {
            rows.reject(cause, value, line);
        }
        self.fields = fields;
    }
}

impl GatlingText {
    fn run(&mut self, fields: &LineFields) {
        let version = fields.last();
        let mut numbers = version.split(|byte| *byte == b'.').map(|number| parse_i64(number).unwrap_or(0));
        self.lead = match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
            (..3, _) => 3,
            (3, ..4) => 2,
            _ => 1,
        };
    }

    fn user<'a>(&mut self, fields: &'a LineFields) -> Result<(), RejectedField<'a>> {
        let starts = (0..fields.len()).rev().find_map(|at| match fields.get(at) {
            b"START" => Some(true),
            b"END" => Some(false),
            _ => None,
        });
        self.users.change(starts.ok_or((RejectCause::Unknown, None))?);
        Ok(())
    }

    fn request<'a>(
        &mut self,
        fields: &'a LineFields,
        rows: &mut ConvertedRows,
    ) -> Result<(), RejectedField<'a>> {
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
        rows.push(&RequestRow {
            start_ms: start,
            elapsed_ns: end.saturating_sub(start).saturating_mul(MS),
            label: &self.label,
            success,
            failure_message: fields.joined(at + 1..fields.len()).trim_ascii(),
            threads: self.users.active(),
            ..RequestRow::default()
        });
        Ok(())
    }

    fn group<'a>(
        &mut self,
        fields: &'a LineFields,
        rows: &mut ConvertedRows,
    ) -> Result<(), RejectedField<'a>> {
        let (at, success) = verdict(fields)?;
        let [start, _] = times(fields, at.wrapping_sub(3))?;
        let elapsed = number(fields, at.wrapping_sub(1), RejectCause::Number(LogColumn::Elapsed))?;
        self.label.clear();
        self.name_groups(fields.joined(self.lead..at.wrapping_sub(3)));
        rows.push(&RequestRow {
            start_ms: start,
            elapsed_ns: elapsed.saturating_mul(MS),
            label: &self.label,
            success,
            failure_message: if success { b"" } else { GROUP_FAILED },
            threads: self.users.active(),
            is_transaction: true,
            ..RequestRow::default()
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

fn too_few(fields: &LineFields, expected: usize) -> RejectedField<'_> {
    (RejectCause::Fields { found: fields.len() as u64, expected: expected as u64 }, None)
}

/// Returns the index of the last verdict that has two numbers before it, and true if it is OK.
fn verdict(fields: &LineFields) -> Result<(usize, bool), RejectedField<'_>> {
    let is_number = |at: usize| parse_i64(fields.get(at)).is_some();
    let verdicts = || (0..fields.len()).rev().filter(|at| matches!(fields.get(*at), b"OK" | b"KO"));
    let found = verdicts().find(|at| *at > 2 && is_number(at - 1) && is_number(at - 2));
    match found.or_else(|| verdicts().next()) {
        Some(at) => Ok((at, fields.get(at) == b"OK")),
        None if fields.len() < 5 => Err(too_few(fields, 7)),
        None => Err((RejectCause::Verdict(LogColumn::Success), None)),
    }
}

/// Returns the start and the end, which are the fields from `at` on.
fn times(fields: &LineFields, at: usize) -> Result<[i64; 2], RejectedField<'_>> {
    let time = |at| number(fields, at, RejectCause::Time(LogColumn::TimeStamp));
    Ok([time(at)?, time(at.wrapping_add(1))?])
}

fn number(fields: &LineFields, at: usize, cause: RejectCause) -> Result<i64, RejectedField<'_>> {
    let field = fields.get(at);
    parse_i64(field).ok_or((cause, Some(field)))
}
