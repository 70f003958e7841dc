//! Ingests one run, from its files to the commit.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::commit::{CommittedRun, CountedRun, commit};
#[cfg(feature = "fetch")]
use super::fetched::{NullStore, for_time, with_readings};
use super::options::{IngestOptions, check};
use super::remote_engines::{engines_note, engines_of_log, engines_pattern};
use super::same_samples::leave_out_same_samples;
use crate::pipeline::collector::collected::Collected;
use crate::pipeline::plan::{ReadPlan, RestartWindow};
use crate::pipeline::{PassOutcome, run};
use crate::source::cpu_export::series::{self, SeriesExport};
use crate::source::cpu_export::{CpuFacts, CpuSource};
use crate::source::{Inputs, LogSource};
use perfpipe_formats::injector::Injectors;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_formats::tools::format::check_clocks;
use perfpipe_model::counts::part::PartRow;
use perfpipe_model::error::{Error, ErrorKind, Place, REQUESTS_NEEDED, Result};
use perfpipe_model::run::damage::{Damage, Fault};
use perfpipe_model::run::infer::Clues;
use perfpipe_model::run::info::{RunInfo, SourceFile};
use perfpipe_model::run::key::{Repeat, RunKey};
use perfpipe_model::run::note::{Note, NoteKind};
use perfpipe_model::run::options::{CpuScale, PartNumber, RunOptions};
use perfpipe_model::run::replace::Replace;
use perfpipe_model::series::clock_guess::ClockGuess;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};
use perfpipe_model::series::server::ServerSeries;
use perfpipe_store::sink::{RunStore, RunWriter, Stage};

/// Result of an ingest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ingested {
    /// The run's metadata as stored.
    pub info: RunInfo,
    /// The parts of the key that were inferred, and from what. Empty if framework and test were given.
    pub inferred: Vec<String>,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
    /// True if the log was read twice because its earliest record was beyond the look-ahead.
    pub read_twice: bool,
    /// The number of the run's seconds that have a CPU reading.
    pub cpu_seconds: u32,
    /// The other series of the server, each with the number of the run's seconds that have a reading.
    pub series_seconds: Vec<(String, u32)>,
    /// A guess at what is wrong with the clocks, if the CPU readings miss more than half of the run.
    pub clock: Option<ClockGuess>,
    /// The number of successful requests of each elapsed time: (time, requests), ascending. Times are in the run's unit,
    /// `info.resolution`; [`Ingested::elapsed_ms`] has them in ms. Empty if there are more than a million different times.
    pub elapsed: Vec<(i32, u64)>,
    /// The names of the injectors that the log distinguishes.
    pub injectors: Vec<String>,
    /// The number of the part, if it is not a whole run.
    pub part: Option<PartNumber>,
}

impl Ingested {
    /// Returns the number of successful requests of each elapsed time: (ms, requests), ascending.
    pub fn elapsed_ms(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.elapsed.iter().map(|(time, requests)| (self.info.resolution.ms((*time).into()), *requests))
    }

    /// Describes a stored run of which only the metadata is known.
    pub(crate) fn new(info: RunInfo) -> Self {
        Self {
            info,
            inferred: Vec::new(),
            notes: Vec::new(),
            read_twice: false,
            cpu_seconds: 0,
            series_seconds: Vec::new(),
            clock: None,
            elapsed: Vec::new(),
            injectors: Vec::new(),
            part: None,
        }
    }
}

