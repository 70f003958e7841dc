//! What an ingest prints of the run that it stored.

use std::time::Duration;

use perfpipe_analyze::format::{damage_sentence, decimals, duration, instant, thousands};
use perfpipe_analyze::{Histogram, RunDuration, View};
use perfpipe_ingest::run::SourceKind;
use perfpipe_ingest::{Ingested, RunInfo, Store};

use crate::output::notes::{self, Facts, shell_word};
use crate::output::{note, warn};

/// The duration, in seconds, below which it is told with decimals.
const SHORT: f64 = 60.0;

/// Prints what was stored, with warnings first.
pub(crate) fn summarise(done: &Ingested, store: &Store, took: Duration) {
    let info = &done.info;
    done.inferred.iter().for_each(|what| note(&format!("inferred {what}")));
    let facts = Facts { key: Some(&info.key), clock: done.clock.as_ref() };
    done.notes.iter().for_each(|said| notes::print(said, "", facts));
    info.damage.iter().for_each(|damage| warn(&format!("partial: {}", damage_sentence(damage))));
    if done.read_twice {
        note("the earliest record comes late in the log, so the log was read twice");
    }
    for (name, value) in lines(done, store, took) {
        note(&format!("{name:>13}  {value}"));
    }
    if info.rejects > 0 && done.part.is_none() {
        let records = if info.rejects == 1 { "record was" } else { "records were" };
        let run = shell_word(&info.key.to_string());
        let rejects = thousands(info.rejects);
        warn(&format!("{rejects} {records} rejected: see `perfpipe export {run} --what rejects`"));
    }
}

/// Returns the lines of the summary, each with its name.
fn lines<'a>(done: &'a Ingested, store: &Store, took: Duration) -> Vec<(&'a str, String)> {
    let info = &done.info;
    let lasted = RunDuration::of(info, &View::of(info));
    let seconds = took.as_secs_f64();
    let rate = info.records() as f64 / seconds.max(1e-9);
    let samples = if info.samples_stored { "" } else { " (counts only)" };
    let partial = if info.is_partial() { " (partial)" } else { "" };
    let series = done.series_seconds.iter().map(|(name, seconds)| (&**name, Some(covered(*seconds, info))));
    let lines = [
        ("run", Some(format!("{}{partial}", info.key))),
        ("part", done.part.map(|part| format!("{} of {}", part.number(), part.of()))),
        ("started", instant(info.t0_ms).map(|date| format!("{date} UTC"))),
        ("duration", Some(in_words(lasted.seconds))),
        ("requests", Some(requests(info))),
        ("transactions", (info.transactions > 0).then(|| thousands(info.transactions))),
        ("rejects", Some(thousands(info.rejects))),
        ("injectors", injectors(done)),
        ("throughput", Some(throughput(info, &lasted))),
        ("response time", response_times(done)),
        ("CPU", Some(cpu(done))),
    ];
    let ends = [
        ("stored in", Some(format!("{store}{samples}"))),
        ("time taken", Some(format!("{seconds:.2} s, {} records/s", thousands(rate as u64)))),
    ];
    lines.into_iter().chain(series).chain(ends).filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Formats a duration, with decimals if it is short.
fn in_words(seconds: f64) -> String {
    if seconds < SHORT { format!("{} s", decimals(seconds, 1)) } else { duration(seconds.round() as u64) }
}

fn requests(info: &RunInfo) -> String {
    let share = match info.requests() {
        0 => String::new(),
        requests => format!(" ({:.3} %)", info.failures as f64 / requests as f64 * 100.0),
    };
    format!("{}, {} of them failures{share}", thousands(info.requests()), thousands(info.failures))
}

/// Returns the number of injectors, as given or as the log tells them apart; `None` for a single one.
fn injectors(done: &Ingested) -> Option<String> {
    let told = done.injectors.len() as u64;
    match done.info.options.injectors {
        Some(given) if given > 1 => Some(format!("{given}, by --injectors")),
        _ => (told > 1).then(|| thousands(told)),
    }
}

/// Describes the run's throughput, and the wait for its last answer if that made the run much longer.
fn throughput(info: &RunInfo, lasted: &RunDuration) -> String {
    let figure = (info.successes as f64 / lasted.seconds).round() as u64;
    let wait = lasted.long_wait().map(|wait| format!(" (with a wait of {wait:.1} s for its last answer)"));
    format!("{} successes/s{}", thousands(figure), wait.unwrap_or_default())
}

/// Describes the elapsed times of the successes; `None` if they are not known.
fn response_times(done: &Ingested) -> Option<String> {
    let unit = done.info.resolution;
    let mut elapsed = Histogram::in_unit(unit);
    elapsed.add_counts(&done.elapsed);
    let digits = if unit.is_fine() { 3 } else { 1 };
    let ms = |value: Option<f64>| value.map(|value| format!("{} ms", decimals(value, digits)));
    let [p50, p95] = [50.0, 95.0].map(|percent| ms(elapsed.percentile(percent)));
    let whole = if unit.is_fine() { digits } else { 0 };
    let largest = elapsed.max().map(|largest| format!("{} ms", decimals(largest, whole)));
    let counted = if unit.is_fine() { format!(", in units of {unit}") } else { String::new() };
    Some(format!("mean {}, p50 {}, p95 {}, max {}{counted}", ms(elapsed.mean())?, p50?, p95?, largest?))
}

fn cpu(done: &Ingested) -> String {
    let info = &done.info;
    if !info.sources.iter().any(|source| source.kind == SourceKind::Cpu) {
        return "no CPU export was given".to_owned();
    }
    covered(done.cpu_seconds, info)
}

/// Says how many of a run's seconds have a reading.
fn covered(seconds: u32, info: &RunInfo) -> String {
    let share = f64::from(seconds) / f64::from(info.seconds).max(1.0) * 100.0;
    format!("{share:.1} % of the seconds have a reading")
}
