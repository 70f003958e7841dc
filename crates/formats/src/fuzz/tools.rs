//! The logs of other load tools, the lines kept of them, and summaries, of any bytes.

use crate::jtl::parsed::{Clock, Parsed};
use crate::summaries::keys::{PointNames, named_points};
use crate::summaries::sections;
use crate::summaries::tools::ab::AbFile;
use crate::summaries::walk::FoundSection;
use crate::tools::FORMATS;
use crate::tools::format::Format;
use crate::tools::format::NextBytes;
use crate::tools::rows::form::Form;
use crate::tools::rows::last_end;
use crate::tools::rows::oracle::{messages, parsed};
use perfpipe_model::points::Figures;
use perfpipe_model::run::reject_reason::RejectReason;

/// Converts any bytes as a log of each format, whole and in pieces of the size that the first byte gives.
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
fn converted(format: &Format, log: &[u8], size: usize, keeps_lines: bool) -> Option<Vec<u8>> {
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
    let mut records = crate::jtl::records::record::Records::new(lines, b',');
    while let Some(record) = records.next_record() {
        let is_reject = crate::tools::rejects::RejectedRecord::read(record.raw).is_some();
        assert!(!record.open && (record.is_blank() || is_reject || record.width() == width));
    }
}

/// The clock of the logs: requests up to an hour from its origin are accepted.
const CLOCK: Clock =
    Clock { origin: 1_795_347_889_514, head: Some(1_795_347_889_514), max_span_ms: 3_600_000 };

/// Checks any bytes as a log of a format whose lines the workers convert, given in pieces of this size.
fn kept_lines(format: &Format, log: &[u8], size: usize) {
    let of = |keeps_lines| {
        let bytes = converted(format, log, size, keeps_lines)?;
        Some((parsed(&bytes, format.columns, Form::Packed(format.columns), &CLOCK), bytes))
    };
    let (Some((found, packed)), Some((expected, plain))) = (of(true), of(false)) else {
        panic!("lines are never refused");
    };
    assert_eq!(last_end(&packed), (!packed.is_empty()).then_some(packed.len()));
    assert_eq!(rejects(&found, &packed), rejects(&expected, &plain));
    assert_eq!(messages(&found), messages(&expected));
    let times = |parsed: &Parsed| (parsed.first_ms, parsed.earliest_ms, parsed.latest_ms, parsed.ends);
    assert_eq!(times(&found), times(&expected));
    assert_eq!(found.batch, expected.batch);
    // Blank lines at the end have no record.
    assert!(found.lines >= expected.lines);
}

/// The line, what is wrong, and the line and byte of the original. Its text is reported where the line itself is at fault.
type KeptReject = (u64, RejectReason, Option<String>, (u64, u64), Option<Vec<u8>>);

fn rejects(parsed: &Parsed, bytes: &[u8]) -> Vec<KeptReject> {
    let rejects = parsed.rejects.iter(bytes);
    let reported = rejects.map(|reject| {
        let original = parsed.form.original(reject.record, reject.line + 1).unwrap();
        let is_of_line = !matches!(reject.reason, RejectReason::FarTime { .. })
            && reject.value.as_ref().is_none_or(|value| value.parse::<i64>().is_err());
        let record = is_of_line.then_some(original.record);
        (reject.line, reject.reason, reject.value, (original.line, original.byte), record)
    });
    reported.collect()
}

/// Reads any bytes as outputs of load tools. Each section has figures or a reason why it has none, no figure is negative
/// or without end, and sections get different keys.
pub fn summaries(data: &[u8]) {
    let found = sections(data);
    // Where there are no line feeds, lines end in carriage returns.
    let lines = data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    assert!(found.ignored <= lines && found.first_ignored.is_some() == (found.ignored > 0));
    for section in &found.sections {
        assert!((1..=lines).contains(&section.line), "{section:?}");
        check_section(section);
    }
    let names = PointNames { framework: Some("f".into()), test: Some("t".into()), ..PointNames::default() };
    let points = named_points(&[("f".to_owned(), found.sections.clone())], &names).unwrap();
    assert_eq!(points.len(), found.sections.len());
    for point in &points {
        let text = serde_json::to_string(point).unwrap();
        assert_eq!(serde_json::from_str::<perfpipe_model::points::Point>(&text).unwrap(), *point);
    }
    if let Some(kind) = AbFile::of(data) {
        let _ = kind.refine(&mut &*data, &mut Figures::default()).unwrap();
    }
}

fn check_section(section: &FoundSection) {
    let figures = &section.figures;
    assert!(
        figures.aborted.is_some() || figures.requests.is_some(),
        "neither figures nor a reason: {section:?}"
    );
    let latencies = &figures.latencies;
    let numbers = [
        figures.duration,
        figures.throughput(),
        figures.little_ms(),
        figures.answers_per_second,
        figures.bytes_per_second,
        latencies.mean_ms,
        latencies.max_ms,
    ];
    let percentiles = latencies.percentiles.iter().map(|percentile| percentile.ms);
    assert!(
        numbers.into_iter().flatten().chain(percentiles).all(|number| number.is_finite() && number >= 0.0),
        "{section:?}"
    );
    assert!(figures.failures.is_none_or(|failures| failures.least <= failures.greatest));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::summaries::fixtures::{FORMS, path};
    use crate::tools::FORMATS;

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            20 => "179534788951[0-9]{4}\t(200|404|503|-1)\t[0-9]{1,7}",
            2 => "1795347889514196\t200\t[0-9]{9,11}",
            1 => "[0-9]{1,20}\t(200|x)\t[0-9]{1,5}(\t7)?",
            1 => "[0-9x\t]{0,9}",
            1 => Just("x".repeat(20_000)),
        ];
        prop::collection::vec((line, prop_oneof![9 => Just("\n"), 1 => Just("\r\n")]), 0..300)
            .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
    }

    proptest! {
        #[test]
        fn kept_lines_are_taken_as_converted_ones(lines in lines(), size in 1usize..40_000, is_cut: bool) {
            let mut log = lines.concat().into_bytes();
            if is_cut {
                log.pop();
            }
            let h2load = FORMATS.iter().find(|format| format.by_workers).unwrap();
            kept_lines(h2load, &log, size);
        }
    }

    proptest! {
        #[test]
        fn cut_and_changed_outputs_do_no_harm(
            which in 0..FORMS.len(), at in any::<[prop::sample::Index; 3]>(), byte in any::<u8>(),
        ) {
            let mut bytes = std::fs::read(path(FORMS[which])).unwrap();
            summaries(&bytes[..at[0].index(bytes.len())]);
            summaries(&bytes[at[1].index(bytes.len())..]);
            let place = at[2].index(bytes.len());
            bytes[place] = byte;
            summaries(&bytes);
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            summaries(&bytes);
        }
    }
}
