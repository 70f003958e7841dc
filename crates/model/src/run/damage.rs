//! Describes an input that could be read only in part, and faults in the input, which are carried inside an `io::Error` until a
//! caller that knows the place turns them into an error.

use std::{fmt, io};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Place};

/// The kind of damage of an input file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DamageKind {
    /// It ends too early.
    FileCut,
    /// Its content is not valid, or does not match its checksum.
    FileDamaged,
    /// Data that is not part of the zip follows its end.
    TrailingData,
    /// It is several zips in a row.
    JoinedZips,
    /// None of these, or of a run that was stored before damage had codes.
    #[default]
    #[serde(other)]
    Unknown,
}

impl DamageKind {
    /// Its name, which is stored and never changes; `None` where it is not known.
    pub fn code(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| ErrorKind::from(self).code())
    }

    /// Returns true if the kind is unknown.
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl From<ErrorKind> for DamageKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::FileCut => Self::FileCut,
            ErrorKind::FileDamaged => Self::FileDamaged,
            ErrorKind::TrailingData => Self::TrailingData,
            ErrorKind::JoinedZips => Self::JoinedZips,
            _ => Self::Unknown,
        }
    }
}

impl From<DamageKind> for ErrorKind {
    fn from(kind: DamageKind) -> Self {
        match kind {
            DamageKind::FileCut => Self::FileCut,
            DamageKind::TrailingData => Self::TrailingData,
            DamageKind::JoinedZips => Self::JoinedZips,
            DamageKind::FileDamaged | DamageKind::Unknown => Self::FileDamaged,
        }
    }
}

/// One damaged input (or zip member) that was read as far as possible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The file's name: as given, or without folders once it is stored with a run.
    pub file: String,
    /// The member inside a zip; `None` if the whole file or the zip's own directory is damaged.
    pub member: Option<String>,
    /// The kind of problem.
    #[serde(default, rename = "code", skip_serializing_if = "DamageKind::is_unknown")]
    pub kind: DamageKind,
    /// The problem, as a clause.
    pub problem: String,
    /// The number of unpacked bytes that were read. For a zip without its directory: of all logs in it.
    pub bytes: u64,
    /// The number of whole records (for a CPU export: readings) that were read. For a zip without its directory: of all
    /// logs in it.
    pub records: u64,
    /// The number of packed bytes that were read, if known.
    pub packed_read: Option<u64>,
    /// The number of packed bytes that there should be, if stated.
    pub packed_of: Option<u64>,
}

impl fmt::Display for Damage {
    /// Writes the place and the problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Place { member: self.member.clone(), ..Place::file(&self.file) };
        write!(f, "{place}: {}", self.problem)
    }
}

impl Damage {
    /// Creates the damage of a fault at a place, after `bytes` unpacked bytes. The record count is 0.
    pub fn new(place: &Place, fault: &Fault, bytes: u64) -> Self {
        Self {
            file: place.file.to_string_lossy().into_owned(),
            member: place.member.clone(),
            kind: fault.kind.into(),
            problem: fault.problem.clone(),
            bytes,
            records: 0,
            packed_read: fault.packed.map(|packed| packed.read),
            packed_of: fault.packed.and_then(|packed| packed.of),
        }
    }

    /// Returns true if the damage is in the file and member of this place.
    pub fn is_of(&self, place: &Place) -> bool {
        self.is_in(place) && self.member == place.member
    }

    /// Returns true if this is a member that was cut short, which explains why the zip's directory is missing too.
    pub fn explains(&self, directory: &Self) -> bool {
        self.member.is_some() && self.file == directory.file && self.kind == DamageKind::FileCut
    }

    /// Returns true if the damage is in the file of this place, in any member.
    pub fn is_in(&self, place: &Place) -> bool {
        self.file == place.file.to_string_lossy()
    }
}

/// A fault in the input's bytes and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Fault {
    /// The kind of fault.
    pub kind: ErrorKind,
    /// The problem, as a clause.
    pub problem: String,
    /// The remedy for the user, as a sentence.
    pub remedy: String,
    /// The line, from 1, and the byte, from 0, if known.
    pub line: Option<(u64, u64)>,
    /// True if the bytes were damaged, so that what precedes the fault can be salvaged.
    pub harm: bool,
    /// Number of packed bytes read, if known.
    pub packed: Option<PackedRead>,
}

/// The number of packed bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRead {
    /// The number of bytes that were read.
    pub read: u64,
    /// The number of packed bytes that there should be, if stated.
    pub of: Option<u64>,
}

/// The remedy for damaged bytes.
const COPY_AGAIN: &str = "Copy or export the file again, or keep what can be read of it (SourceOptions::salvage). Nothing was stored.";

/// The remedy for damaged bytes if too little is left to salvage.
const LOST: &str =
    "Copy or export the file again: too little of it can be read to keep it. Nothing was stored.";

impl Fault {
    /// Creates a fault that is no damage.
    pub fn new(kind: ErrorKind, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, problem: problem.into(), remedy: remedy.into(), line: None, harm: false, packed: None }
    }

    /// Creates a fault for damaged bytes.
    pub fn harm(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self { harm: true, ..Self::new(kind, problem, COPY_AGAIN) }
    }

    /// Changes the remedy of damage: nothing of the file can be salvaged.
    pub fn lost(mut self) -> Self {
        if self.harm {
            self.kind = ErrorKind::TooLittleLeft;
            LOST.clone_into(&mut self.remedy);
        }
        self
    }

    /// Sets the line (from 1) and the byte (from 0).
    pub fn at_line(mut self, line: u64, byte: u64) -> Self {
        self.line = Some((line, byte));
        self
    }

    /// The fault of an input that ends too early. `what` says what is missing.
    pub fn cut(what: &str) -> io::Error {
        Self::harm(ErrorKind::FileCut, format!("the file was cut short: {what}")).into()
    }

    /// The fault of packed bytes that are invalid. `what` says in which way.
    pub fn damaged(what: &str) -> io::Error {
        Self::harm(ErrorKind::FileDamaged, format!("the file is damaged: {what}")).into()
    }

    /// Turns the fault into an error at a place.
    pub fn at(self, place: Place) -> Error {
        let place = match self.line {
            Some((line, byte)) => place.at(line, byte),
            None => place,
        };
        Error::input(self.kind, place, self.problem, self.remedy)
    }
}

/// Returns the fault in an error if it is damage, otherwise the error itself.
pub fn harm(error: io::Error) -> io::Result<Fault> {
    match error.downcast::<Fault>() {
        Ok(fault) if fault.harm => Ok(fault),
        Ok(fault) => Err(fault.into()),
        Err(error) => Err(error),
    }
}

/// Adds how far the packed data was read, if the error is a fault that does not have it yet.
pub fn with_packed(mut error: io::Error, packed: PackedRead) -> io::Error {
    if let Some(fault) = error.get_mut().and_then(|cause| cause.downcast_mut::<Fault>()) {
        fault.packed.get_or_insert(packed);
    }
    error
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// Turns a failed read into the crate's error: the fault if there is one, otherwise the system's error.
pub fn explain(place: Place, error: io::Error) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => fault.at(place),
        Err(error) => Error::io(place, error),
    }
}
