//! Recognises the columns of a CPU export by its first records.

use crate::formats::date::{DateParser, TimeZone};
use crate::formats::jtl::layout::Layout;
use crate::source::head::{delimiter_behind, first_line, header, records};

/// The columns of a CPU export.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CsvForm {
    pub(crate) delimiter: u8,
    pub(crate) has_header: bool,
    /// Column of the time.
    pub(crate) clock: usize,
    /// Column of the reading.
    pub(crate) value: usize,
    /// Column of Zabbix's item number.
    pub(crate) item: Option<usize>,
    /// Column of the nanoseconds within the second.
    pub(crate) ns: Option<usize>,
    /// Column of the label, if the export is a log of JMeter's PerfMon plugin. Its times are in milliseconds and its
    /// readings are multiplied by 1000.
    pub(crate) perfmon_label: Option<usize>,
}

/// The metrics of JMeter's PerfMon plugin, which follow the host's name in its labels.
const PERFMON_METRICS: [&str; 8] =
    ["CPU", "Memory", "Swap", "Disks I/O", "Network I/O", "TCP", "JMX", "EXEC"];

impl CsvForm {
    /// Recognises an export that begins with `text`: Zabbix's history (`clock,value` and more), Zabbix's web export
    /// (`Timestamp,Value`), or times and readings without a header.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        Self::by_header(text, "clock")
            .or_else(|| Self::by_header(text, "Timestamp"))
            .or_else(|| Self::headless(text))
    }

    /// Returns a description of the form, as it appears in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self { perfmon_label: Some(_), .. } => "a log of JMeter's PerfMon plugin",
            Self { has_header: false, .. } => "times and readings without a header",
            Self { item: Some(_), .. } => "Zabbix's history, with item numbers",
            _ => "columns of time and value, by a header",
        }
    }

    fn by_header(text: &[u8], clock: &str) -> Option<Self> {
        let (delimiter, names) = header(text, [clock, "value"])?;
        let column = |name: &str| names.iter().position(|column| column.eq_ignore_ascii_case(name));
        Some(Self {
            delimiter,
            has_header: true,
            clock: column(clock)?,
            value: column("value")?,
            item: column("itemid"),
            ns: column("ns"),
            perfmon_label: None,
        })
    }

    fn headless(text: &[u8]) -> Option<Self> {
        let delimiter = delimiter_behind(first_line(text), is_clock)?;
        let first = records(text, delimiter).next()?;
        let [clock, value] = first.as_slice() else { return None };
        let value = value.trim_end_matches('%').trim_end();
        (is_clock(clock) && value.parse::<f64>().is_ok()).then_some(Self {
            delimiter,
            has_header: false,
            clock: 0,
            value: 1,
            item: None,
            ns: None,
            perfmon_label: None,
        })
    }

    /// Recognises the log of a monitor such as JMeter's PerfMon plugin. Its columns are those of a log of requests. It
    /// differs by having neither threads nor response codes, nor URLs. Where it lacks these columns, all labels must consist
    /// of a host and one of the plugin's metrics.
    ///
    /// The CPU must be among the labels, unless `of_server` says that the text is a log of the server; otherwise the inner
    /// error is the first label.
    pub(crate) fn of_perfmon(text: &[u8], layout: &Layout, of_server: bool) -> Option<Result<Self, String>> {
        let columns = &layout.columns;
        let (label, has_header) = (columns.label?, layout.header.is_some());
        let empty = |record: &[String], column: Option<usize>| {
            column.and_then(|column| record.get(column)).is_none_or(String::is_empty)
        };
        let tells_requests = columns.thread_name.is_some() && columns.response_code.is_some();
        let mut cpu = of_server;
        let mut first = None;
        for record in records(text, layout.delimiter).skip(usize::from(has_header)) {
            let has_url =
                columns.url.and_then(|url| record.get(url)).is_some_and(|url| !matches!(&**url, "" | "null"));
            if has_url || !empty(&record, columns.thread_name) || !empty(&record, columns.response_code) {
                return None;
            }
            let name = record.get(label)?;
            let metric = perfmon_metric(name);
            if metric.is_none() && !tells_requests {
                return None;
            }
            cpu |= metric == Some("CPU");
            first.get_or_insert_with(|| name.clone());
        }
        let first = first?;
        if !cpu {
            return tells_requests.then_some(Err(first));
        }
        Some(Ok(Self {
            delimiter: layout.delimiter,
            has_header,
            clock: columns.time_stamp,
            value: columns.elapsed,
            item: None,
            ns: None,
            perfmon_label: Some(label),
        }))
    }
}

