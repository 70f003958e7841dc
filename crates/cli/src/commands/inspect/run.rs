//! What an inspection shows of the run and of the CPU readings that an ingest would store.

use std::cmp::Reverse;

use perfpipe_analyze::format::{counted, damage_sentence, thousands};
use perfpipe_ingest::Inspection;
use perfpipe_ingest::counts::LabelCount;
use perfpipe_ingest::inspection::{ClockGuess, CpuInspection, SeriesInspection};

use super::log::{duration, moment, place, second};
use super::text::{LISTED, TextRows, names, short};
use crate::output::notes::{NoteFacts, flags, hours, with_hint};

pub(super) fn run_rows(found: &Inspection, rows: &mut TextRows) {
    rows.title("the run");
    if let Some(key) = &found.key {
        rows.row("key", &short(&key.to_string()));
        rows.list("inferred", found.inferred.iter().cloned());
        let sample = if found.whole { "" } else { ", of the sample" };
        rows.list("t0", found.t0_ms.map(|t0| t0_row(found, t0)));
        rows.list("length", length(found));
        rows.list("records", records(found));
        rows.row("requests", &format!("{}{sample}", requests(found)));
        if found.transactions > 0 {
            rows.row("", &format!("and {}{sample}", counted(found.transactions, "transaction")));
        }
        rows.list("labels", labels(&found.labels));
        rows.list("sub-samples", sub_samples(found));
        if !found.injectors.is_empty() {
            let all = names(found.injectors.iter().map(String::as_str));
            rows.row("injectors", &format!("{}: {all}", thousands(found.injectors.len() as u64)));
        }
        rows.list("rejects", rejects(found));
    }
    rows.list("note", found.notes.iter().map(|note| with_hint(note, NoteFacts::default())));
    rows.list("damaged", found.damage.iter().map(damage_sentence));
    rows.row("ingest", verdict(found));
}

fn t0_row(found: &Inspection, t0_ms: i64) -> String {
    let later = if found.whole { "" } else { "; a record later in the log may be earlier" };
    format!("{} ({t0_ms}){later}", moment(t0_ms))
}

fn length(found: &Inspection) -> Option<String> {
    let (t0_ms, last_ms) = found.t0_ms.zip(found.last_ms)?;
    let length = duration(last_ms.abs_diff(t0_ms));
    Some(match found.end_seen {
        true => format!("{length} from the first to the last start, at {}", moment(last_ms)),
        false => format!("{length} from the first start, or more: only reading everything shows the end"),
    })
}

fn records(found: &Inspection) -> Option<String> {
    let records = thousands(found.records_estimate?);
    Some(if found.whole { records } else { format!("about {records}, an estimate") })
}

fn requests(found: &Inspection) -> String {
    let requests = thousands(found.successes + found.failures);
    let percent = found.failures_percent().unwrap_or_default();
    match found.failures {
        0 => format!("{requests}, no failures"),
        failures => format!("{requests}, {} of them failures ({percent:.3} %)", thousands(failures)),
    }
}

/// Lists the labels with the most records.
fn labels(labels: &[LabelCount]) -> Vec<String> {
    let records = |label: &LabelCount| label.successes + label.failures + label.transactions;
    let mut sorted: Vec<&LabelCount> = labels.iter().collect();
    sorted.sort_by_key(|label| Reverse(records(label)));
    let row = |label: &&LabelCount| {
        let failures = match label.failures {
            0 => String::new(),
            failures => format!(", {} failed", thousands(failures)),
        };
        let transactions = match label.transactions {
            0 => String::new(),
            transactions => format!(" and {}, which are not requests", counted(transactions, "transaction")),
        };
        let requests = counted(label.successes + label.failures, "request");
        format!("{}: {requests}{failures}{transactions}", short(&label.label))
    };
    let mut rows: Vec<String> = sorted.iter().take(LISTED).map(row).collect();
    if labels.len() > LISTED {
        rows.push(format!("and {} more", thousands((labels.len() - LISTED) as u64)));
    }
    rows
}

/// Describes labels that are named as JMeter names the parts of a sample, if there are any.
fn sub_samples(found: &Inspection) -> Option<String> {
    let named = found.sub_sample_names();
    let first = short(named.first()?);
    let labels = counted(named.len() as u64, "label");
    Some(format!(
        "{labels} named like parts of another ({first}): each record counts as a request; reports leave parts out \
         with --top-level"
    ))
}

/// Lists the rejects: their number, the reasons, and the first of them.
fn rejects(found: &Inspection) -> Vec<String> {
    if found.rejects == 0 {
        return vec!["none".to_owned()];
    }
    let mut rows = vec![thousands(found.rejects)];
    if let Some(all) = found.rejects_estimate.filter(|_| !found.whole) {
        let allowed = thousands(found.max_rejects);
        rows.push(format!("about {} at this rate; --max-rejects is {allowed}", thousands(all)));
    }
    if found.rejects > found.first_rejects.len() as u64 {
        let kinds = found.reject_kinds.iter().take(LISTED);
        rows.extend(kinds.map(|kind| format!("{}: {}", kind.reason, thousands(kind.count))));
    }
    rows.extend(found.first_rejects.iter().map(|reject| {
        let (place, line) =
            (place(&reject.file, reject.member.as_deref()).to_string(), thousands(reject.line));
        format!("{place}, line {line}: {}: {}", reject.reason, short(&reject.record))
    }));
    rows
}

