//! Description of the server's readings: a CPU export, and other series.

use perfpipe_analyze::format::thousands;
use perfpipe_ingest::inspection::{ClockGuess, CpuInspection, SeriesInspection};

use super::clock::second;
use super::log::place;
use super::text::{LISTED, TextRows, short};
use crate::output::notes::{flags, hours};

/// Readings that begin late or end early by up to this many seconds are not reported, since that is usual.
const NEAR: i64 = 3;

/// Describes a CPU export.
pub(super) fn rows(cpu: &CpuInspection, end_seen: bool, rows: &mut TextRows) {
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
