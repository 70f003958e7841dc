//! Ingests parts of a run on several machines, and merges them to the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use futures_util::future::BoxFuture;

use super::commit::{CommittedRun, CountedRun, commit};
use super::ingest::{IngestContext, Ingested, ingest_as};
use super::options::IngestOptions;
use super::store::{Store, StoreKind, blocking};
use crate::counting::totals::{DEFAULT_MEMORY, Totals};
use crate::pipeline::Progress;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::{RunInfo, SourceFile, SourceKind};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::note::{Note, NoteKind};
use perfpipe_model::run::options::intervals::Intervals;
use perfpipe_model::run::options::measures::Measures;
use perfpipe_model::run::options::{PartNumber, RunOptions};
use perfpipe_model::run::rejects::{Reject, RejectSpool};
use perfpipe_model::run::replace::Replace;
use perfpipe_model::series::cpu::CpuJoin;
use perfpipe_store::parquet::packed::PartFacts;
use perfpipe_store::parts::{ClaimedParts, PartStore, StoredPart, StoredParts, no_parts};
use perfpipe_store::sink::{CommitStage, RunWriter, Stage};

/// How parts are merged.
///
/// ```
/// use perfpipe_ingest::MergeOptions;
///
/// let options = MergeOptions::default().with_max_rejects(7);
/// assert_eq!((options.max_rejects, options.replace), (7, false));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MergeOptions {
    /// The maximum total of rejected records of all parts.
    pub max_rejects: u64,
    /// True if any run of the same key may be replaced, even a whole one by a partial one.
    pub replace: bool,
    /// The memory budget in bytes for the counts. Those beyond a fifth of it go to a temporary file.
    pub memory: usize,
    /// The handle by which the merge can be followed.
    pub progress: Progress,
}

impl Default for MergeOptions {
    fn default() -> Self {
        let max_rejects = IngestOptions::default().max_rejects;
        Self { max_rejects, replace: false, memory: DEFAULT_MEMORY, progress: Progress::default() }
    }
}

impl MergeOptions {
    /// Sets the maximum total of rejected records of all parts.
    #[must_use]
    pub fn with_max_rejects(mut self, max_rejects: u64) -> Self {
        self.max_rejects = max_rejects;
        self
    }

    /// Sets whether any run of the same key may be replaced.
    #[must_use]
    pub fn with_replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets the memory budget in bytes for the counts.
    #[must_use]
    pub fn with_memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }

    /// Sets the handle by which the merge can be followed.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }
}