fn verdict(found: &Inspection) -> &'static str {
    match found {
        Inspection { refusal: Some(_), .. } => "would be refused",
        _ if found.too_many_rejects() => "would fail at this rate of rejects",
        Inspection { whole: true, .. } => "would take it",
        _ => "would start; the rest of the log was not checked",
    }
}

/// Readings that begin late or end early by up to this many seconds are not reported, since that is usual.
const NEAR: i64 = 3;

/// Describes a CPU export.
pub(super) fn cpu_rows(cpu: &CpuInspection, end_seen: bool, rows: &mut TextRows) {
    rows.title(&place(&cpu.file, cpu.member.as_deref()).to_string());
    rows.row("CPU export", cpu.form);
    of_readings(cpu, "%", end_seen, rows);
}

/// Describes another series.
pub(super) fn series_rows(series: &SeriesInspection, end_seen: bool, rows: &mut TextRows) {
    let SeriesInspection { name, unit, readings, .. } = series;
    rows.title(&place(&readings.file, readings.member.as_deref()).to_string());
    rows.row("series", &format!("{name} in {unit}: {}", readings.form));
    of_readings(readings, unit, end_seen, rows);
}

fn of_readings(cpu: &CpuInspection, unit: &str, end_seen: bool, rows: &mut TextRows) {
    rows.row("clock", &clock(cpu));
    rows.list("items", items(cpu));
    rows.row("readings", &readings(cpu, unit));
    if let Some((first, last)) = cpu.first_second.zip(cpu.last_second) {
        rows.row("from", &second(first));
        rows.row("to", &second(last));
    }
    if let Some(gap) = cpu.longest_gap {
        let (gaps, seconds, after) = (thousands(cpu.gaps), gap.seconds, second(gap.after));
        rows.row("gaps", &format!("{gaps}; the longest has {seconds} s without a reading, after {after}"));
    }
    let Some(seconds) = cpu.seconds else { return };
    rows.row("overlap", &overlap(cpu, seconds, end_seen));
    rows.list("", ends(cpu));
    if let Some(guess) = &cpu.clock {
        rows.row("", &perhaps(guess, seconds));
    }
}

fn clock(cpu: &CpuInspection) -> String {
    match &cpu.date_pattern {
        None => "epoch seconds: no zone is needed".to_owned(),
        Some(pattern) if cpu.zone_assumed => {
            format!("dates without a zone, {pattern}: read in the zone of --time-zone")
        }
        Some(pattern) => format!("dates with a zone, {pattern}"),
    }
}

fn items(cpu: &CpuInspection) -> Vec<String> {
    let item =
        |(name, readings): &(String, u64)| format!("{}: {} readings", short(name), thousands(*readings));
    let mut items: Vec<String> = cpu.items.iter().take(LISTED).map(item).collect();
    if cpu.items.len() > LISTED {
        items.push(format!("and {} more", cpu.items.len() - LISTED));
    }
    items
}

fn readings(cpu: &CpuInspection, unit: &str) -> String {
    let count = thousands(cpu.readings);
    let step = cpu.step.map(|step| format!(", one every {step} s")).unwrap_or_default();
    let range =
        cpu.min.zip(cpu.max).map(|(min, max)| format!(", from {min} to {max} {unit}")).unwrap_or_default();
    format!("{count}{step}{range}")
}

fn overlap(cpu: &CpuInspection, seconds: u64, end_seen: bool) -> String {
    let percent = cpu.covered as f64 / seconds.max(1) as f64 * 100.0;
    let of = if end_seen { "of the logs" } else { "of the logs as far as known" };
    format!(
        "{} of {} seconds {of} have a reading ({percent:.1} %)",
        thousands(cpu.covered),
        thousands(seconds)
    )
}

/// Describes where the readings begin and end, if that is far from the logs.
fn ends(cpu: &CpuInspection) -> Vec<String> {
    if cpu.covered == 0 {
        return Vec::new();
    }
    let late = cpu.begins_after_t0.filter(|late| *late > NEAR);
    let early = cpu.ends_before_last.filter(|early| *early > NEAR);
    let late = late.map(|late| format!("the readings begin {late} s after t0"));
    let early = early.map(|early| format!("the readings end {early} s before the last record"));
    late.into_iter().chain(early).collect()
}

/// Describes a possible difference of the clocks.
fn perhaps(guess: &ClockGuess, seconds: u64) -> String {
    let (covered, seconds) = (thousands(guess.covered), thousands(seconds));
    let shift = hours(guess.shift.unsigned_abs());
    format!("the clocks may differ by {shift}: {covered} of {seconds} seconds with {}", flags(guess))
}
