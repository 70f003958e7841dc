//! Answers by status and errors by message, as oha and hey print them.

use crate::summaries::json::{is_success, named, sum};
use crate::summaries::section::Section;
use crate::summaries::units;
use perfpipe_model::points::{Bounds, Figures};

/// Requests that were still on their way when oha's time was up.
const AT_THE_END: &str = "aborted due to deadline";

/// How the requests of a run ended.
#[derive(Default)]
pub(super) struct AnswerCounts {
    successes: u64,
    statuses: u64,
    timeouts: u64,
    errors: u64,
    at_the_end: u64,
}

impl AnswerCounts {
    /// Reads the lines `[200] 1800 responses` and `[6] message` of a section.
    ///
    /// # Errors
    /// If there are none, or a number is no count.
    pub(super) fn of_lines(section: &Section<'_>) -> Result<Self, String> {
        let (mut answers, mut result) = (Self::default(), None);
        section.all(|line| {
            let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else {
                return false;
            };
            if !matches!(result, Some(Err(_))) {
                result = Some(answers.add_line(name, rest.trim()));
            }
            true
        });
        result.unwrap_or_else(|| Err("the output ends before its status codes".to_owned()))?;
        Ok(answers)
    }

    fn add_line(&mut self, name: &str, rest: &str) -> Result<(), String> {
        let count_of = |name: &str, count: &str| {
            units::count(count).ok_or_else(|| format!("\"[{name}] {count}\" has no count"))
        };
        let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        match rest.strip_suffix(" responses").filter(is_number) {
            Some(count) => self.add_status(name, count_of(name, count)?),
            None => self.add_error(rest, count_of(rest, name)?),
        }
        Ok(())
    }

    /// Sorts counts by status and by message of an error.
    pub(super) fn new(statuses: Vec<(&str, u64)>, errors: Vec<(&str, u64)>) -> Self {
        let mut answers = Self::default();
        statuses.into_iter().for_each(|(status, count)| answers.add_status(status, count));
        errors.into_iter().for_each(|(message, count)| answers.add_error(message, count));
        answers
    }

    fn add_status(&mut self, status: &str, count: u64) {
        let sum = if is_success(status) { &mut self.successes } else { &mut self.statuses };
        *sum = sum.saturating_add(count);
    }

    fn add_error(&mut self, message: &str, count: u64) {
        let name = message.to_ascii_lowercase();
        let sum = if ["timeout", "timed out", "deadline exceeded"].iter().any(|word| name.contains(word)) {
            &mut self.timeouts
        } else if message == AT_THE_END {
            &mut self.at_the_end
        } else {
            &mut self.errors
        };
        *sum = sum.saturating_add(count);
    }

    /// Adds the counts to the figures of a tool whose latencies are of all answers.
    pub(super) fn count_into(&self, figures: &mut Figures) {
        let failures = sum([self.statuses, self.timeouts, self.errors]);
        figures.requests = Some(self.successes.saturating_add(failures));
        figures.successes = Some(self.successes);
        figures.failures = Some(Bounds::exactly(failures));
        figures.timeouts = Some(self.timeouts);
        figures.kinds =
            named(&[("status", self.statuses), ("timeout", self.timeouts), ("error", self.errors)]);
        if self.statuses > 0 {
            figures
                .notes
                .push(format!("the latencies include those of {} answers that failed", self.statuses));
        }
        if self.timeouts > 0 {
            figures.notes.push(format!("{} time-outs are not in the latencies", self.timeouts));
        }
        if self.at_the_end > 0 {
            figures.notes.push(on_their_way(self.at_the_end));
        }
    }
}

/// The note on requests that had no answer when the time was up.
pub(super) fn on_their_way(count: u64) -> String {
    format!("{count} requests were on their way at the end, and are left out")
}