/// Reads the logs and the CPU export of one run into a store. The run appears as a whole or not at all.
///
/// Samples are streamed, so memory does not grow with the log. [`IngestOptions::progress`] can be read meanwhile.
///
/// # Errors
/// If a file can't be read or is not recognised, if there are too many rejects, or if the store refuses or fails.
/// Nothing is stored then.
///
/// ```
/// use perfpipe_ingest::store::parquet::ParquetStore;
/// use perfpipe_ingest::{IngestOptions, ingest};
/// # let dir = tempfile::tempdir().unwrap();
/// # let log = dir.path().join("perfectnio_2048.csv");
/// # std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n").unwrap();
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let store = ParquetStore::open(dir.path().join("data"))?;
/// let done = ingest(&store, &[log], &IngestOptions::default()).await?;
/// assert_eq!((done.info.key.to_string(), done.info.successes), ("perfectnio_2048".into(), 1));
/// # Ok::<(), perfpipe_ingest::Error>(())
/// # }).unwrap();
/// ```
pub async fn ingest<S: RunStore>(store: &S, files: &[PathBuf], options: &IngestOptions) -> Result<Ingested> {
    ingest_as(store, files, options, IngestContext::default()).await
}

/// What an ingest does beside what its options say.
#[derive(Clone, Copy)]
pub(crate) struct IngestContext<'a> {
    /// May refuse the key once it is known, before anything is stored.
    pub(crate) admit: &'a (dyn Fn(&RunKey) -> Result<()> + Sync),
    /// The number of the part of a run, if the logs are no whole run.
    pub(crate) part: Option<PartNumber>,
    /// Files whose text is kept elsewhere: each as it is called, and where its text is.
    pub(crate) kept: &'a [(PathBuf, PathBuf)],
}

impl Default for IngestContext<'_> {
    fn default() -> Self {
        Self { admit: &|_| Ok(()), part: None, kept: &[] }
    }
}

/// Ingests a run as [`ingest`] does, on these terms.
pub(crate) async fn ingest_as<S: RunStore>(
    store: &S,
    files: &[PathBuf],
    options: &IngestOptions,
    terms: IngestContext<'_>,
) -> Result<Ingested> {
    check(options)?;
    options.progress.go_on()?;
    #[cfg(feature = "fetch")]
    if options.asks() {
        let plain = for_time(files, options, terms.kept)?;
        let reading = IngestContext { kept: terms.kept, ..IngestContext::default() };
        let run = Box::pin(ingest_as(&NullStore, files, &plain, reading)).await?.info;
        let options = with_readings(&run, files, options).await?;
        return Box::pin(ingest_as(store, files, &options, terms)).await;
    }
    let progress = &options.progress;
    progress.begin();
    let prepared = Prepared::new(files, options, terms.kept).await?;
    prepared.check_samples(S::ONLY_SAMPLES)?;
    prepared.check_part(terms.part)?;
    let mut origin = prepared.t0(options);
    let mut restart_window = (S::CAN_RESTART && prepared.can_restart && origin.is_none())
        .then(|| RestartWindow::of(prepared.log_count(), options.sizes.look_ahead));
    let (mut read_twice, mut earliest) = (false, None);
    loop {
        let plan = ReadPlan {
            restart_window,
            earliest,
            part: terms.part.is_some(),
            ..prepared.plan(options, origin)
        };
        let parser = prepared.parser(options, terms.part.is_none())?;
        let writer = store.begin(options.given_key().as_ref(), prepared.keeps_samples(options)).await?;
        match run(plan, parser, writer, options.max_rejects, options.sizes, progress.clone()).await? {
            PassOutcome::Done(writer, collected) => {
                return prepared.commit(writer, collected, options, read_twice, terms).await;
            }
            PassOutcome::Earlier(earlier) => {
                prepared.check_earlier(earlier.t0_ms, options, read_twice)?;
                let looks_ahead = !earlier.late && restart_window.is_some_and(|window| window.at_once);
                origin = (!looks_ahead).then_some(earlier.t0_ms);
                earliest = Some(earlier.t0_ms);
                restart_window = None;
                read_twice = earlier.late;
                progress.begin();
            }
        }
    }
}

