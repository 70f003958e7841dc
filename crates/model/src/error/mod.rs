//! The one error type of the crate: each carries what went wrong, where, and what to do about it.

pub mod kind;
pub mod secrets;

use std::fmt;
use std::path::{Path, PathBuf};

pub use self::kind::ErrorKind;
use crate::run::key::RunKey;
use crate::run::reject_reason::RejectReason;

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The call: an option, a name.
    Usage,
    /// An input file.
    Input,
    /// A run, or a part of it, that is not stored.
    Missing,
    /// A store, a file, the machine, or what another writer does.
    Store,
}

/// An error of reading input files or of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system could not read or write a file.
    #[error("{place}: {source}")]
    Io {
        /// Where.
        place: Box<Place>,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it has to be.
    #[error("{place}: {problem}")]
    Input {
        /// Which of the known faults it is.
        kind: ErrorKind,
        /// Where.
        place: Box<Place>,
        /// The problem, as a clause.
        problem: String,
        /// The remedy, as a sentence.
        remedy: String,
    },
    /// The log's smallest timeStamp comes before the origin that was given or found at its head, and the log can't be
    /// read again.
    #[error("{place}: {}", of_origin(*given, *earliest))]
    Origin {
        /// Where.
        place: Box<Place>,
        /// The origin that was given, epoch ms.
        given: Option<i64>,
        /// The smallest timeStamp, epoch ms.
        earliest: i64,
    },
    /// The log's first timeStamp is a time of this century in another unit than milliseconds only.
    #[error("{place}: {problem}")]
    TimeUnit {
        /// Where.
        place: Box<Place>,
        /// The problem, as a clause.
        problem: String,
        /// The unit in which it would be a time of this century: `s`, `us` or `ns`.
        unit: String,
    },
    /// More records were rejected than the limit allows; nothing was stored.
    #[error("{place}: {}{}", reason.with_value(value.as_deref()), past_limit(*rejects, *limit))]
    Rejects {
        /// The first reject past the limit.
        place: Box<Place>,
        /// Why that record was rejected.
        reason: RejectReason,
        /// The value at fault, where there is one.
        value: Option<String>,
        /// Number of rejects so far.
        rejects: u64,
        /// The limit.
        limit: u64,
    },
    /// The arguments or options contradict each other.
    #[error("{problem}")]
    Usage {
        /// Which of the known faults it is.
        kind: ErrorKind,
        /// The problem, as a clause.
        problem: String,
        /// The remedy, as a sentence.
        remedy: String,
    },
    /// The store refuses: a run that is not there, one that must not be replaced, another writer at work.
    #[error("{problem}")]
    Refused {
        /// Which of the known faults it is.
        kind: ErrorKind,
        /// The problem, as a clause.
        problem: String,
        /// The remedy, as a sentence.
        remedy: String,
    },
    /// The run is not stored.
    #[error("the store has no run {key}")]
    NoRun {
        /// Its key.
        key: RunKey,
    },
    /// The run was stored without its samples.
    #[error("the run {key} was stored without its samples")]
    NoSamples {
        /// Its key.
        key: RunKey,
    },
    /// The run has no samples, since its log has no single requests.
    #[error("the run {key} has no samples, since its log has no single requests, only histograms")]
    NoRequests {
        /// Its key.
        key: RunKey,
    },
    /// The run that was being read gave way to another of its key.
    #[error("the run {run} was replaced or dropped while it was being read")]
    Replaced {
        /// Its key.
        run: String,
    },
    /// The store's own files or server failed.
    #[error("{what}: {source}")]
    Store {
        /// The operation that failed, as in "copying samples to Postgres".
        what: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a store failed, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
struct StoreFailure {
    kind: ErrorKind,
    why: String,
    remedy: &'static str,
}

/// The end of the message of a reject that is an error: none is allowed, or there are too many.
fn past_limit(rejects: u64, limit: u64) -> String {
    match limit {
        0 => ", and no reject is allowed".into(),
        _ => format!("; that makes {rejects} rejects, and the limit is {limit}"),
    }
}

/// The problem with an origin.
fn of_origin(given: Option<i64>, earliest: i64) -> String {
    match given {
        Some(given) => format!("its smallest timeStamp is {earliest}, before the given origin, {given}"),
        None => format!(
            "its smallest timeStamp, {earliest}, comes later in the log than perfpipe looked \
                         ahead"
        ),
    }
}

impl Error {
    /// An operating-system error at a place.
    pub fn io(place: impl Into<Place>, source: std::io::Error) -> Self {
        Self::Io { place: Box::new(place.into()), source }
    }

    /// A file that is not what it has to be: what is wrong as a clause, the remedy as a sentence.
    pub fn input(
        kind: ErrorKind,
        place: impl Into<Place>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Input { kind, place: Box::new(place.into()), problem: problem.into(), remedy: remedy.into() }
    }

    /// A refusal of the store: what is wrong, and the remedy as a sentence.
    pub fn refused(kind: ErrorKind, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused { kind, problem: problem.into(), remedy: remedy.into() }
    }

    /// The refusal to read a run that is not stored.
    pub fn missing_run(key: &RunKey) -> Self {
        Self::NoRun { key: key.clone() }
    }

    /// The refusal to read samples of a run that has none.
    ///
    /// `had_requests` is false if its log had no single requests.
    pub fn without_samples(key: &RunKey, had_requests: bool) -> Self {
        let key = key.clone();
        if had_requests { Self::NoSamples { key } } else { Self::NoRequests { key } }
    }

    /// That the run that was being read gave way to another.
    pub fn replaced(key: &crate::run::key::RunKey) -> Self {
        Self::Replaced { run: key.to_string() }
    }

    /// Things asked for that contradict each other, and the remedy as a sentence.
    pub fn usage(kind: ErrorKind, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Usage { kind, problem: problem.into(), remedy: remedy.into() }
    }

    /// That a thread at work panicked.
    pub fn stopped(what: impl Into<String>) -> Self {
        Self::store(what, "it stopped unexpectedly (a bug; please report it)")
    }

    /// That something can't be as perfpipe has it: what was being done, and what was found.
    pub fn bug(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::failed(
            ErrorKind::Bug,
            what,
            why,
            "This is a bug in perfpipe, not a fault of your files. Please report it with this message.",
        )
    }

    /// That the system gave no thread.
    pub fn no_thread(error: std::io::Error) -> Self {
        Self::store("starting a thread", error)
    }

    /// An error of the store, with what was being done.
    pub fn store(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Store { what: what.into(), source: source.into() }
    }

    /// An error of the store, with what was being done, why it failed, and the remedy as a sentence.
    pub fn failed(
        kind: ErrorKind,
        what: impl Into<String>,
        why: impl Into<String>,
        remedy: &'static str,
    ) -> Self {
        Self::store(what, StoreFailure { kind, why: why.into(), remedy })
    }

    /// An error of reading or writing that knows its kind and remedy, a sentence.
    pub fn io_failure(kind: ErrorKind, why: impl Into<String>, remedy: &'static str) -> std::io::Error {
        std::io::Error::other(StoreFailure { kind, why: why.into(), remedy })
    }

    /// Returns the kind of an error of reading or writing.
    pub fn kind_of(error: &std::io::Error) -> ErrorKind {
        failure_of(error).map_or(ErrorKind::Io, |failure| failure.kind)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Input { kind, .. } | Self::Usage { kind, .. } | Self::Refused { kind, .. } => *kind,
            Self::Io { source, .. } => Self::kind_of(source),
            Self::Rejects { .. } => ErrorKind::TooManyRejects,
            Self::Origin { .. } => ErrorKind::Origin,
            Self::TimeUnit { .. } => ErrorKind::TimeUnit,
            Self::NoRun { .. } => ErrorKind::NoRun,
            Self::NoSamples { .. } => ErrorKind::NoSamples,
            Self::NoRequests { .. } => ErrorKind::NoRequests,
            Self::Replaced { .. } => ErrorKind::Replaced,
            Self::Store { source, .. } => {
                failure_of(source.as_ref()).map_or(ErrorKind::StoreFailed, |failure| failure.kind)
            }
        }
    }

    /// Returns what the error is about, as a service needs it for the status of its answer.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Usage { .. } => ErrorClass::Usage,
            Self::Input { .. } | Self::Rejects { .. } | Self::Origin { .. } | Self::TimeUnit { .. } => {
                ErrorClass::Input
            }
            Self::NoRun { .. } | Self::NoSamples { .. } | Self::NoRequests { .. } => ErrorClass::Missing,
            Self::Io { .. } | Self::Refused { .. } | Self::Replaced { .. } | Self::Store { .. } => {
                ErrorClass::Store
            }
        }
    }

    /// The name of what it is about, which never changes: [`ErrorKind::code`].
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// Returns the remedy as a sentence, if there is one.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Input { remedy, .. } | Self::Usage { remedy, .. } | Self::Refused { remedy, .. } => {
                remedy.clone()
            }
            Self::Origin { earliest, .. } => format!("Set IngestOptions::origin to {earliest}."),
            Self::TimeUnit { unit, .. } => {
                format!("Set SourceOptions::time_unit to {unit}, or to ms for milliseconds.")
            }
            Self::Rejects { limit: 0, .. } => {
                "Correct the record, or allow rejects (IngestOptions::max_rejects): then the run is stored \
                 without the record, which is kept beside it."
                    .to_owned()
            }
            Self::Rejects { .. } => "Look at these records. If the run may be stored without them, raise \
                                     IngestOptions::max_rejects: they are kept beside it."
                .to_owned(),
            Self::NoRun { .. } => "Choose one of the runs that are stored.".to_owned(),
            Self::NoSamples { .. } => {
                "Ingest it again with its samples (IngestOptions::keep_samples).".to_owned()
            }
            Self::NoRequests { .. } => REQUESTS_NEEDED.to_owned(),
            Self::Replaced { .. } => "Read it again.".to_owned(),
            Self::Io { source, .. } => remedy_of(source)?.to_owned(),
            Self::Store { source, .. } => remedy_of(source.as_ref())?.to_owned(),
        })
    }
}