/// What a PerfMon label of the CPU says of its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CpuMetric {
    /// All of it.
    Use,
    /// What is left of it.
    Idle,
    /// A part of it, such as user, or what is none, such as iowait.
    Part,
}

impl CpuMetric {
    /// Returns the host in a label of the CPU, and what it says.
    pub(super) fn of(label: &str) -> Option<(&str, Self)> {
        perfmon_metric(label).filter(|metric| *metric == "CPU")?;
        let (host, metric) = label.split_once(' ')?;
        Some(match metric.strip_prefix("CPU")?.trim() {
            "" | "combined" => (host, Self::Use),
            "idle" => (host, Self::Idle),
            _ => (host, Self::Part),
        })
    }
}

/// Returns the metric in a PerfMon label such as `host CPU`, `host CPU user` or `host Memory`.
pub(crate) fn perfmon_metric(label: &str) -> Option<&'static str> {
    let (_, metric) = label.split_once(' ')?;
    PERFMON_METRICS
        .into_iter()
        .find(|known| metric.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Returns true if a field is a date or an epoch time, in seconds or a finer unit.
fn is_clock(field: &str) -> bool {
    let (whole, fraction) = field.split_once('.').unwrap_or((field, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let epoch = (9..=14).contains(&whole.len()) && digits(whole) && digits(fraction);
    epoch || DateParser::new(TimeZone::default()).parse(field.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use crate::formats::jtl::layout::LayoutOptions;

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        let form = CsvForm::of(b"\"ns\";\"Value\";\"Clock\";\"itemid\"\r\n1;2;3;4").unwrap();
        assert_eq!((form.delimiter, form.clock, form.value), (b';', 2, 1));
        assert_eq!((form.item, form.ns), (Some(3), Some(0)));
        let form = CsvForm::of(b"Timestamp\tValue\n2026-11-20 19:42:15\t5 %").unwrap();
        assert_eq!((form.delimiter, form.clock, form.value), (b'\t', 0, 1));
    }

    #[test]
    fn two_columns_of_times_and_readings_need_no_header() {
        for text in
            ["1795203848,0.99", "1795203848.5;1", "\"2026-11-20 19:42:15\",\"5 %\"", "1795203848000,1"]
        {
            assert!(CsvForm::of(text.as_bytes()).is_some_and(|form| !form.has_header), "{text}");
        }
        for text in ["1795203848,x", "1795203848", "12,5", "1795203848,1,2", "a,b", "1795203848,"] {
            assert_eq!(CsvForm::of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn perfmon_log_is_known_by_its_labels_and_empty_columns() {
        let is = |text: &str| {
            let options = LayoutOptions::default();
            let layout = Layout::detect(text.as_bytes(), &options, &Place::default()).unwrap();
            CsvForm::of_perfmon(text.as_bytes(), &layout, false).is_some_and(|form| form.is_ok())
        };
        let head = "timeStamp,elapsed,label,responseCode,threadName,success\n";
        assert!(is(&format!(
            "{head}1795203848000,42500,localhost CPU,,,true\n1795203848000,9,localhost Memory,,,true"
        )));
        assert!(is("timeStamp,elapsed,label,success\n1795203848000,42500,10.0.0.1 CPU user,true"));
        assert!(!is(&format!("{head}1795203848000,42500,localhost Memory,,,true")));
        assert!(!is(&format!("{head}1795203848000,42500,warm CPU,200,Group 1-1,true")));
        assert!(!is(&format!("{head}1795203848000,42500,localhost CPUs,,,true")));
        // Agents that can't be reached have the error for a label.
        assert!(is(&format!(
            "{head}1795203848000,42500,localhost CPU,,,true\n1795203848000,-1000,java.io.IOException: no,,,false"
        )));
        assert!(!is(head));
    }
}