/// Returns the note on CPU readings of which none falls within the run, or too few because of their clock.
fn apart_note(
    (cpu, join): (&TimeSeries, CpuJoin),
    info: &RunInfo,
    covered: u32,
    clock: Option<&ClockGuess>,
) -> Option<Note> {
    let ((first, _), (last, _)) = (cpu.readings().first()?, cpu.readings().last()?);
    let found = match (covered, clock) {
        (0, _) => "no CPU reading falls within the run".to_owned(),
        (_, Some(_)) => format!("only {covered} of the run's {} seconds have a CPU reading", info.seconds),
        (_, None) => return None,
    };
    let shown = |second: i64| match jiff::Timestamp::from_second(second) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => second.to_string(),
    };
    let text = format!(
        "{found}: the readings are from {} to {}, the run is from {} to {} (UTC)",
        shown(first.saturating_add(join.offset)),
        shown(last.saturating_add(join.offset)),
        shown(info.t0_ms.div_euclid(1000)),
        shown(info.last_ms.div_euclid(1000)),
    );
    Some(Note::new(NoteKind::CpuApart, text))
}

/// Returns an error if there is no log among the inputs.
pub(crate) fn lacks_log(inputs: &Inputs) -> Option<Error> {
    if !inputs.logs.is_empty() {
        return None;
    }
    let cpu = inputs.cpu.as_ref().map(|cpu| format!("{} is a CPU export, and ", cpu.place()));
    Some(Error::usage(
        ErrorKind::NoLog,
        format!("{}none of the files is a JMeter log", cpu.unwrap_or_default()),
        "Name the log that belongs to the CPU export.",
    ))
}

/// The recognised inputs of a run, with its CPU readings.
pub(crate) struct Prepared {
    pub(crate) logs: Arc<Mutex<Vec<LogSource>>>,
    place: Place,
    stems: Vec<String>,
    /// The pattern of the threads of remote engines that the log names.
    engines: Option<String>,
    can_restart: bool,
    /// True if a log has no clock, so that the origin is the moment at which its tool began.
    lacks_clock: bool,
    /// False if a log has no single requests.
    has_requests: bool,
    pub(crate) cpu: Arc<TimeSeries>,
    /// The rule by which samples are joined to the readings.
    pub(crate) join: CpuJoin,
    pub(crate) cpu_file: Option<SourceFile>,
    /// The other series of the server.
    pub(crate) series: Vec<SeriesExport>,
    /// The form in which the CPU export is written.
    pub(crate) cpu_facts: Option<CpuFacts>,
    /// The unit of the readings in the CPU export, if it was given or is in the export.
    cpu_scale: Option<CpuScale>,
    pub(crate) notes: Vec<Note>,
    /// Damage that was found before the logs were read.
    pub(crate) damage: Vec<Damage>,
}

impl Prepared {
    async fn new(files: &[PathBuf], options: &IngestOptions, kept: &[(PathBuf, PathBuf)]) -> Result<Self> {
        let inputs = match kept {
            [] => Inputs::recognise_aside(files.to_vec(), options.source.clone()).await?,
            kept => Inputs::recognise_kept(files, kept, &options.source)?,
        };
        match lacks_log(&inputs) {
            Some(error) => Err(error),
            None => Self::of(inputs, options).await,
        }
    }

