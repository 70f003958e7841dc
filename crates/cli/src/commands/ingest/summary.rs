//! What an ingest prints of the runs that it stored: notes, and a table.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_analyze::format::{damage_sentence, decimals, instant, lasting, thousands};
use perfpipe_analyze::table::{Nested, Table};
use perfpipe_analyze::{Histogram, RunDuration, View};
use perfpipe_ingest::campaign::{CampaignRun, Stand};
use perfpipe_ingest::run::{Note, PartNumber, SourceKind};
use perfpipe_ingest::{Ingested, RunInfo, RunKey, Store};

use crate::args::OutputArgs;
use crate::input::runs::RunNames;
use crate::output::notes::{NoteFacts, shell_word, with_hint};
use crate::output::terminal::TableOutput;
use crate::output::{note, notes, warn};

/// Where a summary is printed, and when its work began.
pub(crate) struct SummaryOutput {
    output: TableOutput,
    since: Instant,
}

impl SummaryOutput {
    /// Opens the output before any work is done.
    ///
    /// # Errors
    /// If it can't be written.
    pub(crate) fn begin(args: &OutputArgs) -> Result<Self> {
        Ok(Self { output: TableOutput::begin(args)?, since: Instant::now() })
    }

    /// Prints the table of one run, unless notes are enough.
    ///
    /// # Errors
    /// If it can't be written.
    pub(super) fn print(self, row: &IngestRow<'_>) -> Result<()> {
        self.output.write(|| table(std::slice::from_ref(row)))
    }
}

/// Prints what was stored, with warnings first. `is_new` is false if it replaced another run.
///
/// # Errors
/// If the output can't be written.
pub(crate) async fn summarise(
    done: &Ingested,
    store: &Store,
    summary: SummaryOutput,
    is_new: bool,
) -> Result<()> {
    let took = summary.since.elapsed();
    let info = &done.info;
    let run = RunNames::in_store(store, &info.key).await;
    done.inferred.iter().for_each(|what| note(&format!("inferred {what}")));
    let facts = NoteFacts { run: Some(&run), clock: done.clock.as_ref() };
    done.notes.iter().for_each(|said| notes::print(said, "", facts));
    info.damage.iter().for_each(|damage| warn(&format!("partial: {}", damage_sentence(damage))));
    if done.read_twice {
        note("the earliest record comes late in the log, so the log was read twice");
    }
    for (name, value) in lines(done, &run, store, took) {
        note(&format!("{name:>13}  {value}"));
    }
    if info.rejects > 0 && done.part.is_none() {
        let records = if info.rejects == 1 { "record was" } else { "records were" };
        let shown = shell_word(&run);
        let rejects = thousands(info.rejects);
        warn(&format!("{rejects} {records} rejected: see `perfpipe export {shown} --what rejects`"));
    }
    summary.print(&IngestRow::stored(done, &run, is_new))
}