impl Store {
    /// Reads one machine's logs of a run into the store, as a part that is merged with the others later, see
    /// [`Store::merge`]. A part with the same number, made from files of the same names, is replaced.
    ///
    /// The options must name framework, test, repeat and origin, which are those of the whole run.
    /// [`IngestOptions::max_rejects`] is left to the merge.
    ///
    /// # Errors
    /// As for [`ingest`](crate::ingest()). Also if the options lack something, a log has no clock, the parts are being
    /// merged, or the store fails.
    pub fn ingest_part<'a>(
        &'a self,
        files: &'a [PathBuf],
        options: &'a IngestOptions,
        part: PartNumber,
    ) -> BoxFuture<'a, Result<Ingested>> {
        Box::pin(async move {
            let Some(key) = options.given_key().filter(|_| options.origin.is_some()) else {
                let problem = "a part of a run needs the run's framework, test, repeat and origin";
                return Err(Error::usage(ErrorKind::PartIncomplete, problem, "Give them."));
            };
            let options = IngestOptions { max_rejects: u64::MAX, ..options.clone() };
            let stored = match &self.0 {
                StoreKind::Parquet(store) => ingest_part(store, (&key, part), files, &options).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => {
                    ingest_part(store.as_ref(), (&key, part), files, &options).await
                }
            };
            stored.map_err(|error| match error {
                Error::Origin { place, given: Some(_), earliest } => late_origin(*place, earliest),
                error if error.kind() == ErrorKind::KeyTaken => taken(&key, part, &error),
                error => error,
            })
        })
    }

    /// Merges all parts of a run, and removes them. The run is that of all their logs, read in the order of the parts with
    /// the same options.
    ///
    /// The run appears as a whole, or not at all. If this is interrupted, the parts are still there, perhaps beside the
    /// run; merging them again completes it.
    ///
    /// # Errors
    /// If parts are missing, or are incompatible; if there are too many rejects, the run may not replace another one,
    /// or the store fails.
    ///
    /// ```
    /// use perfpipe_ingest::{IngestOptions, MergeOptions, RunKey, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let store = Store::folder(dir.path().join("data"))?;
    /// let options = IngestOptions::default().with_framework("go").with_test("2048").with_origin(1795203738000);
    /// for (part, ms) in [("1/2", 615), ("2/2", 7)] {
    ///     let log = dir.path().join(format!("{ms}.csv"));
    ///     # std::fs::write(&log, format!("timeStamp,elapsed,success\n{},12,true\n", 1795203738000_i64 + ms)).unwrap();
    ///     store.ingest_part(&[log], &options, part.parse()?).await?;
    /// }
    /// let done = store.merge(&RunKey::new("go", "2048"), 2, &MergeOptions::default()).await?;
    /// assert_eq!((done.info.t0_ms, done.info.successes), (1795203738000, 2));
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn merge<'a>(
        &'a self,
        key: &'a RunKey,
        of: u32,
        options: &'a MergeOptions,
    ) -> BoxFuture<'a, Result<Ingested>> {
        Box::pin(async move {
            match &self.0 {
                StoreKind::Parquet(store) => merge(store, key, of, options).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => merge(store.as_ref(), key, of, options).await,
            }
        })
    }

    /// Returns the parts of runs that are not yet merged, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn parts(&self) -> BoxFuture<'_, Result<Vec<StoredParts>>> {
        Box::pin(async move {
            match &self.0 {
                StoreKind::Parquet(store) => blocking(store, |store| store.parts()).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => PartStore::parts(store.as_ref()).await,
            }
        })
    }

    /// Drops parts of a run that are not yet merged.
    ///
    /// # Errors
    /// If one of them is not stored, others are working on the parts, or the store fails.
    pub fn drop_parts<'a>(&'a self, key: &'a RunKey, numbers: &'a [u32]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &self.0 {
                StoreKind::Parquet(store) => drop_parts(store, key, numbers).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => drop_parts(store.as_ref(), key, numbers).await,
            }
        })
    }
}

/// The error for a record before the origin of all parts.
fn late_origin(place: Place, earliest: i64) -> Error {
    let problem = format!("its smallest timeStamp is {earliest}, before the origin of the run");
    let remedy = format!("Give all parts an origin that is not after {earliest}.");
    Error::input(ErrorKind::Origin, place, problem, remedy)
}

/// The refusal of a part whose number another one has.
fn taken(key: &RunKey, part: PartNumber, error: &Error) -> Error {
    let problem = format!("part {part} of {key} is stored already ({error})");
    let remedy = "Give this part its own number, or replace the other one (IngestOptions::replace).";
    Error::refused(ErrorKind::PartTaken, problem, remedy)
}

async fn ingest_part<S: PartStore>(
    store: &S,
    (key, part): (&RunKey, PartNumber),
    files: &[PathBuf],
    options: &IngestOptions,
) -> Result<Ingested> {
    let desk = store.part_target(key, part).await?;
    ingest_as(&desk, files, options, IngestContext { part: Some(part), ..IngestContext::default() }).await
}

async fn drop_parts<S: PartStore>(store: &S, key: &RunKey, numbers: &[u32]) -> Result<()> {
    let held = store.claim_parts(key).await?;
    let stored = held.numbers()?;
    let Some(number) = numbers.iter().find(|number| !stored.contains(number)) else {
        return held.drop_parts(numbers).await;
    };
    let problem = format!("there is no part {number} of {key}");
    Err(Error::refused(ErrorKind::NoParts, problem, "Choose one of the parts that are stored."))
}

