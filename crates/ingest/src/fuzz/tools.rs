//! The logs of other load tools, of any bytes.

use super::kept_lines::kept_lines;
use crate::formats::tools::FORMATS;
use crate::formats::tools::format::{Format, NextBytes};
use crate::formats::tools::rows::form::Form;

/// Converts any bytes as a log of each format, whole and in pieces of the size that the first byte tells.
///
/// The pieces give the same records as the whole. Each is a request or a reject that is read as it was written; of JMeter's
/// own log also a line of as many fields as its layout has, or an empty one. Lines that the workers convert become what
/// they do here.
pub fn tools(data: &[u8]) {
    let (size, log) = data.split_first().map_or((1, data), |(size, log)| (usize::from(*size) + 1, log));
    for format in FORMATS {
        let whole = converted(format, log, log.len().max(1), false);
        assert!(whole == converted(format, log, size, false), "{} in pieces of {size}", format.name);
        match (whole, format.form()) {
            (Some(records), form @ Form::Packed(_)) => check_packed(form, &records),
            (Some(lines), _) => check(format, &lines),
            (None, _) => {}
        }
        if format.by_workers {
            kept_lines(format, log, size);
        }
    }
}

/// Returns the records of a log that is given in pieces, or `None` if it is refused. `keeps_lines` leaves them to the
/// workers where the format allows that.
pub(super) fn converted(format: &Format, log: &[u8], size: usize, keeps_lines: bool) -> Option<Vec<u8>> {
    let (mut convert, mut rows) = format.parts(format.finest);
    rows.keeps_lines = keeps_lines;
    let (mut given, mut taken) = (0, 0);
    while given < log.len() {
        given = (given + size).min(log.len());
        let follows = if given == log.len() { NextBytes::Nothing } else { NextBytes::More };
        let found = convert.convert(&log[taken..given], follows, &mut rows).ok()?;
        assert!(found <= given - taken && (follows == NextBytes::More || taken + found == given));
        taken += found;
    }
    Some(rows.bytes)
}

fn check_packed(form: Form, mut records: &[u8]) {
    while let Some((length, _)) = records.split_first_chunk() {
        let (record, rest) = records.split_at(u32::from_le_bytes(*length) as usize);
        assert!(form.original(record, 1).is_some());
        records = rest;
    }
    assert!(records.is_empty());
}

fn check(format: &Format, lines: &[u8]) {
    let width = format.layout(format.finest).width;
    let mut records = crate::formats::jtl::records::record::Records::new(lines, b',');
    while let Some(record) = records.next() {
        let is_told = crate::formats::tools::rejects::RejectedRecord::read(record.raw).is_some();
        assert!(!record.open && (record.is_blank() || is_told || record.len() == width));
    }
}
