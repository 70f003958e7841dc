//! The stages of the pipeline one by one, for benchmarks. Not part of the API; may change at any time.

use std::sync::Arc;

use crate::counts::counter::Counter;
use crate::error::{Place, Result};
use crate::formats::date::{DateParser, TimeZone};
use crate::formats::injector::Injectors;
use crate::formats::jtl::layout::{Layout, LayoutOptions};
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::jtl::parser::Parser;
use crate::formats::jtl::record::Records;
use crate::formats::jtl::scan::Scanner;
use crate::pipeline::sink::BatchEncoder;
use crate::sample::batch::SampleBatch;
use crate::series::cpu::{CpuJoin, TimeSeries};
use crate::store::postgres::SampleEncoder;

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
        let mut scanner = Scanner::new(block, self.layout.delimiter);
        let mut found = 0;
        while scanner.next_stop(|_| found += 1).is_some() {
            found += 1;
        }
        found
    }

    /// Splits a block into records and fields. Returns the number of fields.
    pub fn split(&self, block: &[u8]) -> usize {
        let mut records = Records::new(block, self.layout.delimiter);
        let mut fields = 0;
        while let Some(record) = records.next() {
            fields += record.len();
        }
        fields
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