async fn merge<S: PartStore>(store: &S, key: &RunKey, of: u32, options: &MergeOptions) -> Result<Ingested> {
    let held = store.claim_parts(key).await?;
    let parts = held.all().await?;
    check_parts(key, &parts, of)?;
    let writer = held.begin_merged(key, &parts).await?;
    let mut merged = MergedParts::new(Totals::new(options.memory, writer.scratch()), options.max_rejects);
    for part in &parts {
        options.progress.go_on()?;
        merged.add(key, part, &held.facts(part).await?)?;
        // So that a merge can be stopped before the next part.
        tokio::task::yield_now().await;
    }
    options.progress.go_on()?;
    let stage = options.progress.commit();
    let done = merged.commit(writer, (key, &parts), options.replace, stage).await?;
    stage.set(Stage::Stored);
    held.remove_merged().await.map(|()| done).map_err(|error| {
        let problem = format!("the run {key} is stored, but its parts could not be removed: {error}");
        Error::refused(ErrorKind::PartsLeft, problem, "Drop the parts.")
    })
}

/// What the parts so far add up to.
struct MergedParts {
    totals: Totals,
    max_rejects: u64,
    rejects: RejectSpool,
    /// The first part, with the readings of the server, which are those of all parts.
    first: Option<StoredRun>,
    /// The sum of the bytes received and sent.
    bytes: u64,
}

impl MergedParts {
    fn new(totals: Totals, max_rejects: u64) -> Self {
        Self { totals, max_rejects, rejects: RejectSpool::default(), first: None, bytes: 0 }
    }

    /// Adds the part that comes next.
    fn add(&mut self, key: &RunKey, part: &StoredPart, facts: &PartFacts) -> Result<()> {
        let mut run = facts.run()?;
        self.totals.absorb_part(&run, &facts.names()?)?;
        for cell in run.cells.sums() {
            let (_, cell) = cell?;
            let bytes = cell.bytes.unsigned_abs().saturating_add(cell.sent_bytes.unsigned_abs());
            self.bytes = self.bytes.saturating_add(bytes);
        }
        if self.bytes > i64::MAX as u64 {
            let problem = "bytes and sentBytes of the parts add up to more than 9.2 EB, the largest sum that can be stored";
            let remedy =
                "No test transfers that much: check these columns, and remove them if they are wrong.";
            return Err(Error::refused(ErrorKind::SizeOverflow, problem, remedy));
        }
        let (rejects, max_rejects) = (&mut self.rejects, self.max_rejects);
        facts.rejects(&mut |reject| match rejects.len() < max_rejects {
            true => rejects.push(&reject),
            false => Err(one_too_many(&reject, max_rejects)),
        })?;
        (run.cells, run.errors, run.labels) = Default::default();
        match &self.first {
            None => {
                self.first = Some(run);
                Ok(())
            }
            Some(first) => check_readings(key, first, &run, part.row.number),
        }
    }

    /// Stores the run.
    async fn commit<W: RunWriter>(
        mut self,
        writer: W,
        (key, parts): (&RunKey, &[StoredPart]),
        replace: bool,
        stage: &CommitStage,
    ) -> Result<Ingested> {
        let (Some(first), Some(row)) = (self.first.take(), parts.first()) else { return Err(no_parts(key)) };
        let info = info(&row.info, parts, &self.totals, self.rejects.len());
        let run = CountedRun {
            info: &info,
            totals: &self.totals,
            samples: info.requests().saturating_add(info.transactions),
            rejects: &mut self.rejects,
            cpu: (&first.cpu, CpuJoin::of(&info)),
            series: &first.series,
            replace: if replace { Replace::Any } else { Replace::SameKey },
            stage,
            part: None,
        };
        let CommittedRun { cpu_seconds, elapsed, injectors } = commit(writer, run).await?;
        let covered = first.series.iter().map(|series| (series.name.clone(), series.covered(&info)));
        let series_seconds = covered.collect();
        let notes = note_of_injectors(parts.len(), &injectors, &info).into_iter().collect();
        let mut done = Ingested::new(info);
        (done.notes, done.elapsed, done.injectors) = (notes, elapsed, injectors);
        (done.cpu_seconds, done.series_seconds) = (cpu_seconds, series_seconds);
        Ok(done)
    }
}