    /// Prepares recognised inputs by reading their CPU readings.
    pub(crate) async fn of(mut inputs: Inputs, options: &IngestOptions) -> Result<Self> {
        let (mut logs, source) = (std::mem::take(&mut inputs.logs), options.source.clone());
        let given = options.injector_pattern.is_some();
        let look = move || {
            let notes = leave_out_same_samples(&mut logs, &source);
            // Several logs are several engines already.
            let engines = match logs.as_mut_slice() {
                [only] if !given => engines_of_log(only, &source),
                _ => Vec::new(),
            };
            (logs, notes, engines)
        };
        let looked = tokio::task::spawn_blocking(look).await;
        let (logs, notes, engines) = looked.map_err(|error| Error::store("looking at the logs", error))?;
        inputs.logs = logs;
        inputs.notes.extend(notes);
        inputs.notes.extend(engines_note(&engines));
        let clocks = inputs.logs.iter().map(LogSource::clock);
        let lacks_clock = check_clocks(clocks, inputs.cpu.as_ref().map(CpuSource::place), options.origin)?;
        let first = inputs.logs.first();
        let mut prepared = Self {
            place: first.map(|first| first.place().clone()).unwrap_or_default(),
            stems: first.map(LogSource::stems).unwrap_or_default(),
            can_restart: inputs.logs.iter().all(LogSource::can_restart),
            lacks_clock,
            has_requests: inputs.logs.iter().all(LogSource::has_requests),
            cpu: Arc::default(),
            join: options.cpu.join(&TimeSeries::default()),
            cpu_file: None,
            series: Vec::new(),
            cpu_facts: None,
            cpu_scale: None,
            engines: (!engines.is_empty()).then(|| engines_pattern(&engines)),
            notes: inputs.notes.into_iter().map(Note::from).collect(),
            damage: inputs.damage,
            logs: Arc::new(Mutex::new(inputs.logs)),
        };
        let export = match inputs.cpu {
            Some(cpu) => Some(cpu.read(&options.source).await?),
            None => options.fetched.cpu.clone(),
        };
        if let Some(export) = export {
            prepared.join = options.cpu.join(&export.series);
            prepared.notes.extend(options.cpu.note(&export.series));
            prepared.cpu = Arc::new(export.series);
            prepared.cpu_file = Some(export.file);
            prepared.cpu_facts = Some(export.facts);
            prepared.cpu_scale = export.scale;
            prepared.notes.extend(export.notes);
            prepared.damage.extend(export.damage);
        }
        prepared.series = series::read(&options.series, &options.source).await?;
        prepared.series.extend(options.fetched.series.iter().cloned());
        prepared.series.sort_by(|one, other| one.series.name.cmp(&other.series.name));
        for export in &mut prepared.series {
            prepared.notes.append(&mut export.notes);
            prepared.damage.append(&mut export.damage);
        }
        Ok(prepared)
    }

    /// Returns t0 in epoch ms, if it was given.
    pub(crate) fn t0(&self, options: &IngestOptions) -> Option<i64> {
        options.origin.filter(|_| !self.lacks_clock)
    }

    /// Returns true if the samples are stored: if that is wanted, and all logs have some.
    fn keeps_samples(&self, options: &IngestOptions) -> bool {
        options.keep_samples && self.has_requests
    }

    /// Fails if the samples are all that is wanted, and a log has none.
    fn check_samples(&self, wanted: bool) -> Result<()> {
        if self.has_requests || !wanted {
            return Ok(());
        }
        let problem = format!("{} has no single requests, only histograms of them", self.place);
        Err(Error::refused(ErrorKind::NoRequests, problem, REQUESTS_NEEDED))
    }

    /// Fails if a log has no clock and is to be a part of a run: seconds of the parts could not be distinguished.
    fn check_part(&self, part: Option<PartNumber>) -> Result<()> {
        if part.is_none() || !self.lacks_clock {
            return Ok(());
        }
        let problem = format!("{} has no clock, so it can't be a part of a run", self.place);
        let remedy = "Ingest the logs of all machines together, as one run.";
        Err(Error::refused(ErrorKind::PartWithoutClock, problem, remedy))
    }

    pub(crate) fn plan(&self, options: &IngestOptions, origin: Option<i64>) -> ReadPlan {
        ReadPlan {
            sources: Arc::clone(&self.logs),
            layout: options.source.layout.clone(),
            origin,
            earliest: None,
            given: self.t0(options),
            injector: options.injector.clone(),
            part: false,
            begin: options.origin.filter(|_| self.lacks_clock),
            samples: self.keeps_samples(options),
            time_unit: options.source.time_unit,
            max_span_ms: options.max_span_ms,
            block_size: options.sizes.block_size,
            look_ahead: options.sizes.look_ahead,
            restart_window: None,
            limit: None,
        }
    }

