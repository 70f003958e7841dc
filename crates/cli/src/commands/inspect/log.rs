//! Description of a log.

use perfpipe_analyze::format::thousands;
use perfpipe_ingest::inspection::{InjectorsBy, LogInspection, TimeForm};
use perfpipe_ingest::source::Place;

use super::text::{TextRows, names};

pub(super) fn rows(log: &LogInspection, rows: &mut TextRows) {
    rows.title(&place(&log.file, log.member.as_deref()).to_string());
    rows.row("packing", &packing(log));
    rows.row("sample", &sample(log));
    if log.columns.is_empty() {
        return;
    }
    match &log.format {
        Some(format) => rows.row("format", format),
        None => rows.row("columns", &columns(log)),
    }
    rows.list(
        "missing",
        log.missing_columns.iter().map(|column| format!("{}: {}", column.name, column.lost)),
    );
    if !log.ignored_columns.is_empty() {
        rows.row("not kept", &names(log.ignored_columns.iter().map(String::as_str)));
    }
    if log.repeated_headers > 0 {
        let line = log.first_repeated_header.unwrap_or_default();
        let times = thousands(log.repeated_headers);
        rows.row(
            "headers",
            &format!("the header is repeated, times: {times}, first on line {}: skipped", thousands(line)),
        );
    }
    rows.list("timeStamp", log.time_stamp.iter().map(time_stamp));
    if let Some((earliest, latest)) = log.earliest_ms.zip(log.latest_ms) {
        rows.row("from", &format!("{}{}", moment(earliest), late(log, earliest)));
        rows.row("to", &to(log, earliest, latest));
    }
    rows.row("injectors", injectors(log.injectors_by));
}

fn columns(log: &LogInspection) -> String {
    let by = if log.header { "by a header" } else { "no header: as given, or JMeter's default ones" };
    format!("{}, {by}; delimiter {}", log.columns.len(), delimiter(log.delimiter))
}

/// Returns the place of a text: a file, or a member of one.
pub(super) fn place(file: &str, member: Option<&str>) -> Place {
    let place = Place::file(file);
    match member {
        Some(member) => place.member(member),
        None => place,
    }
}

fn packing(log: &LogInspection) -> String {
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| format!("{} bytes", thousands(bytes)));
    let (packed, unpacked) = (bytes(log.packed_bytes), bytes(log.unpacked_bytes));
    if log.pipe {
        let all = if log.whole { unpacked } else { None };
        let all = all.map_or_else(|| "its size is not known".to_owned(), |all| format!("{all} unpacked"));
        return format!("{}, from a pipe: {all}; the part that was read is consumed", log.packing);
    }
    let Some(packed) = packed else { return log.packing.clone() };
    match unpacked {
        Some(_) if log.packing == "plain" => format!("plain: {packed}"),
        Some(unpacked) => {
            let about = if log.unpacked_estimated { "about " } else { "" };
            format!("{}: {packed}, {about}{unpacked} unpacked", log.packing)
        }
        None => format!("{}: {packed}", log.packing),
    }
}

fn sample(log: &LogInspection) -> String {
    let records = thousands(log.records());
    if log.whole {
        return format!("all of it: {records} records");
    }
    let of = log.records_estimate.map_or_else(String::new, |all| format!(" of about {}", thousands(all)));
    format!("its first {} bytes: {records} records{of}", thousands(log.sample_bytes))
}

fn delimiter(delimiter: char) -> String {
    match delimiter {
        '\t' => "tab".to_owned(),
        ' ' => "blank".to_owned(),
        other => other.to_string(),
    }
}

fn time_stamp(form: &TimeForm) -> String {
    match form {
        TimeForm::EpochS => "epoch seconds: no zone is needed".to_owned(),
        TimeForm::EpochMs => "epoch milliseconds: no zone is needed".to_owned(),
        TimeForm::EpochUs => "epoch microseconds: no zone is needed".to_owned(),
        TimeForm::EpochNs => "epoch nanoseconds: no zone is needed".to_owned(),
        TimeForm::Date { pattern, names_zone: true, .. } => {
            format!("dates with a zone, {pattern}")
        }
        TimeForm::Date { pattern, zone, .. } => {
            format!("dates without a zone, {pattern}: read as {zone} (--time-zone)")
        }
    }
}

/// Describes a first record that is not the earliest.
fn late(log: &LogInspection, earliest: i64) -> String {
    match log.first_ms.map(|first| first.abs_diff(earliest)) {
        None | Some(0) => String::new(),
        Some(ms) => format!("; the first record is {} later", duration(ms)),
    }
}

fn to(log: &LogInspection, earliest: i64, latest: i64) -> String {
    let known = if log.end_seen { "" } else { ", in the sample" };
    format!("{}, after {}{known}", moment(latest), duration(latest.abs_diff(earliest)))
}

fn injectors(by: InjectorsBy) -> &'static str {
    match by {
        InjectorsBy::Hostname => "by the column Hostname",
        InjectorsBy::ThreadName => "by the beginning of threadName",
        InjectorsBy::Nothing => "unknown: the log counts as one (see --injectors, --injector-pattern)",
    }
}

/// The epoch times, in ms, that are shown as dates.
const SHOWN: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_400_000_000_000;

/// Formats an epoch time in ms.
pub(super) fn moment(epoch_ms: i64) -> String {
    shown(epoch_ms, "%Y-%m-%d %H:%M:%S%.3f UTC").unwrap_or_else(|| format!("{epoch_ms} ms"))
}

/// Formats an epoch second.
pub(crate) fn second(epoch_second: i64) -> String {
    let epoch_ms = epoch_second.saturating_mul(1000);
    shown(epoch_ms, "%Y-%m-%d %H:%M:%S UTC").unwrap_or_else(|| format!("{epoch_second} s"))
}

fn shown(epoch_ms: i64, form: &str) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(epoch_ms).ok().filter(|_| SHOWN.contains(&epoch_ms))?;
    Some(time.strftime(form).to_string())
}

/// Formats a number of milliseconds in hours, minutes and seconds.
pub(super) fn duration(ms: u64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}.{ms:03} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, seconds) => format!("{hours} h {minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_whatever_they_are() {
        assert_eq!(moment(1_795_203_738_609), "2026-11-20 19:42:18.609 UTC");
        assert_eq!(second(1_795_203_738), "2026-11-20 19:42:18 UTC");
        assert_eq!(
            (moment(i64::MIN), second(i64::MAX)),
            (format!("{} ms", i64::MIN), format!("{} s", i64::MAX))
        );
        assert_eq!(
            (duration(78_029), duration(29_500), duration(90_061_000)),
            ("1 min 18 s".into(), "29.500 s".into(), "25 h 1 min 1 s".into())
        );
    }
}
