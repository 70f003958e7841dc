//! Tests that lines which the workers convert become what they do where the reader converts them.

use proptest::prelude::*;

use super::form::Form;
use super::oracle::parsed;
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::tools::convert::Follows;
use crate::formats::tools::h2load::FORMAT;
use crate::formats::tools::rows::last_end;
use crate::run::reject_reason::RejectReason;

/// Converts a log that is given in pieces of this size.
fn converted(log: &[u8], size: usize, keeps_lines: bool) -> Vec<u8> {
    let (mut convert, mut rows) = FORMAT.parts(FORMAT.finest);
    rows.keeps_lines = keeps_lines;
    let (mut given, mut taken) = (0, 0);
    while given < log.len() {
        given = (given + size).min(log.len());
        let follows = if given == log.len() { Follows::Nothing } else { Follows::More };
        taken += convert.convert(&log[taken..given], follows, &mut rows).unwrap();
    }
    rows.bytes
}

/// The line, what is wrong, and the line and byte of the original. Its text is told where the line itself is at fault.
type Reject = (u64, RejectReason, Option<String>, (u64, u64), Option<Vec<u8>>);

fn rejects(parsed: &Parsed, bytes: &[u8]) -> Vec<Reject> {
    let rejects = parsed.rejects.iter(bytes);
    let told = rejects.map(|reject| {
        let original = parsed.form.original(reject.record, reject.line + 1).unwrap();
        let is_of_line = !matches!(reject.reason, RejectReason::FarTime { .. })
            && reject.value.as_ref().is_none_or(|value| value.parse::<i64>().is_err());
        let record = is_of_line.then_some(original.record);
        (reject.line, reject.reason, reject.value, (original.line, original.byte), record)
    });
    told.collect()
}

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
        let clock = Clock { origin: 1_795_347_889_514, head: Some(1_795_347_889_514), max_span_ms: 3_600_000 };
        let of = |keeps_lines| {
            let bytes = converted(&log, size, keeps_lines);
            (parsed(&bytes, FORMAT.columns, Form::Packed(FORMAT.columns), &clock), bytes)
        };
        let ((found, packed), (expected, plain)) = (of(true), of(false));
        prop_assert_eq!(last_end(&packed), (!packed.is_empty()).then_some(packed.len()));
        prop_assert_eq!(rejects(&found, &packed), rejects(&expected, &plain));
        let messages = |parsed: &Parsed| -> Vec<(u32, String)> {
            let message = |code| parsed.messages.value(code).unwrap().to_owned();
            parsed.failures.iter().map(|(row, code)| (*row, message(*code))).collect()
        };
        prop_assert_eq!(messages(&found), messages(&expected));
        let times = |parsed: &Parsed| (parsed.first_ms, parsed.earliest_ms, parsed.latest_ms, parsed.ends);
        prop_assert_eq!(times(&found), times(&expected));
        prop_assert_eq!(&found.batch, &expected.batch);
        // Blank lines at the end have no record.
        prop_assert!(found.lines >= expected.lines);
    }
}
