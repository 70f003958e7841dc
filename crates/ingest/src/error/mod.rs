//! The one error type of the crate: each carries what went wrong, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::run::reject_reason::RejectReason;

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

    /// The same place, narrowed to a member of the zip.
    #[must_use]
    pub fn member(mut self, member: impl Into<String>) -> Self {
        self.member = Some(member.into());
        self
    }

    /// The same place, narrowed to a line (from 1) and a byte (from 0).
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

/// What can go wrong between the files and the store.
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
        /// Where.
        place: Box<Place>,
        /// What is wrong, as a clause.
        problem: String,
        /// What the user can do about it, as a sentence.
        remedy: String,
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
        /// How many rejects there were by then.
        rejects: u64,
        /// The limit.
        limit: u64,
    },
    /// What was asked for does not fit together.
    #[error("{problem}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// The store refuses: a run that is not there, one that must not be replaced, another writer at work.
    #[error("{problem}")]
    Refused {
        /// What is wrong.
        problem: String,
        /// What the user can do about it.
        remedy: String,
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
        /// What was being done, as in "copying samples to Postgres".
        what: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a store failed, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
struct Failure {
    why: String,
    remedy: &'static str,
}

/// What makes a reject an error: nothing, where none is allowed, else that there are too many.
fn past_limit(rejects: u64, limit: u64) -> String {
    match limit {
        0 => ", and no reject is allowed".into(),
        _ => format!("; that makes {rejects} rejects, and the limit is {limit}"),
    }
}

impl Error {
    /// An operating-system error at a place.
    pub fn io(place: impl Into<Place>, source: std::io::Error) -> Self {
        Self::Io { place: Box::new(place.into()), source }
    }

    /// A file that is not what it has to be: what is wrong as a clause, the remedy as a sentence.
    pub fn input(place: impl Into<Place>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Input { place: Box::new(place.into()), problem: problem.into(), remedy: remedy.into() }
    }

    /// A refusal of the store: what is wrong, and the remedy as a sentence.
    pub fn refused(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Refused { problem: problem.into(), remedy: remedy.into() }
    }

    /// The refusal to read a run that is not stored.
    pub(crate) fn missing_run(key: &crate::run::key::RunKey) -> Self {
        Self::refused(
            format!("the store has no run {key}"),
            "See `perfpipe list` for the runs that are stored.",
        )
    }

    /// The refusal to read samples of a run that has none.
    pub(crate) fn without_samples(key: &crate::run::key::RunKey) -> Self {
        Self::refused(
            format!("the run {key} was stored without its samples"),
            "Ingest it again without --no-samples.",
        )
    }

    /// That the run that was being read gave way to another.
    pub(crate) fn replaced(key: &crate::run::key::RunKey) -> Self {
        Self::Replaced { run: key.to_string() }
    }

    /// Things asked for that do not fit together, and the remedy as a sentence.
    pub fn usage(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), remedy: remedy.into() }
    }

    /// That a thread at work panicked.
    pub(crate) fn stopped(what: impl Into<String>) -> Self {
        Self::store(what, "it stopped unexpectedly (a bug; please report it)")
    }

    /// That something can't be as perfpipe has it: what was being done, and what was found.
    pub(crate) fn bug(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::failed(
            what,
            why,
            "This is a fault of perfpipe's, not of your files: please report it, with this message.",
        )
    }

    /// That the system gave no thread.
    pub(crate) fn no_thread(error: std::io::Error) -> Self {
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
    pub(crate) fn failed(what: impl Into<String>, why: impl Into<String>, remedy: &'static str) -> Self {
        Self::store(what, Failure { why: why.into(), remedy })
    }

    /// What the user can do about it, where there is something.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Input { remedy, .. } | Self::Usage { remedy, .. } | Self::Refused { remedy, .. } => {
                Some(remedy)
            }
            Self::Rejects { limit: 0, .. } => Some(
                "Look at the record; with --max-rejects, in the place of --strict, it would be kept aside whole, and the run stored without it.",
            ),
            Self::Rejects { .. } => Some(
                "Look at the records named; if they may be left out, raise --max-rejects (they are kept whole in the store).",
            ),
            Self::Replaced { .. } => Some("Run the command again."),
            Self::Io { source, .. } => io_remedy(source.kind()),
            Self::Store { source, .. } => match source.downcast_ref::<Failure>() {
                Some(failure) => Some(failure.remedy),
                None => io_remedy(source.downcast_ref::<std::io::Error>()?.kind()),
            },
        }
    }
}

/// What the user can do about an operating-system error, where its kind says so.
fn io_remedy(kind: std::io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::NotFound => Some("Check the name, and the folder that it is looked for in."),
        ErrorKind::PermissionDenied => Some("Check who may read and write there."),
        ErrorKind::ReadOnlyFilesystem => Some("Name a folder that can be written to."),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("Make room there, or name another folder."),
        ErrorKind::FileTooLarge => Some("Allow larger files there (see ulimit -f), or name another folder."),
        _ => None,
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

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
