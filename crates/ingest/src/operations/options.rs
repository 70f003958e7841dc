//! The options of an ingest.

use std::ops::RangeInclusive;

use crate::pipeline::{PipelineOptions, Progress};
use crate::source::{CpuExport, SeriesExport, SourceOptions};
#[cfg(feature = "fetch")]
use crate::source::{ReadingsSource, SeriesSource};
use perfpipe_formats::endpoint::Endpoints;
use perfpipe_formats::summaries::keys::NamePattern;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::infer::{Clues, Frameworks};
use perfpipe_model::run::info::LONGEST_SPAN_MS;
use perfpipe_model::run::key::{LAST_REPEAT, Repeat, RunKey, name_fault};
use perfpipe_model::run::options::RunOptions;
use perfpipe_model::run::reject_reason::USUALLY_ALLOWED;
use perfpipe_model::series::cpu::CpuChoice;
use perfpipe_model::series::server::{self, SeriesFile};

/// Options for reading and storing a run.
///
/// ```
/// use perfpipe_ingest::IngestOptions;
/// use perfpipe_ingest::run::Repeat;
///
/// let options = IngestOptions::default().with_framework("go").with_test("2048").with_repeat(Repeat::Next);
/// assert_eq!((options.framework.as_deref(), options.max_rejects), (Some("go"), 1000));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IngestOptions {
    /// The system under test. `None` infers it.
    pub framework: Option<String>,
    /// The test. `None` infers it.
    pub test: Option<String>,
    /// The frameworks by port, from which a framework is inferred.
    pub frameworks: Frameworks,
    /// How the logs of a folder are named, if their names contain the framework, the test or the repeat. Of files that are
    /// named, nothing is read from their names.
    pub file_names: Option<NamePattern>,
    /// The repeat of framework and test; by default the first.
    pub repeat: Repeat,
    /// True if any stored run of the same key may be replaced, even if the key was inferred.
    pub replace: bool,
    /// t0 in epoch ms: the run begins then. No record may come before it. By default it is the smallest timeStamp. It
    /// is needed for pipes whose earliest record comes late. For logs without a clock, such as hey's, it is the moment
    /// at which the tool began.
    pub origin: Option<i64>,
    /// The maximum distance of a record from the first accepted one, or from the origin if that is given, in ms; at
    /// most 12 days.
    pub max_span_ms: u64,
    /// The times (epoch ms) of the records to read. All others are left out and counted, as those of another run that was
    /// appended to the same log.
    pub only: Option<RangeInclusive<i64>>,
    /// The maximum number of rejected records.
    pub max_rejects: u64,
    /// A regular expression that finds the injector's host name in threadName.
    pub injector_pattern: Option<String>,
    /// The name of the injector that wrote the logs; the hosts in them come after it. By default several logs are
    /// named by their files.
    pub injector: Option<String>,
    /// The time zone, the CPU export's item, and the logs' layout if it can't be detected.
    pub source: SourceOptions,
    /// The rule by which samples are joined to CPU readings.
    pub cpu: CpuChoice,
    /// Where the CPU readings of the run's time are asked for, instead of an export. The logs are then read twice.
    #[cfg(feature = "fetch")]
    pub cpu_from: Option<ReadingsSource>,
    /// Where other series of the server are asked for.
    #[cfg(feature = "fetch")]
    pub series_from: Vec<SeriesSource>,
    /// The readings that were asked for.
    pub(crate) fetched: Fetched,
    /// Files with other series of the server, whose clock is shifted as that of the CPU readings.
    pub series: Vec<SeriesFile>,
    /// True if the samples are stored besides their counts.
    pub keep_samples: bool,
    /// The numbers of threads and the sizes of buffers.
    pub sizes: PipelineOptions,
    /// The handle by which the ingest can be followed. It begins at zero for each ingest.
    pub progress: Progress,
    /// Options to be recorded with the run. They do not change how it is read.
    pub noted: RunOptions,
}

