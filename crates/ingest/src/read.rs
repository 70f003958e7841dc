//! Reads the logs of a run one after another, having looked ahead in all of them for t0.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::cut::{Block, Buffers, Cutter, RECORD_LIMIT};
use crate::error::{Place, Result};
use crate::layout::{Layout, LayoutOptions};
use crate::parse::{Clock, Parsed, Parser};
use crate::source::{LogReader, LogSource};
use crate::store::SourceFile;

/// Bytes that tell a log's layout.
const HEAD: usize = 64 << 10;

/// Where the blocks of the logs go. Each call but `start` and `buffers` says whether to go on.
pub(crate) trait LogFeed {
    /// Where empty buffers come from.
    type Buffers: Buffers;

    /// The clock is known; blocks come after this.
    fn start(&mut self, clock: Clock);

    /// Empty buffers.
    fn buffers(&mut self) -> &mut Self::Buffers;

    /// A log begins.
    fn begin_log(&mut self, place: Place) -> bool;

    /// A block of the log that began last; `file` names the log, where the run has several.
    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool;

    /// The log was read to its clean end.
    fn end_log(&mut self, source: SourceFile) -> bool;

    /// What was noticed on the way, as sentences for the user.
    fn notes(&mut self, notes: Vec<String>) -> bool;
}

/// What is to be read, and how.
pub(crate) struct ReadPlan {
    /// The logs.
    pub(crate) sources: Vec<LogSource>,
    pub(crate) layout: LayoutOptions,
    /// t0, where it is known already.
    pub(crate) origin: Option<i64>,
    pub(crate) max_span_ms: u64,
    pub(crate) block_size: usize,
    pub(crate) look_ahead: usize,
}

/// What looking ahead found.
struct Survey {
    parser: Parser,
    parsed: Parsed,
    max_span_ms: u64,
    head: Option<i64>,
    earliest: Option<i64>,
}

impl Survey {
    fn look(&mut self, blocks: &VecDeque<Block>, layout: &Layout) {
        for block in blocks.iter().filter(|block| block.oversized.is_none()) {
            if self.head.is_none() {
                self.parse(block, layout);
                self.head = self.parsed.first_ms;
            }
            // Once more, now that records too far from the head can be told.
            self.parse(block, layout);
            self.earliest = [self.earliest, self.parsed.earliest_ms].into_iter().flatten().min();
        }
    }

    fn parse(&mut self, block: &Block, layout: &Layout) {
        let clock = Clock { origin: 0, head: self.head, max_span_ms: self.max_span_ms };
        self.parser.parse(&block.bytes, None, layout, &clock, &mut self.parsed);
    }

    /// The clock; t0 is beyond all time while no record was accepted, so that the first one is earlier.
    fn clock(&self, known: Option<i64>) -> Clock {
        let origin = known.or(self.earliest).unwrap_or(i64::MAX);
        Clock { origin, head: self.head.or(known), max_span_ms: self.max_span_ms }
    }
}

impl ReadPlan {
    /// Reads everything into the feed; returns early, without error, when the feed says so.
    ///
    /// # Errors
    /// When a file can't be read or is not what it was taken for.
    pub(crate) fn run(
        mut self,
        parser: Parser,
        packed: Arc<AtomicU64>,
        feed: &mut impl LogFeed,
    ) -> Result<()> {
        // What can be read only once is read first, since looking ahead in it is reading it.
        self.sources.sort_by_key(LogSource::can_restart);
        let sources = std::mem::take(&mut self.sources);
        let window = self.look_ahead / sources.len().max(1);
        let mut survey = Survey {
            parser,
            parsed: Parsed::default(),
            max_span_ms: self.max_span_ms,
            head: None,
            earliest: None,
        };
        let several = sources.len() > 1;
        let mut sources = sources;
        for source in sources.iter_mut().filter(|source| source.can_restart()) {
            self.peek(source, window, &mut survey)?;
        }
        let mut survey = Some(survey);
        if sources.first().is_none_or(LogSource::can_restart) {
            self.start(&mut survey, feed);
        }
        for source in &mut sources {
            if !self.read(source, several, window, &packed, &mut survey, feed)? {
                break;
            }
        }
        Ok(())
    }

    fn start(&self, survey: &mut Option<Survey>, feed: &mut impl LogFeed) {
        if let Some(survey) = survey.take() {
            feed.start(survey.clock(self.origin));
        }
    }

    /// Looks at the beginning of a file that will be opened again.
    fn peek(&self, source: &mut LogSource, window: usize, survey: &mut Survey) -> Result<()> {
        let mut stream = source.open(Arc::default())?;
        let Some(log) = stream.next_log()? else { return Ok(()) };
        let (layout, mut cutter) = self.open_log(log)?;
        match cutter.look_ahead(window) {
            Ok(blocks) => survey.look(blocks, &layout),
            Err(error) => return Err(cutter.into_reader().explain(error)),
        }
        Ok(())
    }

    /// Reads all logs of a source; false when the feed wants no more.
    fn read(
        &self,
        source: &mut LogSource,
        several: bool,
        window: usize,
        packed: &Arc<AtomicU64>,
        survey: &mut Option<Survey>,
        feed: &mut impl LogFeed,
    ) -> Result<bool> {
        let mut stream = source.open(Arc::clone(packed))?;
        let mut first = true;
        while let Some(log) = stream.next_log()? {
            let place = log.place().clone();
            let name: Arc<str> = log.file_name().into();
            // The only log of a run needs no name; of a pipe's logs, each after the first has one.
            let file = (several || !first).then_some(&name);
            first = false;
            let (layout, mut cutter) = self.open_log(log)?;
            let layout = Arc::new(layout);
            if let Some(survey) = survey.as_mut() {
                match cutter.look_ahead(window) {
                    Ok(blocks) => survey.look(blocks, &layout),
                    Err(error) => return Err(cutter.into_reader().explain(error)),
                }
            }
            self.start(survey, feed);
            if !feed.begin_log(place) {
                return Ok(false);
            }
            loop {
                match cutter.next(feed.buffers()) {
                    Ok(Some(block)) => {
                        if !feed.block(block, &layout, file) {
                            return Ok(false);
                        }
                    }
                    Ok(None) => break,
                    Err(error) => return Err(cutter.into_reader().explain(error)),
                }
            }
            if !cutter.has_ended() {
                return Ok(false);
            }
            if !feed.end_log(cutter.into_reader().finish()?) {
                return Ok(false);
            }
        }
        Ok(feed.notes(stream.take_notes()))
    }

    /// Reads a log's first bytes and finds out its layout.
    fn open_log<'a>(&self, mut log: LogReader<'a>) -> Result<(Layout, Cutter<LogReader<'a>>)> {
        let mut head = Vec::new();
        while head.len() < HEAD || (!head.contains(&b'\n') && head.len() < RECORD_LIMIT) {
            let wanted = (head.len() + HEAD) as u64 - head.len() as u64;
            match log.by_ref().take(wanted).read_to_end(&mut head) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(log.explain(error)),
            }
        }
        let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let head = head.split_off(mark);
        let layout = Layout::detect(&head, &self.layout, log.place())?;
        let cutter = Cutter::new(log, head, mark as u64, layout.delimiter, self.block_size);
        Ok((layout, cutter))
    }
}
