//! k6's lines of JSON.

use std::borrow::Cow;

use serde::Deserialize;

use super::COLUMNS;
use super::request::{MetricLine, RequestAssembler};
use crate::formats::tools::csv::LogColumn;
use crate::formats::tools::decimal::moment;
use crate::formats::tools::format::{Format, TimeBase};
use crate::formats::tools::lines::{ConvertLine, LineByLine};
use crate::formats::tools::rejects::RejectCause;
use crate::formats::tools::rows::ConvertedRows;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "k6's JSON",
    tool: Some("k6"),
    finest: Resolution::MICROSECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: |head| {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
        line.starts_with(b"{")
            && has(b"\"data\":{")
            && (has(b"\"type\":\"Metric\"") || has(b"\"type\":\"Point\""))
    },
    note: |_| None,
    by_workers: false,
    converter: || Box::new(LineByLine::new(JsonMetrics::default())),
};

#[derive(Debug, Default)]
struct JsonMetrics {
    requests: RequestAssembler,
}

#[derive(Debug, Deserialize)]
struct JsonLine<'a> {
    #[serde(borrow)]
    metric: Cow<'a, str>,
    #[serde(borrow)]
    data: JsonPoint<'a>,
}

/// A value. A line that declares a metric has its declaration in that place.
#[derive(Debug, Deserialize)]
struct JsonPoint<'a> {
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(default)]
    value: f64,
    #[serde(borrow, default)]
    tags: Option<JsonTags<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct JsonTags<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    error_code: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

impl ConvertLine for JsonMetrics {
    fn line(&mut self, line: &[u8], rows: &mut ConvertedRows) {
        if line.is_empty() {
            return;
        }
        let Ok(JsonLine { metric, data }) = serde_json::from_slice::<JsonLine<'_>>(line) else {
            return rows.reject(RejectCause::Unknown, None, line);
        };
        let Some(time) = data.time else { return };
        let Some(end_ns) = moment(&time) else {
            return rows.reject(RejectCause::Time(LogColumn::TimeStamp), Some(time.as_bytes()), line);
        };
        let tags = data.tags.unwrap_or_default();
        let metric = MetricLine {
            name: metric.as_bytes(),
            end_ns,
            value: (data.value * 1e6).round() as i64,
            label: tags.name.as_bytes(),
            status: tags.status.as_bytes(),
            error: tags.error.as_bytes(),
            error_code: tags.error_code.as_bytes(),
            url: tags.url.as_bytes(),
        };
        self.requests.add(&metric, rows);
    }

    fn end(&mut self, rows: &mut ConvertedRows) {
        self.requests.end(rows);
    }
}
