//! The seconds of a run as metrics with the time of the test, for Prometheus and InfluxDB.

use std::io::Write;

use perfpipe_model::RunInfo;

use crate::error::Result;
use crate::format::one_line;
use crate::table::{Column, Interval, Table, Value};

/// Writes the seconds of runs as OpenMetrics text with timestamps, as `promtool tsdb create-blocks-from openmetrics`
/// reads it.
///
/// With each run comes its per-second table ([`crate::Timeline::table`]). Each of its columns of numbers is a gauge named
/// `perfpipe_` and the column's name, with `_ms` for times and `_percent` for percentages, and with the labels
/// `framework`, `test` and `repeat`. The timestamp is that of the second's begin. Absent values have no line. Values have
/// all digits. A table without the column `second`, as that of a summary ([`crate::Timeline::summary_table`]), gives values
/// without timestamps. Of one such run the label `repeat` is left out, so that its metrics have the same labels as those of
/// another build.
///
/// # Errors
/// If `out` can't be written.
///
/// Source of the format: "OpenMetrics, a cloud-native, highly scalable metrics protocol", version 1.0.0.
///
/// ```
/// use perfpipe_analyze::{interchange::open_metrics, table::Table};
/// use perfpipe_ingest::{RunInfo, RunKey};
///
/// let seconds = Table::of(&[(0_u64, 17_u64), (1, 23)])
///     .column("second", |row| Some(row.0))
///     .column("successes", |row| Some(row.1))
///     .done();
/// let info = RunInfo::new(RunKey::new("go", "2048"), 1_795_001_440_250, 1_795_001_442_000);
/// let mut text = Vec::new();
/// open_metrics(&[(info, seconds)], &mut text)?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// ## TYPE perfpipe_successes gauge
/// perfpipe_successes{framework=\"go\",test=\"2048\",repeat=\"1\"} 17 1795001440.250
/// perfpipe_successes{framework=\"go\",test=\"2048\",repeat=\"1\"} 23 1795001441.250
/// ## EOF
/// ");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn open_metrics(runs: &[(RunInfo, Table)], mut out: impl Write) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for name in runs.iter().flat_map(|(_, seconds)| metrics(seconds)).map(|(_, column)| name(column)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // The values of a metric follow each other, those of all runs.
    for metric in names {
        writeln!(out, "# TYPE perfpipe_{metric} gauge")?;
        for (info, seconds) in runs {
            if let Some((at, _)) = metrics(seconds).find(|(_, column)| name(column) == metric) {
                let labels = labels(info, runs.len() > 1 || is_by_second(seconds));
                write_metric(&format!("perfpipe_{metric}{labels}"), info, (seconds, at), &mut out)?;
            }
        }
    }
    writeln!(out, "# EOF")?;
    Ok(())
}

/// Returns the labels of a run's metrics.
fn labels(info: &RunInfo, names_repeat: bool) -> String {
    let key = &info.key;
    let repeat = if names_repeat { format!(",repeat=\"{}\"", key.repeat) } else { String::new() };
    format!("{{framework=\"{}\",test=\"{}\"{repeat}}}", quoted(&key.framework), quoted(&key.test))
}

/// Writes the values of one metric of a run, which are in a column of its table.
fn write_metric(
    name: &str,
    info: &RunInfo,
    (seconds, column): (&Table, usize),
    out: &mut impl Write,
) -> Result<()> {
    let is_by_second = is_by_second(seconds);
    for row in 0..seconds.len() {
        let Some(value) = number(&seconds.value(row, column)) else { continue };
        match start(info, seconds, row) {
            Some(ms) => writeln!(out, "{name} {value} {:.3}", ms as f64 / 1000.0)?,
            None if is_by_second => {}
            None => writeln!(out, "{name} {value}")?,
        }
    }
    Ok(())
}

/// Writes the seconds of a run as lines of InfluxDB's line protocol, with timestamps in nanoseconds.
///
/// `seconds` is the per-second table ([`crate::Timeline::table`]), or a piece of it. A line is of the measurement
/// `perfpipe`, with the tags `framework`, `test` and `repeat`. Its fields are the columns of numbers that have a value,
/// named as by [`open_metrics`], without `perfpipe_`; counts are integers (`17i`).
///
/// # Errors
/// If `out` can't be written.
///
/// ```
/// use perfpipe_analyze::{interchange::line_protocol, table::Table};
/// use perfpipe_ingest::{RunInfo, RunKey};
///
/// let seconds = Table::of(&[(0_u64, 17_u64, Some(4.5)), (1, 23, None)])
///     .column("second", |row| Some(row.0))
///     .column("successes", |row| Some(row.1))
///     .column("elapsed_mean", |row| row.2)
///     .unit("ms", 1)
///     .done();
/// let info = RunInfo::new(RunKey::new("go", "2 k"), 1_795_001_440_250, 1_795_001_442_000);
/// let mut text = Vec::new();
/// line_protocol(&info, &seconds, &mut text)?;
/// assert_eq!(String::from_utf8_lossy(&text), "\
/// perfpipe,framework=go,test=2\\ k,repeat=1 successes=17i,elapsed_mean_ms=4.5 1795001440250000000
/// perfpipe,framework=go,test=2\\ k,repeat=1 successes=23i 1795001441250000000
/// ");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn line_protocol(info: &RunInfo, seconds: &Table, mut out: impl Write) -> Result<()> {
    let key = &info.key;
    let series =
        format!("perfpipe,framework={},test={},repeat={}", tag(&key.framework), tag(&key.test), key.repeat);
    let columns: Vec<(usize, String)> = metrics(seconds).map(|(at, column)| (at, name(column))).collect();
    for row in 0..seconds.len() {
        let field = |(at, name): &(usize, String)| {
            let value = seconds.value(row, *at);
            let integer = if matches!(value, Value::F64(_)) { "" } else { "i" };
            Some(format!("{name}={}{integer}", number(&value)?))
        };
        let fields: Vec<String> = columns.iter().filter_map(field).collect();
        if let Some(ms) = start(info, seconds, row).filter(|_| !fields.is_empty()) {
            writeln!(out, "{series} {} {}", fields.join(","), ms.saturating_mul(1_000_000))?;
        }
    }
    Ok(())
}