    /// Creates a parser for the logs of a whole run, or of a part of one.
    ///
    /// # Errors
    /// If the pattern of injectors is no regular expression.
    pub(crate) fn parser(&self, options: &IngestOptions, is_whole: bool) -> Result<Parser> {
        let dates = options.source.dates();
        // Each part shows the engines of its own log at most, and the merged run is to be that of all logs.
        let engines = self.engines.as_deref().filter(|_| is_whole);
        let pattern = options.injector_pattern.as_deref().or(engines);
        let injectors = Injectors::new(pattern)?;
        let parser = Parser::new(dates, injectors, Arc::clone(&self.cpu), self.join);
        let unit = options.source.time_unit.unwrap_or_default();
        Ok(parser.in_unit(unit).only(options.only.clone()))
    }

    /// Fails if reading the log again would not help to find t0.
    pub(crate) fn check_earlier(
        &self,
        earliest: i64,
        options: &IngestOptions,
        read_twice: bool,
    ) -> Result<()> {
        if read_twice {
            return Err(Error::input(
                ErrorKind::FileChanged,
                self.place.clone(),
                "it changed while it was being read",
                "Ingest it again once nothing writes to it.",
            ));
        }
        let given = self.t0(options);
        if self.can_restart && given.is_none() {
            return Ok(());
        }
        if self.lacks_clock {
            let problem =
                "its earliest record comes later than perfpipe looked ahead, and a pipe can't be read again";
            return Err(Error::input(ErrorKind::ReadOnce, self.place.clone(), problem, "Give it as a file."));
        }
        Err(self.other_origin(given, earliest))
    }

