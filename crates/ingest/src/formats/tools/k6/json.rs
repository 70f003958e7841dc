//! k6's lines of JSON.

use std::borrow::Cow;

use serde::Deserialize;

use super::COLUMNS;
use super::request::{Metric, Requests};
use crate::formats::tools::csv::Column;
use crate::formats::tools::decimal::moment;
use crate::formats::tools::format::{Clock, Format};
use crate::formats::tools::lines::{ConvertLine, LineByLine};
use crate::formats::tools::rows::Rows;
use crate::formats::tools::told::Wrong;
use crate::sample::resolution::Resolution;

/// The log.
pub(in crate::formats::tools) const FORMAT: Format = Format {
    name: "k6's JSON",
    tool: Some("k6"),
    finest: Resolution::MICROSECOND,
    clock: |_| Clock::Epoch,
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
    converter: || Box::new(LineByLine::new(Json::default())),
};

#[derive(Debug, Default)]
struct Json {
    requests: Requests,
}

#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    metric: Cow<'a, str>,
    #[serde(borrow)]
    data: Point<'a>,
}

/// A value, whose place a line that declares a metric has for its declaration.
#[derive(Debug, Deserialize)]
struct Point<'a> {
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(default)]
    value: f64,
    #[serde(borrow, default)]
    tags: Option<Tags<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Tags<'a> {
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

impl ConvertLine for Json {
    fn line(&mut self, line: &[u8], rows: &mut Rows) {
        if line.is_empty() {
            return;
        }
        let Ok(Line { metric, data }) = serde_json::from_slice::<Line<'_>>(line) else {
            return rows.reject(Wrong::Unknown, None, line);
        };
        let Some(time) = data.time else { return };
        let Some(end_ns) = moment(&time) else {
            return rows.reject(Wrong::Time(Column::TimeStamp), Some(time.as_bytes()), line);
        };
        let tags = data.tags.unwrap_or_default();
        let metric = Metric {
            name: metric.as_bytes(),
            end_ns,
            value: (data.value * 1e6).round() as i64,
            label: tags.name.as_bytes(),
            status: tags.status.as_bytes(),
            error: tags.error.as_bytes(),
            error_code: tags.error_code.as_bytes(),
            url: tags.url.as_bytes(),
        };
        self.requests.take(&metric, rows);
    }

    fn end(&mut self, rows: &mut Rows) {
        self.requests.end(rows);
    }
}
