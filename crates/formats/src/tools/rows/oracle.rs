//! Tests that packed requests are decoded like the same requests in lines of CSV, and what other tests need of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::form::Form;
use crate::date::DateParser;
use crate::injector::Injectors;
use crate::jtl::blocks::Block;
use crate::jtl::layout::Layout;
use crate::jtl::parsed::{Clock, Parsed};
use crate::jtl::parser::Parser;
use crate::tools::fields::LogColumn;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::pool::PooledBuffer;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// Parses the records of a log that was converted.
pub fn parsed(bytes: &[u8], columns: &'static [LogColumn], form: Form, clock: &Clock) -> Parsed {
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
pub fn messages(parsed: &Parsed) -> Vec<(u32, String)> {
    let message = |code| parsed.messages.value(code).unwrap().to_owned();
    parsed.failures.iter().map(|(row, code)| (*row, message(*code))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::rejects::RejectCause;
    use crate::tools::rows::frame::{FrameContent, PackedFrame};
    use crate::tools::rows::{ConvertedRows, RequestRow, last_end};
    use perfpipe_model::run::reject_reason::RejectReason;

    const FEW: &[LogColumn] =
        &[LogColumn::TimeStamp, LogColumn::Elapsed, LogColumn::ResponseCode, LogColumn::Success];

    const MANY: &[LogColumn] = &[
        LogColumn::TimeStamp,
        LogColumn::Elapsed,
        LogColumn::Label,
        LogColumn::ResponseCode,
        LogColumn::ResponseMessage,
        LogColumn::Success,
        LogColumn::FailureMessage,
        LogColumn::AllThreads,
        LogColumn::Bytes,
        LogColumn::SentBytes,
        LogColumn::Latency,
        LogColumn::Connect,
    ];

    const WITH_URL: &[LogColumn] =
        &[LogColumn::Url, LogColumn::Success, LogColumn::Elapsed, LogColumn::TimeStamp];

    /// A line of a log: a request by its numbers and texts, a reject, or nothing.
    #[derive(Debug, Clone)]
    enum TestLine {
        Request { start_ms: i64, numbers: [Option<i64>; 6], texts: [String; 4], flags: [bool; 2] },
        Reject(String),
        Nothing,
    }

    fn line() -> impl Strategy<Value = TestLine> {
        let number = prop_oneof![5 => Just(None), 20 => (0..3000i64).prop_map(Some), 1 => any::<i32>().prop_map(|n| Some(n.into())),
        1 => Just(Some(1 << 40)), 1 => Just(Some(i64::from(i32::MAX) + 1))];
        let text = prop_oneof![5 => Just(String::new()), 9 => "[ab]{1,2}", 2 => "[a\",é]{0,4}", 1 => Just("x".repeat(5000))];
        let start_ms = prop_oneof![50 => 0..5000i64, 1 => any::<i32>().prop_map(i64::from)];
        let request =
            (start_ms, prop::array::uniform6(number), prop::array::uniform4(text), any::<[bool; 2]>());
        prop_oneof![
            40 => request.prop_map(|(start_ms, numbers, texts, flags)| TestLine::Request { start_ms, numbers, texts, flags }),
            1 => "[a,\"]{0,5}".prop_map(TestLine::Reject),
            1 => Just(TestLine::Nothing),
        ]
    }

    /// Packs a log of a format with these columns.
    fn write(lines: &[TestLine], columns: &[LogColumn]) -> Vec<u8> {
        let has = |column| columns.contains(&column);
        let number = |number: Option<i64>, column| number.filter(|_| has(column));
        let text = |text, column| if has(column) { str::as_bytes(text) } else { b"" };
        let ns = |number: i64| number.saturating_mul(1000);
        let mut rows = ConvertedRows::new(Resolution::MICROSECOND);
        for line in lines {
            match line {
                TestLine::Request { start_ms, numbers, texts: [label, code, message, url], flags } => {
                    let [elapsed, latency, connect, threads, bytes, sent_bytes] = *numbers;
                    rows.push(&RequestRow {
                        start_ms: *start_ms,
                        beyond_ns: 0,
                        elapsed_ns: ns(elapsed.unwrap_or(7)),
                        latency_ns: number(latency, LogColumn::Latency).map(ns),
                        connect_ns: number(connect, LogColumn::Connect).map(ns),
                        label: text(label, LogColumn::Label),
                        response_code: text(code, LogColumn::ResponseCode),
                        success: flags[0],
                        failure_message: text(message, LogColumn::FailureMessage),
                        threads: number(threads, LogColumn::AllThreads),
                        bytes: number(bytes, LogColumn::Bytes),
                        sent_bytes: number(sent_bytes, LogColumn::SentBytes),
                        url: text(url, LogColumn::Url),
                        // In lines of CSV a transaction is known by its message.
                        is_transaction: flags[1] && has(LogColumn::ResponseMessage),
                        histogram: None,
                    });
                }
                TestLine::Reject(record) => rows.reject(RejectCause::Unknown, Some(b"v"), record.as_bytes()),
                TestLine::Nothing => {}
            }
            rows.place = (rows.place.0 + 1, rows.place.1 + 10);
        }
        rows.bytes
    }

    /// The same as lines of CSV.
    fn as_lines(packed: &[u8], columns: &[LogColumn]) -> Vec<u8> {
        let (mut lines, mut rest) = (Vec::new(), packed);
        while let Some(frame) = PackedFrame::read(rest) {
            lines.extend(b"\n".repeat(frame.skipped as usize));
            match frame.content {
                // Its position in the log is compared for packed requests alone.
                FrameContent::Request(request) => {
                    lines.extend([&request.line(columns)[..], b",0:0"].concat())
                }
                FrameContent::Reject(rejects) => lines.extend_from_slice(rejects),
                FrameContent::Lines(_) => unreachable!("nothing wrote lines"),
            }
            lines.push(b'\n');
            rest = &rest[frame.length..];
        }
        lines
    }

    /// The rejects without their bytes.
    fn rejects(parsed: &Parsed, bytes: &[u8]) -> Vec<(u64, RejectReason, Option<String>, Vec<u8>)> {
        let rejects = parsed.rejects.iter(bytes);
        let rejects = rejects.map(|reject| {
            let original = parsed.form.original(reject.record, reject.line);
            let record = original.map_or_else(|| reject.record.to_vec(), |original| original.record);
            (reject.line, reject.reason, reject.value, record)
        });
        rejects.collect()
    }

    proptest! {
        #[test]
        fn packed_requests_are_taken_as_lines_of_csv_are(
            lines in prop::collection::vec(line(), 0..200),
            columns in prop::sample::select(vec![FEW, MANY, WITH_URL]),
            head in prop::option::of(Just(0)),
        ) {
            let clock = Clock { origin: -7, head, max_span_ms: 10_000 };
            let packed = write(&lines, columns);
            let text = as_lines(&packed, columns);
            let mut found = parsed(&packed, columns, Form::Packed(columns), &clock);
            let mut expected = parsed(&text, columns, Form::Lines, &clock);
            prop_assert_eq!(rejects(&found, &packed), rejects(&expected, &text));
            prop_assert_eq!(messages(&found), messages(&expected));
            prop_assert_eq!((found.cut_samples(), found.lines), (expected.cut_samples(), expected.lines));
            prop_assert_eq!(&found.cut, &expected.cut);
            let times = |parsed: &Parsed| (parsed.first_ms, parsed.earliest_ms, parsed.latest_ms, parsed.ends);
            prop_assert_eq!(times(&found), times(&expected));
            prop_assert_eq!(&found.endpoints, &expected.endpoints);
            prop_assert_eq!(&found.batch, &expected.batch);
            prop_assert_eq!(last_end(&packed), (!packed.is_empty()).then_some(packed.len()));
        }

        #[test]
        fn no_bytes_are_more_than_no_requests(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let clock = Clock { origin: 0, head: None, max_span_ms: 0 };
            parsed(&bytes, MANY, Form::Packed(MANY), &clock);
            prop_assert!(last_end(&bytes).is_none_or(|end| end <= bytes.len()));
        }
    }

    #[test]
    fn a_refused_request_is_told_with_its_place_in_the_log() {
        let number = [Some(1 << 40), None, None, None, None, None];
        let request =
            TestLine::Request { start_ms: 5, numbers: number, texts: Default::default(), flags: [true; 2] };
        let packed = write(&[TestLine::Nothing, TestLine::Nothing, request], FEW);
        let parsed =
            parsed(&packed, FEW, Form::Packed(FEW), &Clock { origin: 0, head: None, max_span_ms: 0 });
        let reject = parsed.rejects.iter(&packed).next().unwrap();
        assert_eq!((reject.line, reject.value.as_deref()), (2, Some("1099511627776")));
        let original = parsed.form.original(reject.record, 3).unwrap();
        assert_eq!((original.byte, original.record), (20, b"5,1099511627776,,true".to_vec()));
    }
}