/// The readings of a run that were asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fetched {
    pub(crate) cpu: Option<CpuExport>,
    pub(crate) series: Vec<SeriesExport>,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            framework: None,
            test: None,
            frameworks: Frameworks::default(),
            file_names: None,
            repeat: Repeat::default(),
            replace: false,
            origin: None,
            max_span_ms: 7 * 24 * 3_600_000,
            only: None,
            max_rejects: USUALLY_ALLOWED,
            injector_pattern: None,
            injector: None,
            source: SourceOptions::default(),
            cpu: CpuChoice::default(),
            #[cfg(feature = "fetch")]
            cpu_from: None,
            #[cfg(feature = "fetch")]
            series_from: Vec::new(),
            fetched: Fetched::default(),
            series: Vec::new(),
            keep_samples: true,
            sizes: PipelineOptions::default(),
            progress: Progress::default(),
            noted: RunOptions::default(),
        }
    }
}

/// Checks the names of a run that are given.
///
/// # Errors
/// If no run can have one of them.
pub(crate) fn check_names(framework: Option<&str>, test: Option<&str>) -> Result<()> {
    for (what, name) in [("framework", framework), ("test", test)] {
        if let Some(fault) = name.and_then(name_fault) {
            return Err(Error::usage(
                ErrorKind::RunName,
                format!("the name of the {what} {fault}"),
                "Give it another name, or leave it out.",
            ));
        }
    }
    Ok(())
}

/// Checks the options.
///
/// # Errors
/// If one of them is out of range or empty.
pub(crate) fn check(options: &IngestOptions) -> Result<()> {
    if options.max_span_ms > LONGEST_SPAN_MS {
        return Err(Error::usage(
            ErrorKind::SpanTooLong,
            "the maximum span of the records is more than 12 days",
            "Give at most 12 days.",
        ));
    }
    check_names(options.framework.as_deref(), options.test.as_deref())?;
    if let Repeat::Number(repeat) = options.repeat
        && !(1..=LAST_REPEAT).contains(&repeat)
    {
        let problem = format!("the repeat is {repeat}, and must be from 1 to {LAST_REPEAT}");
        return Err(Error::usage(ErrorKind::RepeatRange, problem, "Count repeats from 1."));
    }
    let files = options.series.iter().map(|of| (of.name.as_str(), of.unit.as_str()));
    #[cfg(feature = "fetch")]
    let files = files.chain(options.series_from.iter().map(|of| (of.name.as_str(), of.unit.as_str())));
    server::check(files)
}

impl IngestOptions {
    /// Sets the system under test.
    #[must_use]
    pub fn with_framework(mut self, framework: impl Into<String>) -> Self {
        self.framework = Some(framework.into());
        self
    }

    /// Sets the test.
    #[must_use]
    pub fn with_test(mut self, test: impl Into<String>) -> Self {
        self.test = Some(test.into());
        self
    }

    /// Sets the frameworks by port.
    #[must_use]
    pub fn with_frameworks(mut self, frameworks: Frameworks) -> Self {
        self.frameworks = frameworks;
        self
    }

    /// Sets how the logs of a folder are named.
    #[must_use]
    pub fn with_file_names(mut self, file_names: NamePattern) -> Self {
        self.file_names = Some(file_names);
        self
    }

    /// Sets the repeat.
    #[must_use]
    pub fn with_repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Sets whether any stored run of the same key may be replaced.
    #[must_use]
    pub fn with_replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// Sets t0, or the moment at which the tool of logs without a clock began, in epoch ms.
    #[must_use]
    pub fn with_origin(mut self, origin: i64) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Sets the times (epoch ms) of the records to read.
    #[must_use]
    pub fn with_only(mut self, only: RangeInclusive<i64>) -> Self {
        self.only = Some(only);
        self
    }

    /// Sets the maximum distance of a record from the first accepted one, in ms.
    #[must_use]
    pub fn with_max_span_ms(mut self, max_span_ms: u64) -> Self {
        self.max_span_ms = max_span_ms;
        self
    }

    /// Sets the maximum number of rejected records.
    #[must_use]
    pub fn with_max_rejects(mut self, max_rejects: u64) -> Self {
        self.max_rejects = max_rejects;
        self
    }

