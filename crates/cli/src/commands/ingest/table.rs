//! The table of what an ingest stored: a row for each run.

use std::path::Path;

use perfpipe_analyze::table::{Nested, Table};
use perfpipe_analyze::{RunDuration, View};
use perfpipe_ingest::campaign::{CampaignRun, Stand};
use perfpipe_ingest::run::{Note, PartNumber, SourceKind};
use perfpipe_ingest::{Ingested, RunInfo, RunKey};

use crate::input::runs::RunNames;
use crate::output::notes::{NoteFacts, with_hint};

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
