//! Requests as the workers decode them, for tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::form::Form;
use crate::formats::date::{DateParser, TimeZone};
use crate::formats::injector::Injectors;
use crate::formats::jtl::blocks::Block;
use crate::formats::jtl::layout::Layout;
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::jtl::parser::Parser;
use crate::formats::tools::csv::LogColumn;
use crate::sample::pool::PooledBuffer;
use crate::sample::resolution::Resolution;
use crate::series::cpu::{CpuJoin, TimeSeries};

/// Parses the records of a log that was converted.
pub(crate) fn parsed(bytes: &[u8], columns: &'static [LogColumn], form: Form, clock: &Clock) -> Parsed {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let layout = Layout::of_converted("a log", &names, form, Resolution::MICROSECOND);
    let cpu = Arc::new(TimeSeries::new(vec![(1, 12.5), (3, 50.0)]));
    let join = CpuJoin { offset: 0, lookback: 0 };
    let mut parser = Parser::new(DateParser::new(TimeZone::default()), Injectors::default(), cpu, join);
    let mut buffer = PooledBuffer::default();
    *buffer = bytes.to_vec();
    let block = Block { bytes: buffer, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
    let mut parsed = Parsed::default();
    parser.parse_block(&block, Some("a.log"), &layout, clock, &mut parsed);
    parsed
}

/// The failures: their rows and messages.
pub(crate) fn messages(parsed: &Parsed) -> Vec<(u32, String)> {
    let message = |code| parsed.messages.value(code).unwrap().to_owned();
    parsed.failures.iter().map(|(row, code)| (*row, message(*code))).collect()
}
