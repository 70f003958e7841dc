//! The thread that follows one log: it cuts, parses and counts as the workers of an ingest do.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::live::Live;
use crate::counting::counter::Counter;
use crate::operations::options::IngestOptions;
use crate::pipeline::plan::open_log;
use crate::pipeline::survey::Survey;
use crate::source::LogReader;
use crate::source::file::unpack;
use crate::source::growing::{Following, GrowingLog};
use crate::source::unpack::codec::Container;
use perfpipe_formats::injector::Injectors;
use perfpipe_formats::jtl::blocks::{Block, Cutter};
use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
use perfpipe_formats::jtl::parsed::Parsed;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::explain;
use perfpipe_model::sample::pool::NewBuffers;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// The number of rejects of a block that are kept; of others only the number matters here.
const REJECTS: u64 = 1;

/// How a log is read.
pub(super) struct LogReading {
    /// Its number among the logs of the run.
    number: usize,
    /// The name of its injector, if the run has several logs.
    injector: Option<String>,
    parser: Parser,
    layout: LayoutOptions,
    /// The origin that was given, epoch ms.
    origin: Option<i64>,
    max_span_ms: u64,
    block_size: usize,
}

impl LogReading {
    /// Prepares to read one of these logs.
    ///
    /// # Errors
    /// If the pattern of injectors is no regular expression.
    pub(super) fn new(number: usize, logs: &[Arc<GrowingLog>], options: &IngestOptions) -> Result<Self> {
        let dates = options.source.dates();
        let injectors = Injectors::new(options.injector_pattern.as_deref())?;
        let parser = Parser::new(dates, injectors, Arc::new(TimeSeries::default()), CpuJoin::default());
        Ok(Self {
            number,
            injector: injector(number, logs).or_else(|| options.injector.clone()),
            parser: parser.in_unit(options.source.time_unit.unwrap_or_default()).only(options.only.clone()),
            layout: options.source.layout.clone(),
            origin: options.origin,
            max_span_ms: options.max_span_ms,
            block_size: options.sizes.block_size,
        })
    }
}

/// The name of a log's injector: its file name, with its folders if another log has the same one.
fn injector(number: usize, logs: &[Arc<GrowingLog>]) -> Option<String> {
    let short = |log: &GrowingLog| log.path().file_name().unwrap_or(log.path().as_os_str()).to_owned();
    let own = logs.get(number).filter(|_| logs.len() > 1)?;
    let shared = logs.iter().filter(|other| short(other) == short(own)).count() > 1;
    let name = if shared { own.path().as_os_str().to_owned() } else { short(own) };
    Some(name.to_string_lossy().into_owned())
}

/// Follows a log to its end, as often as everything is counted again.
pub(super) fn follow(mut reading: LogReading, live: &Live, log: &Arc<GrowingLog>) {
    loop {
        let pass = live.control.pass.load(Ordering::Acquire);
        if let Err(error) = reading.pass(pass, live, log) {
            live.fail(error);
            break;
        }
        if live.control.pass.load(Ordering::Acquire) == pass {
            break;
        }
    }
    live.ended(reading.number);
}

impl LogReading {
    /// Reads a log from its begin to its end, or until everything is counted again.
    fn pass(&mut self, pass: u64, live: &Live, log: &Arc<GrowingLog>) -> Result<()> {
        let mut following = Following::new(Arc::clone(log), Arc::clone(&live.control), pass);
        let place = Place::file(log.path());
        if !following.begins().map_err(|e| explain(place.clone(), e))? {
            return Ok(());
        }
        let text = unpack(Container::Plain, following, false).map_err(|e| explain(place.clone(), e))?;
        let mut damage = Vec::new();
        let reader = LogReader::new(place, Vec::new(), Box::new(text), &mut damage).growing();
        let opened = open_log(reader, &self.layout, self.origin, self.block_size);
        let (layout, mut cutter) = match opened {
            // It was stopped before there was enough to recognise. What is wrong is reported when it is stored.
            Err(_) if live.stops() => return Ok(()),
            opened => opened?,
        };
        let (mut parsed, mut counter) = (Parsed::default(), Counter::default());
        while live.is_in(pass) {
            match cutter.next(&mut NewBuffers) {
                Ok(Some(block)) => self.block(&block, &layout, pass, live, (&mut parsed, &mut counter))?,
                Ok(None) => break,
                Err(error) => return Err(reader_of(cutter).explain(error)),
            }
        }
        Ok(())
    }

    /// Parses and counts a block.
    fn block(
        &mut self,
        block: &Block,
        layout: &Layout,
        pass: u64,
        live: &Live,
        (parsed, counter): (&mut Parsed, &mut Counter),
    ) -> Result<()> {
        if block.oversized.is_some() {
            live.reject(pass, 1);
            return Ok(());
        }
        let Some(clock) = live.clock(pass, || {
            let mut survey = Survey::new(self.parser.clone(), self.max_span_ms, self.origin);
            let found = survey.add(block, layout).first_ms.is_some();
            found.then(|| survey.clock(self.origin))
        }) else {
            self.parse_rejects(block, layout, parsed);
            live.reject(pass, rejects(parsed));
            return Ok(());
        };
        parsed.rejects.restart(Some(REJECTS));
        self.parser.parse_block(block, self.injector.as_deref(), layout, &clock, parsed);
        live.reject(pass, rejects(parsed));
        if self.origin.is_none()
            && let Some(earliest) = parsed.earliest_ms.filter(|earliest| *earliest < clock.origin)
        {
            live.recount(pass, earliest);
            return Ok(());
        }
        let tally = counter.tally(parsed, &clock);
        live.add(pass, self.number, parsed, &tally)
    }

    /// Parses a block in which no record is acceptable.
    fn parse_rejects(&mut self, block: &Block, layout: &Layout, parsed: &mut Parsed) {
        let mut survey = Survey::new(self.parser.clone(), self.max_span_ms, self.origin);
        let found = survey.add(block, layout).rejects.clone();
        parsed.rejects = found;
    }
}

fn reader_of(cutter: Cutter<LogReader<'_>>) -> LogReader<'_> {
    cutter.into_reader()
}

/// The number of rejects of a block.
fn rejects(parsed: &Parsed) -> u64 {
    parsed.rejects.kept() + parsed.rejects.left_out()
}
