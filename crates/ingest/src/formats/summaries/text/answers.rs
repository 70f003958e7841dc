//! Answers by status and errors by message, as oha and hey tell them.

use super::super::json::value::{is_success, named, sum};
use super::super::point::{Bounds, Figures};
use super::super::split::section::Section;
use super::super::units;

/// Requests that were still on their way when oha's time was up.
const AT_THE_END: &str = "aborted due to deadline";

/// How the requests of a run ended.
pub(crate) struct Answers {
    successes: u64,
    statuses: u64,
    timeouts: u64,
    errors: u64,
    at_the_end: u64,
}

impl Answers {
    /// Reads the lines `[200] 1800 responses` and `[6] message` of a section.
    ///
    /// # Errors
    /// If there are none, or a number is no count.
    pub(crate) fn of_lines(section: &Section<'_>) -> Result<Self, String> {
        let lines = section.each(|line| line.strip_prefix('[')?.split_once(']'));
        if lines.is_empty() {
            return Err("the output ends before its status codes".to_owned());
        }
        let (mut statuses, mut errors) = (Vec::new(), Vec::new());
        for (name, rest) in lines {
            let rest = rest.trim();
            let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
            let (list, name, count) = match rest.strip_suffix(" responses").filter(is_number) {
                Some(count) => (&mut statuses, name, count),
                None => (&mut errors, rest, name),
            };
            let known = units::count(count).ok_or_else(|| format!("\"[{name}] {count}\" has no count"))?;
            list.push((name, known));
        }
        Ok(Self::new(statuses, errors))
    }

    /// Sorts counts by status and by message of an error.
    pub(crate) fn new(statuses: Vec<(&str, u64)>, errors: Vec<(&str, u64)>) -> Self {
        let of = |test: &dyn Fn(&str) -> bool, counts: &[(&str, u64)]| {
            sum(counts.iter().filter(|(name, _)| test(name)).map(|(_, count)| *count))
        };
        let is_timeout = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["timeout", "timed out", "deadline exceeded"].iter().any(|word| name.contains(word))
        };
        Self {
            successes: of(&is_success, &statuses),
            statuses: of(&|name| !is_success(name), &statuses),
            timeouts: of(&is_timeout, &errors),
            errors: of(&|name| !is_timeout(name) && name != AT_THE_END, &errors),
            at_the_end: of(&|name| name == AT_THE_END, &errors),
        }
    }

    /// Adds the counts to the figures of a tool that takes its latencies over all answers.
    pub(crate) fn count_into(&self, figures: &mut Figures) {
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
            figures.notes.push(format!("{} time-outs are in no latency", self.timeouts));
        }
        if self.at_the_end > 0 {
            figures
                .notes
                .push(format!("{} requests were on their way at the end, and are left out", self.at_the_end));
        }
    }
}

/// Adds the counts by code of vegeta's reports, where 0 is a request without an answer.
pub(crate) fn vegeta_codes(codes: &[(&str, u64)], figures: &mut Figures) {
    let successes = sum(codes.iter().filter(|(code, _)| is_success(code)).map(|(_, count)| *count));
    let unanswered = sum(codes.iter().filter(|(code, _)| *code == "0").map(|(_, count)| *count));
    let all = sum(codes.iter().map(|(_, count)| *count));
    let failures = all.saturating_sub(successes);
    figures.requests = Some(all);
    figures.successes = Some(successes);
    figures.failures = Some(Bounds::exactly(failures));
    figures.kinds = named(&[("status", failures.saturating_sub(unanswered)), ("no answer", unanswered)]);
    figures.notes.push(
        "vegeta's percentiles are estimated, and include failures: read its results instead".to_owned(),
    );
}
