//! What a block of a log comes to once it is parsed.

use super::refused::Refused;
use crate::formats::clock_steps::Clocks;
use crate::formats::endpoint::Endpoints;
use crate::run::reject_reason::RejectReason;
use crate::sample::batch::SampleBatch;
use crate::sample::ends::Ends;
use crate::sample::reserved::OTHER;
use crate::sample::texts::Texts;

/// The run's clock, known once the head of the logs was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    /// t0, epoch ms.
    pub(crate) origin: i64,
    /// timeStamp of the first accepted record; without one, records of any time are accepted.
    pub(crate) head: Option<i64>,
    /// How far from `head` a record may be, in ms.
    pub(crate) max_span_ms: u64,
}

/// What a block holds.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The accepted samples.
    pub(crate) batch: SampleBatch,
    /// Rows of the batch that failed, with the code of their message in `messages`.
    pub(crate) failures: Vec<(u32, u32)>,
    pub(crate) messages: Texts,
    /// Rows of the batch with a text that was cut, some of them several times.
    pub(crate) cut: Vec<u32>,
    pub(crate) rejects: Refused,
    /// Line feeds in the block.
    pub(crate) lines: u64,
    /// timeStamp of the first accepted record, and the smallest and largest of all.
    pub(crate) first_ms: Option<i64>,
    pub(crate) earliest_ms: Option<i64>,
    pub(crate) latest_ms: Option<i64>,
    pub(crate) ends: Ends,
    pub(crate) endpoints: Endpoints,
    /// Line and byte of a header that names other columns than the log's first.
    pub(crate) other_header: Option<(u64, u64)>,
    /// Records whose quoted fields hold lines that read as records.
    pub(crate) swallowed: Vec<Swallowed>,
    pub(crate) clocks: Clocks,
    /// Whether a date in it named no zone.
    pub(crate) zone_assumed: bool,
}

/// A record with a quoted field that holds others, most likely between two stray quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swallowed {
    /// Line feeds in the block before it.
    pub(crate) line: u64,
    pub(crate) byte: u64,
    /// How many of its lines read as records.
    pub(crate) records: u64,
}

impl Parsed {
    /// How many samples have a text that was cut.
    pub(crate) fn cut_samples(&mut self) -> u64 {
        self.cut.sort_unstable();
        self.cut.dedup();
        self.cut.len() as u64
    }

    pub(super) fn clear(&mut self) {
        self.batch.clear();
        self.failures.clear();
        self.messages.clear();
        self.cut.clear();
        self.rejects.restart(self.rejects.room());
        self.lines = 0;
        self.first_ms = None;
        self.earliest_ms = None;
        self.latest_ms = None;
        self.ends = Ends::default();
        self.endpoints = Endpoints::default();
        self.other_header = None;
        self.swallowed.clear();
        self.clocks.clear();
        self.zone_assumed = false;
    }

    /// Sets names of the log's own apart from that of what is beyond the numbers that are told apart.
    pub(super) fn set_names_apart(&mut self) {
        let SampleBatch { label, response_code, injector, .. } = &mut self.batch;
        for names in [label, response_code, injector, &mut self.messages] {
            names.set_apart(OTHER);
        }
    }

    /// Rejects what is left of a record behind the last line end of a block, with its lines before that, if a quote
    /// was opened there.
    #[cold]
    pub(super) fn refuse_rest(&mut self, lines: &[u8], rest: &[u8]) {
        let reaches_end = |end: usize| lines.get(end..).is_some_and(|behind| behind.trim_ascii().is_empty());
        let begun = self.rejects.pop_if(RejectReason::OpenQuote, reaches_end);
        let (line, byte) = begun.unwrap_or((self.lines, lines.len() as u64));
        let len = lines.len() - byte as usize + rest.len();
        self.rejects.push((line, byte), len, RejectReason::CutShort, None);
    }
}
