//! The result of parsing a block of a log.

use super::rejects::BlockRejects;
use crate::clock_steps::ClockTracker;
use crate::endpoint::Endpoints;
use crate::histogram::Histogram;
use crate::tools::rows::form::Form;
use perfpipe_model::run::options::intervals::Intervals;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::ends::Ends;
use perfpipe_model::sample::reserved::OTHER;
use perfpipe_model::sample::texts::Texts;

/// The run's clock, known once the beginnings of the logs were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// t0, epoch ms.
    pub origin: i64,
    /// The timeStamp of the first accepted record, or the given origin, epoch ms. If `None`, records of any time are accepted.
    pub head: Option<i64>,
    /// The maximum distance of a record from `head`, in ms.
    pub max_span_ms: u64,
}

/// The parsed content of a block.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The accepted samples.
    pub batch: SampleBatch,
    /// For a log that has no requests, the histogram of each row of the batch, which is an interval; otherwise empty.
    pub histograms: Vec<Histogram>,
    /// The batch's rows of failures, each with the code of its message in `messages`.
    pub failures: Vec<(u32, u32)>,
    /// The messages of failures, a code for each sample.
    pub messages: Texts,
    /// The batch's rows with a shortened text; a row may occur more than once.
    pub cut: Vec<u32>,
    /// The rejected records.
    pub rejects: BlockRejects,
    /// The number of records at other times than those that are asked for.
    pub outside: u64,
    /// The number of line feeds in the block.
    pub lines: u64,
    /// The byte of the log at which the last record of packed ones begins.
    pub at_byte: Option<u64>,
    /// The timeStamp of the first accepted record, and the smallest and the largest of all, epoch ms.
    pub first_ms: Option<i64>,
    /// The earliest start of a sample, epoch ms.
    pub earliest_ms: Option<i64>,
    /// The latest start of a sample, epoch ms.
    pub latest_ms: Option<i64>,
    /// The latest ends of requests and of transactions.
    pub ends: Ends,
    /// The hosts and paths that the samples were sent to.
    pub endpoints: Endpoints,
    /// The line and byte of a header with other columns than the log's first.
    pub other_header: Option<(u64, u64)>,
    /// Records whose quoted fields contain lines that look like records.
    pub swallowed: Vec<Swallowed>,
    /// Steps of the clock, and overlaps.
    pub clocks: ClockTracker,
    /// True if a date in the block did not name its zone.
    pub zone_assumed: bool,
    /// True if a record may be that of a transaction controller, which the log can't show.
    pub may_be_transactions: bool,
    /// True if an accepted record names its injector in the column Hostname.
    pub has_hostname: bool,
    /// The form of the block's records.
    pub form: Form,
}

/// A record with a quoted field that contains other records, most likely between two stray quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swallowed {
    /// The number of line feeds in the block before it.
    pub line: u64,
    /// The byte of the log at which it begins.
    pub byte: u64,
    /// The number of its lines that look like records.
    pub records: u64,
}

impl Parsed {
    /// The number of samples.
    pub fn samples(&self) -> u64 {
        if self.histograms.is_empty() {
            return self.batch.len() as u64;
        }
        self.histograms.iter().map(Histogram::requests).fold(0, u64::saturating_add)
    }

    /// The properties of the intervals, if the log has no requests.
    pub fn intervals(&self) -> Option<Intervals> {
        let SampleBatch { t_ms, elapsed, resolution, .. } = &self.batch;
        let rows = self.histograms.iter().zip(t_ms.iter().zip(elapsed));
        let all = rows.map(|(histogram, (t_ms, length))| histogram.interval(*t_ms, *length, *resolution));
        all.reduce(Intervals::merged)
    }

    /// The number of samples with a shortened text.
    pub fn cut_samples(&mut self) -> u64 {
        self.cut.sort_unstable();
        self.cut.dedup();
        self.cut.len() as u64
    }

    pub(super) fn clear(&mut self) {
        self.batch.clear();
        self.histograms.clear();
        self.failures.clear();
        self.messages.clear();
        self.cut.clear();
        self.rejects.restart(self.rejects.room());
        self.outside = 0;
        self.lines = 0;
        self.at_byte = None;
        self.first_ms = None;
        self.earliest_ms = None;
        self.latest_ms = None;
        self.ends = Ends::default();
        self.endpoints = Endpoints::default();
        self.other_header = None;
        self.swallowed.clear();
        self.clocks.clear();
        self.zone_assumed = false;
        self.may_be_transactions = false;
        self.has_hostname = false;
        self.form = Form::Own;
    }

    /// Renames the log's own names that equal the reserved name [`OTHER`].
    pub(super) fn rename_reserved(&mut self) {
        let SampleBatch { label, response_code, injector, .. } = &mut self.batch;
        for names in [label, response_code, injector, &mut self.messages] {
            names.set_apart(OTHER);
        }
    }

    /// Rejects the incomplete record after the last line end of a damaged log. If its quote was opened on earlier
    /// lines, these belong to the reject.
    #[cold]
    pub(super) fn reject_rest(&mut self, lines: &[u8], rest: &[u8]) {
        let reaches_end = |end: usize| lines.get(end..).is_some_and(|rest| rest.trim_ascii().is_empty());
        let begun = self.rejects.pop_if(RejectReason::OpenQuote, reaches_end);
        let (line, byte) = begun.unwrap_or((self.lines, lines.len() as u64));
        let len = lines.len() - byte as usize + rest.len();
        self.rejects.push((line, byte), len, RejectReason::CutShort, None);
    }
}