/// Returns the lines of the summary, each with its name.
fn lines<'a>(done: &'a Ingested, run: &str, store: &Store, took: Duration) -> Vec<(&'a str, String)> {
    let info = &done.info;
    let lasted = RunDuration::of(info, &View::of(info));
    let seconds = took.as_secs_f64();
    let rate = info.records() as f64 / seconds.max(1e-9);
    let samples = if info.samples_stored { "" } else { " (counts only)" };
    let partial = if info.is_partial() { " (partial)" } else { "" };
    let series = done.series_seconds.iter().map(|(name, seconds)| (&**name, Some(covered(*seconds, info))));
    let lines = [
        ("run", Some(format!("{run}{partial}"))),
        ("part", done.part.map(|part| format!("{} of {}", part.number(), part.of()))),
        ("started", instant(info.t0_ms).map(|date| format!("{date} UTC"))),
        ("duration", Some(lasting(lasted.seconds))),
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

fn requests(info: &RunInfo) -> String {
    let share = match info.requests() {
        0 => String::new(),
        requests => format!(" ({:.3} %)", info.failures as f64 / requests as f64 * 100.0),
    };
    format!("{}, {} of them failures{share}", thousands(info.requests()), thousands(info.failures))
}

/// Returns the number of injectors, as given or as the log distinguishes them; `None` for a single one.
fn injectors(done: &Ingested) -> Option<String> {
    let known = done.injectors.len() as u64;
    match done.info.options.injectors {
        Some(given) if given > 1 => Some(format!("{given}, by --injectors")),
        _ => (known > 1).then(|| thousands(known)),
    }
}

/// Describes the run's throughput, and the wait for its last answer if that made the run much longer.
fn throughput(info: &RunInfo, lasted: &RunDuration) -> String {
    let figure = decimals(info.successes as f64 / lasted.seconds, 1);
    let wait = lasted.long_wait().map(|wait| format!(" (with a wait of {wait:.1} s for its last answer)"));
    format!("{figure} successes/s{}", wait.unwrap_or_default())
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

/// A run of the table.
pub(crate) struct IngestRow<'a> {
    key: Option<&'a RunKey>,
    name: Option<String>,
    log: String,
    cpu: Option<String>,
    paired_by: Option<&'static str>,
    info: Option<&'a RunInfo>,
    done: Option<&'a Ingested>,
    status: &'static str,
    why: Option<String>,
    code: Option<&'static str>,
    notes: Vec<&'a Note>,
}

impl<'a> IngestRow<'a> {
    /// A run of a folder.
    pub(super) fn of(run: &'a CampaignRun, names: &RunNames) -> Self {
        let done = run.ingested.as_ref();
        let (info, why, code) = match &run.stand {
            Stand::Unchanged(info) => (Some(&**info), None, None),
            Stand::Unread(info) => {
                (Some(&**info), Some("as far as is known without reading all of it".into()), None)
            }
            Stand::Changed(why) => (None, Some(why.clone()), None),
            Stand::Failed(error) => (None, Some(error.to_string()), Some(error.code())),
            _ => (None, None, None),
        };
        Self {
            key: run.key.as_ref(),
            name: run.key.as_ref().map(|key| names.name(key)),
            log: file_name(&run.log),
            cpu: run.cpu.as_ref().map(|cpu| file_name(&cpu.file)),
            paired_by: run.cpu.as_ref().map(|cpu| cpu.paired.name()),
            info: info.or(done.map(|done| &done.info)),
            done,
            status: run.stand.name(),
            why,
            code,
            notes: run.notes.iter().chain(done.into_iter().flat_map(|done| &done.notes)).collect(),
        }
    }

    /// The run of files that were named, which replaced another one if `is_new` is false.
    pub(crate) fn stored(done: &'a Ingested, name: &str, is_new: bool) -> Self {
        let of_kind = |is_cpu: bool| {
            let sources = done.info.sources.iter();
            let sources = sources.filter(move |source| (source.kind == SourceKind::Cpu) == is_cpu);
            let names: Vec<&str> = sources.map(|source| source.file.as_str()).collect();
            names.join(", ")
        };
        Self {
            key: Some(&done.info.key),
            name: Some(name.to_owned()),
            log: of_kind(false),
            cpu: Some(of_kind(true)).filter(|name| !name.is_empty()),
            paired_by: None,
            info: Some(&done.info),
            done: Some(done),
            status: if is_new { "new" } else { "changed" },
            why: None,
            code: None,
            notes: done.notes.iter().collect(),
        }
    }

    /// A run of another store, which one file has.
    pub(super) fn packed(info: &'a RunInfo, name: &str, file: &Path, status: &'static str) -> Self {
        Self {
            key: Some(&info.key),
            name: Some(name.to_owned()),
            log: file_name(file),
            cpu: None,
            paired_by: None,
            info: Some(info),
            done: None,
            status,
            why: None,
            code: None,
            notes: Vec::new(),
        }
    }

    /// Returns the notes, each with its code, its text and what can be done about it.
    fn notes(&self) -> Nested {
        let clock = self.done.and_then(|done| done.clock.as_ref());
        let facts = NoteFacts { run: self.name.as_deref(), clock };
        Nested::objects(self.notes.iter().map(|note| {
            let text = with_hint(note, facts);
            (text.clone(), vec![("code", note.kind().code().to_owned()), ("text", text)])
        }))
    }
}

/// Returns a file's name without its folder.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Builds the table.
pub(crate) fn table(rows: &[IngestRow<'_>]) -> Table {
    // Most figures of a campaign that is only planned are not known.
    let figures = rows.iter().any(|row| row.info.is_some());
    let covered = rows.iter().any(|row| row.done.is_some());
    let part = |row: &IngestRow<'_>| row.done.and_then(|done| done.part);
    Table::of(rows)
        .schema("perfpipe-ingest/1")
        .column("run", |row| row.name.clone())
        .column("framework", |row| row.key.map(|key| key.framework.clone()))
        .people_see(false)
        .column("test", |row| row.key.map(|key| key.test.clone()))
        .people_see(false)
        .column("repeat", |row| row.key.map(|key| u64::from(key.repeat)))
        .people_see(false)
        .column("part", |row| part(row).map(|part| u64::from(part.number())))
        .people_see(rows.iter().any(|row| part(row).is_some()))
        .column("parts", |row| part(row).map(PartNumber::of).map(u64::from))
        .people_see(false)
        .column("log", |row| Some(row.log.clone()))
        .minor()
        .column("cpu", |row| row.cpu.clone())
        .title("CPU export")
        .minor()
        .column("paired_by", |row| row.paired_by.map(str::to_owned))
        .title("paired by")
        .minor()
        .people_see(rows.iter().any(|row| row.paired_by.is_some()))
        .column("t0_ms", |row| row.info.map(|info| info.t0_ms))
        .people_see(false)
        .column("requests", |row| row.info.map(RunInfo::requests))
        .major()
        .people_see(figures)
        .column("failures", |row| row.info.map(|info| info.failures))
        .people_see(figures)
        .column("transactions", |row| row.info.map(|info| info.transactions))
        .people_see(false)
        .column("rejects", |row| row.info.map(|info| info.rejects))
        .people_see(false)
        .column("seconds", |row| row.info.map(|info| u64::from(info.seconds)))
        .people_see(false)
        .column("duration", |row| row.info.map(|info| RunDuration::of(info, &View::of(info)).seconds))
        .duration()
        .people_see(figures)
        .column("cpu_seconds_percent", |row| {
            let done = row.done.filter(|_| row.cpu.is_some())?;
            Some(f64::from(done.cpu_seconds) / f64::from(done.info.seconds.max(1)) * 100.0)
        })
        .title("with CPU")
        .unit("%", 1)
        .people_see(covered)
        .column("partial", |row| row.info.map(RunInfo::is_partial))
        .people_see(false)
        .column("samples_stored", |row| row.info.map(|info| info.samples_stored))
        .people_see(false)
        .column("status", |row| Some(row.status.to_owned()))
        .major()
        .column("code", |row| row.code.map(str::to_owned))
        .people_see(false)
        .column("why", |row| row.why.clone())
        .people_see(rows.iter().any(|row| row.why.is_some()))
        .column("notes", |row| Some(row.notes()))
        .people_see(false)
        .done()
}