/// The error for a reject beyond the limit.
fn one_too_many(reject: &Reject, limit: u64) -> Error {
    let mut place = Place::file(&reject.file).at(reject.line, reject.byte);
    place.member.clone_from(&reject.member);
    let problem = format!("{}; that makes {} rejects, and the limit is {limit}", reject.reason, limit + 1);
    let remedy = "Look at these records. If the run may be stored without them, allow more rejects \
                  (MergeOptions::max_rejects): they are kept beside it.";
    Error::input(ErrorKind::TooManyRejects, place, problem, remedy)
}

/// The note on several parts whose load is counted as that of one injector.
fn note_of_injectors(parts: usize, injectors: &[String], info: &RunInfo) -> Option<Note> {
    let are_named = parts < 2 || !injectors.is_empty() || info.options.injectors.is_some();
    let text = "the parts name no injector, so the load is counted as that of a single one";
    (!are_named).then(|| Note::new(NoteKind::Other, text.to_owned()))
}

/// The metadata of the run.
fn info(first: &RunInfo, parts: &[StoredPart], totals: &Totals, rejects: u64) -> RunInfo {
    let infos = || parts.iter().map(|part| &part.info);
    let last_ms = infos().map(|info| info.last_ms).max().unwrap_or(first.last_ms);
    let intervals = infos().filter_map(|info| info.options.intervals).reduce(Intervals::merged);
    let measures = infos().filter_map(|info| info.options.measures).reduce(Measures::merged);
    let damage: Vec<Damage> = infos().flat_map(|info| &info.damage).cloned().collect();
    let is_log = |source: &&SourceFile| source.kind == SourceKind::Log;
    let logs = infos().flat_map(|info| info.sources.iter().filter(is_log));
    let others = first.sources.iter().filter(|source| !is_log(source));
    let seconds = last_ms.saturating_sub(first.t0_ms).div_euclid(1000).saturating_add(1);
    RunInfo {
        last_ms,
        last_end_ms: infos().filter_map(|info| info.last_end_ms).max(),
        transactions_end_ms: infos().filter_map(|info| info.transactions_end_ms).max(),
        seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
        successes: totals.successes,
        failures: totals.failures,
        transactions: totals.transactions,
        rejects,
        sources: logs.chain(others).cloned().collect(),
        options: RunOptions { intervals, measures, ..first.options.clone() },
        ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        damage,
        ..first.clone()
    }
}

/// The maximum number of missing parts that are named.
const NAMED: usize = 10;

/// Checks that there are as many parts as there are said to be, all of them of one origin, options and version.
fn check_parts(key: &RunKey, parts: &[StoredPart], of: u32) -> Result<()> {
    let Some(first) = parts.first() else { return Err(no_parts(key)) };
    if let Some(part) = parts.iter().find(|part| part.row.number.of() != of) {
        let number = part.row.number;
        let problem = format!("{key} has a part {number}, and {of} parts are to be merged");
        let remedy = "Merge as many parts as the run was divided into; drop a part that is not one of them.";
        return Err(Error::refused(ErrorKind::PartsDiffer, problem, remedy));
    }
    check_complete(key, parts, of)?;
    for part in parts {
        check_equal(key, first, part)?;
    }
    check_logs(key, parts)
}

