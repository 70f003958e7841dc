//! The stages of the pipeline one by one, for benchmarks. Not part of the API; may change at any time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::counting::counter::Counter;
use crate::pipeline::plan::{LogFeed, ReadPlan};
use crate::source::{Inputs, SourceOptions};
use perfpipe_formats::date::DateParser;
use perfpipe_formats::injector::Injectors;
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_formats::jtl::records::plain::PlainRecords;
use perfpipe_formats::jtl::records::record::{Records, marks};
use perfpipe_model::error::{Error, Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::pool::{Pool, Turn};
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};
use perfpipe_store::postgres::SampleEncoder;
use perfpipe_store::sink::BatchEncoder;

/// The stages of the pipeline, applied to blocks of one log.
pub struct Parts {
    layout: Layout,
    parser: Parser,
    clock: Clock,
    parsed: Parsed,
    counter: Counter,
}

impl Parts {
    /// Prepares the stages for a log that begins with `head`. Its samples are joined to these CPU readings.
    ///
    /// # Errors
    /// If `head` does not begin a log.
    pub fn new(head: &[u8], cpu: TimeSeries) -> Result<Self> {
        let layout = Layout::detect(head, &LayoutOptions::default(), &Place::file("-"))?;
        let dates = DateParser::new(TimeZone::default());
        let mut parts = Self {
            layout,
            parser: Parser::new(dates, Injectors::default(), Arc::new(cpu), CpuJoin::default()),
            clock: Clock { origin: 0, head: None, max_span_ms: 0 },
            parsed: Parsed::default(),
            counter: Counter::default(),
        };
        parts.parse(head);
        parts.clock.origin = parts.parsed.earliest_ms.unwrap_or_default() - 60_000;
        Ok(parts)
    }

    /// Finds the delimiters, quotes and line feeds of a block. Returns their number.
    pub fn scan(&self, block: &[u8]) -> usize {
        marks(block, 0, self.layout.delimiter).count()
    }

    /// Splits a block into records and fields. Returns the number of fields in uniform records.
    pub fn split(&self, block: &[u8]) -> usize {
        let (mut records, mut plain) = (Records::new(block, self.layout.delimiter), PlainRecords::default());
        let mut uniform = 0;
        loop {
            plain.read(&mut records, self.layout.width);
            uniform += plain.rows(block).count() * self.layout.width;
            if !plain.is_full() && records.next_record().is_none() {
                return uniform;
            }
        }
    }

    /// Splits a block, parses its records and joins the CPU readings.
    pub fn parse(&mut self, block: &[u8]) -> &SampleBatch {
        self.parser.parse(block, None, &self.layout, &self.clock, &mut self.parsed);
        &self.parsed.batch
    }

    /// Counts the batch that was parsed last. Returns the number of its cells.
    pub fn count(&mut self) -> usize {
        self.counter.tally(&mut self.parsed, &self.clock).cells().count()
    }

    /// Encodes the batch that was parsed last for Postgres. Returns true if it gave a chunk.
    ///
    /// # Errors
    /// If a sample does not fit its row.
    pub fn encode_copy(&self, encoder: &mut SampleEncoder) -> Result<bool> {
        Ok(encoder.encode(&self.parsed.batch)?.is_some())
    }
}

/// The size of a block, in bytes, and the number of buffers of each reader.
const BLOCK: usize = 1 << 20;
const BUFFERS: usize = 5;

/// Reads logs from files side by side, as an ingest does, and cuts them into blocks, with which nothing is done. Returns
/// the number of bytes of all blocks.
///
/// # Errors
/// If a file can't be read, or is not a log.
pub fn read_and_cut(files: &[PathBuf], readers: usize) -> Result<u64> {
    let sources = Inputs::recognise(files, &SourceOptions::default())?.logs;
    let plan = ReadPlan {
        sources: Arc::new(Mutex::new(sources)),
        layout: LayoutOptions::default(),
        origin: None,
        earliest: None,
        given: None,
        injector: None,
        part: false,
        begin: None,
        samples: true,
        time_unit: None,
        max_span_ms: u64::MAX,
        block_size: BLOCK,
        look_ahead: 32 << 20,
        restart_window: None,
        limit: None,
    };
    let dates = DateParser::new(TimeZone::default());
    let parser = Parser::new(dates, Injectors::default(), Arc::default(), CpuJoin::default());
    let groups = plan.groups(readers, 1);
    if groups.len() < 2 {
        let mut cut = Cut::default();
        plan.run(parser, Arc::default(), &mut cut)?;
        return Ok(cut.bytes);
    }
    let lanes = Mutex::new(plan.lanes(parser, groups, readers)?.lanes.into_iter());
    let next = || lanes.lock().ok().and_then(|mut lanes| lanes.next());
    let read = || {
        let mut cut = Cut::default();
        while let Some(lane) = next() {
            plan.read_lane(lane, &Arc::default(), &mut cut)?;
        }
        Ok(cut.bytes)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..readers).map(|_| scope.spawn(read)).collect();
        let stopped = |_| Error::bug("reading the logs", "a thread stopped");
        threads.into_iter().map(|thread| thread.join().map_err(stopped)?).sum()
    })
}

/// Receives blocks and does nothing with them.
struct Cut {
    buffers: Turn,
    /// Nobody gets a buffer any more once it is dropped.
    _pool: Pool,
    bytes: u64,
}

impl Default for Cut {
    fn default() -> Self {
        let pool = Pool::new(BUFFERS);
        Self { buffers: pool.turn(), _pool: pool, bytes: 0 }
    }
}

impl LogFeed for Cut {
    type Buffers = Turn;

    fn start(&mut self, _clock: Clock) {}

    fn buffers(&mut self) -> &mut Turn {
        &mut self.buffers
    }

    fn begin_log(&mut self, _place: Place) -> bool {
        true
    }

    fn block(&mut self, block: Block, _layout: &Arc<Layout>, _file: Option<&Arc<str>>) -> bool {
        self.bytes += block.bytes.len() as u64;
        true
    }

    fn end_log(&mut self, _source: SourceFile) -> bool {
        true
    }

    fn damage(&mut self, _damage: Damage, _of_log: bool) -> bool {
        true
    }

    fn notes(&mut self, _notes: Vec<String>) -> bool {
        true
    }
}
