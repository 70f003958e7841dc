//! The forms of CPU exports, their columns, and the logs of JMeter's PerfMon plugin that are one.

use super::monitor::Monitor;
use crate::source::head::records;
use perfpipe_formats::date::DateParser;
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_model::run::time_zone::TimeZone;

/// The columns of a CPU export.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CsvForm {
    pub(crate) delimiter: u8,
    /// The fields of the header, or of the first reading if there is none. What is before is no reading.
    pub(crate) first: Vec<String>,
    pub(crate) has_header: bool,
    /// Column of the time.
    pub(crate) clock: usize,
    /// Columns whose sum is the reading.
    pub(crate) values: Vec<ValueColumn>,
    /// Column of Zabbix's item number.
    pub(crate) item: Option<usize>,
    /// Columns that name the series of a reading.
    pub(crate) labels: Vec<usize>,
    /// Column of the nanoseconds within the second.
    pub(crate) ns: Option<usize>,
    /// Column of the label, if the export is a log of JMeter's PerfMon plugin. Its readings are multiplied by 1000.
    pub(crate) perfmon_label: Option<usize>,
}

/// The column of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueColumn {
    pub(crate) column: usize,
    /// True if it is what is left of 100 %.
    pub(crate) is_idle: bool,
}

/// The metrics of JMeter's PerfMon plugin, which follow the host's name in its labels.
const PERFMON_METRICS: [&str; 8] =
    ["CPU", "Memory", "Swap", "Disks I/O", "Network I/O", "TCP", "JMX", "EXEC"];

impl CsvForm {
    /// Returns a description of the form, as it appears in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self { perfmon_label: Some(_), .. } => "a log of JMeter's PerfMon plugin",
            Self { has_header: false, .. } => "times and readings without a header",
            Self { item: Some(_), .. } => "Zabbix's history, with item numbers",
            _ => "columns of time and value, by a header",
        }
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
            first: records(text, layout.delimiter).next()?,
            has_header,
            clock: columns.time_stamp,
            values: vec![ValueColumn { column: columns.elapsed, is_idle: false }],
            item: None,
            labels: Vec::new(),
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
fn perfmon_metric(label: &str) -> Option<&'static str> {
    let (_, metric) = label.split_once(' ')?;
    PERFMON_METRICS
        .into_iter()
        .find(|known| metric.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Returns true if a field is a date or an epoch time, in seconds or a finer unit.
pub(super) fn is_clock(field: &str) -> bool {
    let (whole, fraction) = field.split_once('.').unwrap_or((field, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let epoch = (9..=19).contains(&whole.len()) && digits(whole) && digits(fraction);
    epoch || DateParser::new(TimeZone::default()).parse(field.as_bytes()).is_some()
}

/// The form of a CPU export.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CpuForm {
    /// Columns.
    Csv(CsvForm),
    /// What a monitoring tool answered or printed.
    Monitor(Monitor),
}

impl CpuForm {
    /// Returns a description of the form, as it appears in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Csv(form) => form.name(),
            Self::Monitor(monitor) => monitor.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_formats::jtl::layout::LayoutOptions;
    use perfpipe_model::error::Place;

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
