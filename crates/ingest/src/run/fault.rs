//! A fault in the input, carried inside an `io::Error` until a caller that knows the place turns it into an error.

use std::io;

use crate::error::{Error, ErrorKind, Place};

/// A fault in the input's bytes and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct Fault {
    /// The kind of fault.
    pub(crate) kind: ErrorKind,
    /// The problem, as a clause.
    pub(crate) problem: String,
    /// The remedy for the user, as a sentence.
    pub(crate) remedy: String,
    /// The line, from 1, and the byte, from 0, if known.
    pub(crate) line: Option<(u64, u64)>,
    /// True if the bytes were damaged, so that what precedes the fault can be salvaged.
    pub(crate) harm: bool,
    /// Number of packed bytes read, if known.
    pub(crate) packed: Option<PackedRead>,
}

/// The number of packed bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedRead {
    pub(crate) read: u64,
    /// The number of packed bytes that there should be, if stated.
    pub(crate) of: Option<u64>,
}

/// The remedy for damaged bytes.
const COPY_AGAIN: &str = "Copy or export the file again, or keep what can be read of it (SourceOptions::salvage). Nothing was stored.";

/// The remedy for damaged bytes if too little is left to salvage.
const LOST: &str =
    "Copy or export the file again: too little of it can be read to keep it. Nothing was stored.";

impl Fault {
    /// Creates a fault that is no damage.
    pub(crate) fn new(kind: ErrorKind, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, problem: problem.into(), remedy: remedy.into(), line: None, harm: false, packed: None }
    }

    /// Creates a fault for damaged bytes.
    pub(crate) fn harm(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self { harm: true, ..Self::new(kind, problem, COPY_AGAIN) }
    }

    /// Changes the remedy of damage: nothing of the file can be salvaged.
    pub(crate) fn lost(mut self) -> Self {
        if self.harm {
            self.kind = ErrorKind::TooLittleLeft;
            LOST.clone_into(&mut self.remedy);
        }
        self
    }

    /// Sets the line (from 1) and the byte (from 0).
    pub(crate) fn at_line(mut self, line: u64, byte: u64) -> Self {
        self.line = Some((line, byte));
        self
    }

    /// The fault of an input that ends too early. `what` says what is missing.
    pub(crate) fn cut(what: &str) -> io::Error {
        Self::harm(ErrorKind::FileCut, format!("the file was cut short: {what}")).into()
    }

    /// The fault of packed bytes that are invalid. `what` says in which way.
    pub(crate) fn damaged(what: &str) -> io::Error {
        Self::harm(ErrorKind::FileDamaged, format!("the file is damaged: {what}")).into()
    }

    /// Turns the fault into an error at a place.
    pub(crate) fn at(self, place: Place) -> Error {
        let place = match self.line {
            Some((line, byte)) => place.at(line, byte),
            None => place,
        };
        Error::input(self.kind, place, self.problem, self.remedy)
    }
}

/// Returns the fault in an error if it is damage, otherwise the error itself.
pub(crate) fn harm(error: io::Error) -> io::Result<Fault> {
    match error.downcast::<Fault>() {
        Ok(fault) if fault.harm => Ok(fault),
        Ok(fault) => Err(fault.into()),
        Err(error) => Err(error),
    }
}

/// Adds how far the packed data was read, if the error is a fault that does not have it yet.
pub(crate) fn with_packed(mut error: io::Error, packed: PackedRead) -> io::Error {
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
pub(crate) fn explain(place: Place, error: io::Error) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => fault.at(place),
        Err(error) => Error::io(place, error),
    }
}