/// Returns the failure that an error is, or that an error of reading or writing carries.
fn failure_of<'a>(source: &'a (dyn std::error::Error + 'static)) -> Option<&'a StoreFailure> {
    source.downcast_ref().or_else(|| source.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref())
}

/// Returns the remedy for a failure or an operating-system error, if it has one.
fn remedy_of(source: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match failure_of(source) {
        Some(failure) => Some(failure.remedy),
        None => io_remedy(source.downcast_ref()?),
    }
}

/// The remedy where single requests are needed.
pub const REQUESTS_NEEDED: &str =
    "Give a log of requests. Histograms of intervals have figures by second and label only.";

/// The remedy for an operating-system error, if its kind has one.
fn io_remedy(error: &std::io::Error) -> Option<&'static str> {
    use std::io::ErrorKind;
    // It has no kind of its own.
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EMFILE) {
        return Some("Allow more open files (see ulimit -n).");
    }
    match error.kind() {
        ErrorKind::NotFound => Some("Check the name and its folder."),
        ErrorKind::PermissionDenied => Some("Check who may read and write there."),
        ErrorKind::ReadOnlyFilesystem => Some("Name a folder that can be written to."),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("Make room there, or name another folder."),
        ErrorKind::FileTooLarge => Some("Allow larger files there (see ulimit -f), or name another folder."),
        _ => None,
    }
}

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in the input: as much of file, member, line and byte as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it (`-` is standard input).
    pub file: PathBuf,
    /// The member inside a zip.
    pub member: Option<String>,
    /// Line number, from 1, of the first line of the record.
    pub line: Option<u64>,
    /// Byte offset, from 0, in the unpacked log.
    pub byte: Option<u64>,
}

impl Place {
    /// A place that is a whole file.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self { file: path.as_ref().to_owned(), ..Self::default() }
    }

    /// Returns this place narrowed to a member of the zip.
    #[must_use]
    pub fn member(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// Returns this place narrowed to a line (from 1) and a byte (from 0).
    #[must_use]
    pub fn at(mut self, line: u64, byte: u64) -> Self {
        self.line = Some(line);
        self.byte = Some(byte);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.as_os_str() == "-" {
            write!(f, "standard input")?;
        } else {
            write!(f, "{}", self.file.display())?;
        }
        if let Some(member) = &self.member {
            write!(f, ", member {member}")?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(byte) = self.byte {
            write!(f, " (byte {byte})")?;
        }
        Ok(())
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self::file(path)
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        Self::file(path)
    }
}