    /// Sets the regular expression that finds the injector's host name in threadName.
    #[must_use]
    pub fn with_injector_pattern(mut self, injector_pattern: impl Into<String>) -> Self {
        self.injector_pattern = Some(injector_pattern.into());
        self
    }

    /// Sets the name of the injector that wrote the logs.
    #[must_use]
    pub fn with_injector(mut self, injector: impl Into<String>) -> Self {
        self.injector = Some(injector.into());
        self
    }

    /// Sets how the inputs are read.
    #[must_use]
    pub fn with_source(mut self, source: SourceOptions) -> Self {
        self.source = source;
        self
    }

    /// Sets how samples are joined to CPU readings.
    #[must_use]
    pub fn with_cpu(mut self, cpu: CpuChoice) -> Self {
        self.cpu = cpu;
        self
    }

    /// Sets where the CPU readings of the run's time are asked for.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn with_cpu_from(mut self, cpu_from: ReadingsSource) -> Self {
        self.cpu_from = Some(cpu_from);
        self
    }

    /// Sets where other series of the server are asked for.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn with_series_from(mut self, series_from: Vec<SeriesSource>) -> Self {
        self.series_from = series_from;
        self
    }

    /// The host that is asked for CPU readings, and the URL of the readings.
    pub(crate) fn asked_cpu(&self) -> Option<(String, String)> {
        #[cfg(feature = "fetch")]
        let asked = self.cpu_from.as_ref().map(|source| (source.host().to_owned(), source.url()));
        #[cfg(not(feature = "fetch"))]
        let asked = None;
        asked
    }

    /// The URLs of other series of the server that are asked for, by their names.
    pub(crate) fn asked_series(&self) -> Vec<(String, String)> {
        #[cfg(feature = "fetch")]
        let asked = self.series_from.iter().map(|of| (of.name.clone(), of.source.url())).collect();
        #[cfg(not(feature = "fetch"))]
        let asked = Vec::new();
        asked
    }

    /// Returns options by which no CPU readings are asked for.
    pub(crate) fn without_asked_cpu(self) -> Self {
        #[cfg(feature = "fetch")]
        let this = Self { cpu_from: None, ..self };
        #[cfg(not(feature = "fetch"))]
        let this = self;
        this
    }

    /// Returns true if readings are asked for.
    #[cfg(feature = "fetch")]
    pub(crate) fn asks(&self) -> bool {
        self.cpu_from.is_some() || !self.series_from.is_empty()
    }

    /// Sets the files with other series of the server.
    #[must_use]
    pub fn with_series(mut self, series: Vec<SeriesFile>) -> Self {
        self.series = series;
        self
    }

    /// Sets whether the samples are stored besides their counts.
    #[must_use]
    pub fn with_keep_samples(mut self, keep_samples: bool) -> Self {
        self.keep_samples = keep_samples;
        self
    }

    /// Sets the number of threads and the sizes of buffers.
    #[must_use]
    pub fn with_sizes(mut self, sizes: PipelineOptions) -> Self {
        self.sizes = sizes;
        self
    }

    /// Sets the options to be recorded with the run.
    #[must_use]
    pub fn with_noted(mut self, noted: RunOptions) -> Self {
        self.noted = noted;
        self
    }

    /// Sets the handle by which the ingest can be followed.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Returns the clues to a run's key: those of its logs, and what was given.
    pub(crate) fn clues(&self, endpoints: &Endpoints, label: Option<String>, stems: Vec<String>) -> Clues {
        Clues {
            framework: self.framework.clone(),
            test: self.test.clone(),
            path: endpoints.path.one(),
            host: endpoints.host.one(),
            label,
            stems,
            frameworks: self.frameworks.clone(),
        }
    }

    /// Returns the key if all of it was given.
    pub(crate) fn given_key(&self) -> Option<RunKey> {
        let Repeat::Number(repeat) = self.repeat else { return None };
        Some(RunKey::new(self.framework.clone()?, self.test.clone()?).with_repeat(repeat))
    }
}