/// Returns true for a table of seconds, and false for that of a summary.
fn is_by_second(table: &Table) -> bool {
    table.columns().iter().any(|column| column.name() == SECOND)
}

/// The column with the number of a second.
const SECOND: &str = "second";

/// Columns of numbers that are no figures, but say which run and which second the figures are of.
const KEYS: [&str; 3] = [SECOND, "repeat", "t0_ms"];

/// Iterates over the columns of measured numbers, with their places.
fn metrics(seconds: &Table) -> impl Iterator<Item = (usize, &Column)> {
    let is_measured = |column: &Column| column.is_number() && !KEYS.contains(&column.name());
    seconds.columns().iter().enumerate().filter(move |(_, column)| is_measured(column))
}

/// Returns the name of a column's metric, of letters, digits and `_` only.
fn name(column: &Column) -> String {
    let name = column.name().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let unit = match column.unit_name() {
        "ms" => "_ms",
        "%" => "_percent",
        _ => "",
    };
    if name.ends_with(unit) { name } else { name + unit }
}

/// Returns the begin of a row's second in ms since 1970.
fn start(info: &RunInfo, seconds: &Table, row: usize) -> Option<i64> {
    let at = seconds.columns().iter().position(|column| column.name() == SECOND)?;
    match seconds.value(row, at) {
        Value::U64(second) => {
            Some(info.t0_ms.saturating_add(i64::try_from(second).ok()?.saturating_mul(1000)))
        }
        _ => None,
    }
}

fn number(value: &Value<'_>) -> Option<String> {
    match value {
        Value::U64(number) | Value::Interval(Interval { low: number, .. }) => Some(number.to_string()),
        Value::I64(number) => Some(number.to_string()),
        Value::F64(number) => number.is_finite().then(|| number.to_string()),
        Value::Absent | Value::Text(_) | Value::Bool(_) | Value::Nested(_) => None,
    }
}

/// Escapes the value of a label of OpenMetrics.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Escapes the value of a tag of the line protocol, which has no way to write a line break or a backslash at the end.
fn tag(text: &str) -> String {
    let line = one_line(text);
    let mut tag = String::with_capacity(line.len());
    for letter in line.trim_end_matches('\\').chars() {
        if matches!(letter, ',' | '=' | ' ') {
            tag.push('\\');
        }
        tag.push(letter);
    }
    tag
}

#[cfg(test)]
mod tests {
    use perfpipe_model::RunKey;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> String {
        let mut text = Vec::new();
        write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn info(framework: &str) -> RunInfo {
        RunInfo::new(RunKey::new(framework, "a\"b"), -1, 3000)
    }

    fn seconds() -> Table {
        Table::of(&[(0_u64, Some(0.1_f64 + 0.2)), (2, None), (3, Some(f64::NAN)), (4, Some(7.0))])
            .column("second", |row| Some(row.0))
            .column("p99.9", |row| row.1)
            .unit("ms", 1)
            .column("cpu", |_| Some(50.0))
            .unit("%", 1)
            .column("within_200ms_percent", |_| None::<f64>)
            .unit("%", 1)
            .column("name", |_| Some("text".to_owned()))
            .done()
    }

    #[test]
    fn open_metrics_have_all_digits_and_no_line_for_what_is_absent() {
        let text = written(|out| open_metrics(&[(info("a\\\n"), seconds())], out));
        let labels = r#"{framework="a\\\n",test="a\"b",repeat="1"}"#;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "# TYPE perfpipe_p99_9_ms gauge");
        assert_eq!(lines[1], format!("perfpipe_p99_9_ms{labels} 0.30000000000000004 -0.001"));
        assert_eq!(lines[2], format!("perfpipe_p99_9_ms{labels} 7 3.999"));
        assert_eq!(lines[3], "# TYPE perfpipe_cpu_percent gauge");
        assert_eq!(lines[8], "# TYPE perfpipe_within_200ms_percent gauge");
        assert_eq!((lines[9], lines.len()), ("# EOF", 10));
    }

    #[test]
    fn summary_has_no_timestamps_and_no_keys() {
        let summary = Table::of(&[(2_u64, 7.5)])
            .column("repeat", |row| Some(row.0))
            .column("t0_ms", |row| Some(row.0))
            .column("throughput", |row| Some(row.1))
            .done();
        let text = written(|out| open_metrics(&[(info("go"), summary)], out));
        let expected = "# TYPE perfpipe_throughput gauge\n\
                        perfpipe_throughput{framework=\"go\",test=\"a\\\"b\"} 7.5\n# EOF\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn line_protocol_escapes_tags() {
        let text = written(|out| line_protocol(&info("a,b=c d\\"), &seconds(), out));
        let first = "perfpipe,framework=a\\,b\\=c\\ d,test=a\"b,repeat=1 \
                     p99_9_ms=0.30000000000000004,cpu_percent=50 -1000000";
        assert_eq!(text.lines().next(), Some(first));
        let (_, fields) = text.lines().nth(1).unwrap().split_once("repeat=1 ").unwrap();
        assert!(fields.starts_with("cpu_percent=50 "), "a value that is absent has no field: {fields}");
    }
}