    /// The number of files and pipes with logs.
    fn log_count(&self) -> usize {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns t0: the given origin, or else the smallest timeStamp of the logs.
    ///
    /// # Errors
    /// If a record comes before the given origin.
    pub(crate) fn origin(&self, earliest: i64, options: &IngestOptions) -> Result<i64> {
        match self.t0(options) {
            given @ Some(origin) if earliest < origin => Err(self.other_origin(given, earliest)),
            given => Ok(given.unwrap_or(earliest)),
        }
    }

    fn other_origin(&self, given: Option<i64>, earliest: i64) -> Error {
        Error::Origin { place: Box::new(self.place.clone()), given, earliest }
    }

    async fn commit<W: RunWriter>(
        self,
        mut writer: W,
        mut collected: Box<Collected>,
        options: &IngestOptions,
        read_twice: bool,
        terms: IngestContext<'_>,
    ) -> Result<Ingested> {
        options.progress.go_on()?;
        let (stage, collected) = (options.progress.commit(), &mut *collected);
        let (Some(earliest), Some(last_ms)) = (collected.earliest_ms, collected.latest_ms) else {
            return Err(self.too_little_taken(collected));
        };
        // A part is a run only once it is merged.
        if terms.part.is_none() && collected.is_mostly_rejected() {
            return Err(self.too_little_taken(collected));
        }
        let t0_ms = self.origin(earliest, options)?;
        let inferred = self.clues(collected, options).infer();
        let damage = collected.take_damage(&self.damage);
        let key = match options.repeat {
            Repeat::Number(repeat) => inferred.key.with_repeat(repeat),
            Repeat::Next => writer.claim_next(inferred.key).await?,
        };
        (terms.admit)(&key)?;
        let info = self.info(collected, options, key, !inferred.notes.is_empty(), t0_ms, last_ms);
        let info = RunInfo { damage, ..info };
        let clock = self.clock_guess(collected, options, &info);
        let row = |number| {
            let row = PartRow { number, max_span_ms: options.max_span_ms };
            Ok::<_, Error>((row, collected.totals.part_names()?))
        };
        let part = terms.part.map(row).transpose()?;
        let series = self.series.into_iter().map(|export| export.series);
        let series: Vec<ServerSeries> = series.filter(|series| !series.readings.is_empty()).collect();
        let run = CountedRun {
            info: &info,
            totals: &collected.totals,
            samples: collected.samples(),
            rejects: &mut collected.rejects,
            cpu: (&self.cpu, self.join),
            series: &series,
            replace: replaceable(options, !inferred.notes.is_empty(), terms.part.is_some()),
            stage,
            part,
        };
        let CommittedRun { cpu_seconds, elapsed, injectors } = commit(writer, run).await?;
        stage.set(Stage::Stored);
        let mut notes = self.notes;
        notes.extend(collected.take_notes().into_iter().map(Note::from));
        notes.extend(apart_note((&self.cpu, self.join), &info, cpu_seconds, clock.as_ref()));
        let covered: Vec<_> = series.iter().map(|series| (series, series.covered(&info))).collect();
        notes.extend(covered.iter().filter_map(|(series, seconds)| series.apart_note(*seconds)));
        let series_seconds =
            covered.into_iter().map(|(series, seconds)| (series.name.clone(), seconds)).collect();
        Ok(Ingested {
            info,
            inferred: inferred.notes,
            notes,
            read_twice,
            cpu_seconds,
            series_seconds,
            clock,
            elapsed,
            injectors,
            part: terms.part,
        })
    }

    /// Guesses what is wrong with the clocks of the log and of the CPU readings.
    fn clock_guess(
        &self,
        collected: &Collected,
        options: &IngestOptions,
        info: &RunInfo,
    ) -> Option<ClockGuess> {
        let guess = ClockGuess::of(&self.cpu, self.join, info.t0_ms, info.last_ms)?;
        let cpu_assumes = self.cpu_facts.as_ref().is_some_and(CpuFacts::assumes_zone);
        let east = options.source.time_zone.seconds_east(info.t0_ms);
        Some(guess.in_zone(east, collected.assumes_zone(), cpu_assumes))
    }

    /// Returns the error for a log with no accepted record, or hardly any, with the reason why the others were rejected.
    pub(crate) fn too_little_taken(&self, collected: &mut Collected) -> Error {
        if let Some(damage) = collected.take_damage(&self.damage).first() {
            return Fault::harm(damage.kind.into(), damage.problem.clone()).lost().at(self.place.clone());
        }
        collected.mostly_rejected(self.place.clone(), true)
    }

    pub(crate) fn clues(&self, collected: &Collected, options: &IngestOptions) -> Clues {
        let label = collected.totals.single_label().map(str::to_owned);
        options.clues(&collected.endpoints, label, self.stems.clone())
    }

    fn info(
        &self,
        collected: &Collected,
        options: &IngestOptions,
        key: RunKey,
        inferred: bool,
        t0_ms: i64,
        last_ms: i64,
    ) -> RunInfo {
        let totals = &collected.totals;
        let (intervals, measures) = (collected.intervals, Some(collected.measures));
        let mut noted = RunOptions { intervals, measures, ..options.noted.clone() };
        noted.note_scale(self.cpu_scale);
        RunInfo {
            key,
            t0_ms,
            last_ms,
            last_end_ms: collected.ends.requests,
            transactions_end_ms: collected.ends.transactions,
            resolution: collected.resolution(),
            seconds: u32::try_from((last_ms - t0_ms) / 1000 + 1).unwrap_or(u32::MAX),
            successes: totals.successes,
            failures: totals.failures,
            transactions: totals.transactions,
            rejects: collected.rejects.len(),
            samples_stored: self.keeps_samples(options),
            inferred,
            sources: collected
                .sources
                .iter()
                .chain(&self.cpu_file)
                .cloned()
                .chain(series::files(&self.series))
                .collect(),
            cpu_offset: self.join.offset,
            cpu_lookback: self.join.lookback,
            options: noted,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            damage: Vec::new(),
        }
    }
}

/// Returns which earlier run of the key may be replaced: with a key that was inferred, or by a part, only one of the same
/// file.
fn replaceable(options: &IngestOptions, inferred: bool, is_part: bool) -> Replace {
    match options.replace {
        true => Replace::Any,
        false if inferred || is_part => Replace::SameFile,
        false => Replace::SameKey,
    }
}
