//! Oddities in logs of valid records: clock steps, and quotes that enclose other records.

use super::parsed::Swallowed;
use crate::clock_steps::{BlockClocks, LogClocks};
use perfpipe_model::error::Place;
use perfpipe_model::run::reject_reason::RejectReason;

/// The step of clocks when summer time ends, and the tolerance of a measured step, since logs have pauses. In ms.
const HOUR_MS: i64 = 3_600_000;
const NEAR_MS: i64 = 300_000;

/// The oddities of one log.
#[derive(Debug, Default)]
pub struct Oddities {
    clocks: LogClocks,
    /// The first record that contains others, and the number of such records.
    swallowed: Option<Swallowed>,
    swallowing: u64,
    /// True if a date in the log did not name its zone.
    pub zone_assumed: bool,
    /// The number of records at other times than those that are asked for.
    pub outside: u64,
    /// True if a record may be that of a transaction controller, which the log can't show.
    pub may_be_transactions: bool,
}

impl Oddities {
    /// Adds a block that begins on `first_line`. Blocks must come in the order of the log.
    pub fn add(&mut self, swallowed: &[Swallowed], clocks: BlockClocks, first_line: u64) {
        self.clocks.add(clocks, first_line);
        let first = swallowed.first().map(|first| Swallowed { line: first_line + first.line, ..*first });
        self.swallowed = self.swallowed.or(first);
        self.swallowing += swallowed.len() as u64;
    }

    /// The notes for the user, as sentences.
    pub fn notes(&self, place: &Place) -> Vec<String> {
        let quotes = self.swallowed.map(|first| {
            let what = RejectReason::SwallowedRecords { records: first.records };
            let more = more(self.swallowing, "record");
            format!("{place}, line {}: {what}; a quote may be misplaced{more}", first.line)
        });
        let clock = self.clocks.first.map(|step| {
            let (seconds, line) = (step.ms.unsigned_abs().saturating_add(500) / 1000, step.line);
            let summer_ends = self.zone_assumed && (HOUR_MS - step.ms.abs()).abs() <= NEAR_MS;
            let what = match step.ms {
                ..0 if summer_ends => format!(
                    "the clock goes back by {seconds} s, so some seconds are counted twice. Summer time may \
                     have ended there: a date without a zone can mean either of two hours. Add the offset to \
                     the dates, as in +02:00 before this line and +01:00 from it on, or let JMeter log epoch \
                     times"
                ),
                ..0 => format!(
                    "the clock goes back by {seconds} s, so some seconds are counted twice (if logs were \
                     joined there, give them as separate files)"
                ),
                _ => format!(
                    "the clock goes forward by {seconds} s from one record to the next, to {}; if another run was appended \
                     there, take one of them (IngestOptions::only)",
                    shown_time(step.at_ms)
                ),
            };
            format!("{place}, line {line}: {what}{}", more(self.clocks.steps, "step"))
        });
        let joined = self.clocks.first_overlap.map(|line| {
            let more = more(self.clocks.overlaps, "log");
            format!(
                "{place}, line {line}: another log of the same time was joined there, of injectors with the same names, \
                 so the load is that of one of them (give them as separate files){more}"
            )
        });
        let transactions = self.may_be_transactions.then(|| {
            format!(
                "{place}: records without dataType and URL may be those of transaction controllers, and are counted as \
                 requests: the log has no responseMessage, by which they are known (have JMeter save it: \
                 jmeter.save.saveservice.response_message=true)"
            )
        });
        let outside = (self.outside > 0).then(|| {
            format!("{place}: records at other times than those asked for, left out: {}", self.outside)
        });
        quotes.into_iter().chain(outside).chain(clock).chain(joined).chain(transactions).collect()
    }
}

/// A moment (epoch ms) as a date of UTC, to the second.
fn shown_time(ms: i64) -> String {
    let moment = jiff::Timestamp::from_second(ms.div_euclid(1000)).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A suffix that counts the occurrences after the first.
fn more(all: u64, what: &str) -> String {
    match all.saturating_sub(1) {
        0 => String::new(),
        1 => format!("; and one more such {what}"),
        more => format!("; and {more} more such {what}s"),
    }
}
