//! Lines that the workers convert: they become what they do where the reader converts them.

use super::tools::converted;
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::formats::tools::format::Format;
use crate::formats::tools::rows::form::Form;
use crate::formats::tools::rows::last_end;
use crate::formats::tools::rows::oracle::{messages, parsed};
use crate::run::reject_reason::RejectReason;

/// The clock of the logs: requests up to an hour from its origin are taken.
const CLOCK: Clock =
    Clock { origin: 1_795_347_889_514, head: Some(1_795_347_889_514), max_span_ms: 3_600_000 };

/// Checks any bytes as a log of a format whose lines the workers convert, given in pieces of this size.
pub(super) fn kept_lines(format: &Format, log: &[u8], size: usize) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::tools::FORMATS;

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
}