fn check_complete(key: &RunKey, parts: &[StoredPart], of: u32) -> Result<()> {
    let stored: BTreeSet<u32> = parts.iter().map(|part| part.row.number.number()).collect();
    let missing: Vec<String> =
        (1..=of).filter(|number| !stored.contains(number)).map(|n| n.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if missing.len() > NAMED { ", …" } else { "" };
    let problem = match missing.len() {
        1 => format!("part {named} of {of} of {key} is missing"),
        _ => format!("parts {named}{more} of {of} of {key} are missing"),
    };
    let remedy = "Ingest them, each with its number. If the run has fewer parts, ingest all again with the right number.";
    Err(Error::refused(ErrorKind::PartsMissing, problem, remedy))
}

/// Checks that a part was read as the first one was.
fn check_equal(key: &RunKey, first: &StoredPart, part: &StoredPart) -> Result<()> {
    let (one, other) = (facts(first), facts(part));
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let Some(name) = names.into_iter().find(|name| one.get(*name) != other.get(*name)) else { return Ok(()) };
    let stated = |facts: &BTreeMap<String, String>| match facts.get(name) {
        Some(value) => format!("the {name} {value}"),
        None => format!("no {name}"),
    };
    let (number, first) = (part.row.number, first.row.number);
    let problem =
        format!("part {number} of {key} has {}, and part {first} has {}", stated(&other), stated(&one));
    Err(Error::refused(ErrorKind::PartsDiffer, problem, SAME_OPTIONS))
}

/// The remedy for parts that differ.
const SAME_OPTIONS: &str =
    "Ingest all parts with the same origin, options and CPU export, by the same version of perfpipe.";

/// All that must be the same of each part, by name.
fn facts(part: &StoredPart) -> BTreeMap<String, String> {
    let info = &part.info;
    let options = RunOptions { intervals: None, measures: None, ..info.options.clone() };
    let mut facts = BTreeMap::from(options);
    let readings = info.sources.iter().filter(|source| source.kind != SourceKind::Log);
    facts.extend(readings.map(|source| (format!("{} export", source.kind), content(source))));
    let settings = [
        ("origin", info.t0_ms.to_string()),
        ("maximum span", format!("{} ms", part.row.max_span_ms)),
        ("resolution", info.resolution.to_string()),
        ("samples", if info.samples_stored { "stored" } else { "left out" }.to_owned()),
        ("CPU offset", info.cpu_offset.to_string()),
        ("CPU look-back", info.cpu_lookback.to_string()),
        ("version of perfpipe", info.tool_version.clone()),
    ];
    facts.extend(settings.map(|(name, value)| (name.to_owned(), value)));
    facts
}

/// A file by its content, whatever its name is on each machine.
fn content(source: &SourceFile) -> String {
    format!("of {} bytes with CRC-32 {:08x}", source.bytes, source.crc32)
}

/// Checks that no log is in two parts.
fn check_logs(key: &RunKey, parts: &[StoredPart]) -> Result<()> {
    let mut seen: BTreeMap<(&str, Option<&str>, u64, u32), PartNumber> = BTreeMap::new();
    for part in parts {
        for log in logs(&part.info) {
            let known = (log.file.as_str(), log.member.as_deref(), log.bytes, log.crc32);
            let Some(other) = seen.insert(known, part.row.number).filter(|other| *other != part.row.number)
            else {
                continue;
            };
            let number = part.row.number;
            let problem = format!("part {number} of {key} has the same log as part {other}: {}", log.file);
            let remedy = "Ingest each log as one part, and drop or replace the other.";
            return Err(Error::refused(ErrorKind::PartsDoubled, problem, remedy));
        }
    }
    Ok(())
}

fn logs(info: &RunInfo) -> impl Iterator<Item = &SourceFile> {
    info.sources.iter().filter(|source| source.kind == SourceKind::Log)
}

/// Checks that a part has the readings of the server that the first one has.
fn check_readings(key: &RunKey, first: &StoredRun, other: &StoredRun, number: PartNumber) -> Result<()> {
    if first.cpu == other.cpu && first.series == other.series {
        return Ok(());
    }
    let problem = format!("part {number} of {key} has other readings of the server than the first part");
    Err(Error::refused(ErrorKind::PartsDiffer, problem, SAME_OPTIONS))
}
