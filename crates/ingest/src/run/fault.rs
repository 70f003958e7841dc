//! A flaw of the input, travelling inside an `io::Error` until a reader knows the place to name.

use std::io;

use crate::error::{Error, Place};

/// What is wrong with the bytes, and what the user can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct Fault {
    /// What is wrong, as a clause.
    pub(crate) problem: String,
    /// What the user can do about it, as a sentence.
    pub(crate) remedy: String,
    /// Line, from 1, and byte, from 0, where they are known.
    pub(crate) line: Option<(u64, u64)>,
    /// Whether the bytes were harmed, so that what stands before the place can be kept.
    pub(crate) harm: bool,
    /// How far the packed data was read, where that is known.
    pub(crate) packed: Option<PackedRead>,
}

/// How many packed bytes were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedRead {
    pub(crate) read: u64,
    /// How many there should be, where that is stated.
    pub(crate) of: Option<u64>,
}

/// How the problem begins of a file that ends before it should.
pub(crate) const CUT: &str = "the file was cut short";

/// The remedy for bytes that were harmed on their way here.
const COPY_AGAIN: &str =
    "Copy or export the file again, or keep what can be read of it: --salvage. Nothing was stored.";

/// The same, where too little is left.
const LOST: &str =
    "Copy or export the file again: too little of it can be read to keep it. Nothing was stored.";

impl Fault {
    /// A flaw and its remedy.
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), line: None, harm: false, packed: None }
    }

    /// A flaw of bytes that were harmed on their way here.
    pub(crate) fn harm(problem: impl Into<String>) -> Self {
        Self { harm: true, ..Self::new(problem, COPY_AGAIN) }
    }

    /// The same flaw, where nothing can be kept of what it is in.
    pub(crate) fn lost(mut self) -> Self {
        if self.harm {
            LOST.clone_into(&mut self.remedy);
        }
        self
    }

    /// The same flaw, at a line (from 1) and a byte (from 0).
    pub(crate) fn at_line(mut self, line: u64, byte: u64) -> Self {
        self.line = Some((line, byte));
        self
    }

    /// The input ends before it should; `what` names what is missing.
    pub(crate) fn cut(what: &str) -> io::Error {
        Self::harm(format!("{CUT}: {what}")).into()
    }

    /// The packed bytes make no sense.
    pub(crate) fn damaged(what: &str) -> io::Error {
        Self::harm(format!("the file is damaged: {what}")).into()
    }

    /// The flaw as an error at a place.
    pub(crate) fn at(self, place: Place) -> Error {
        let place = match self.line {
            Some((line, byte)) => place.at(line, byte),
            None => place,
        };
        Error::input(place, self.problem, self.remedy)
    }
}

/// The flaw in an error, if that is one of harmed bytes.
pub(crate) fn harm(error: io::Error) -> io::Result<Fault> {
    match error.downcast::<Fault>() {
        Ok(fault) if fault.harm => Ok(fault),
        Ok(fault) => Err(fault.into()),
        Err(error) => Err(error),
    }
}

/// The error, with how far the packed data was read where the bytes are at fault.
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

/// The crate's error for a failed read: the flaw where the bytes are at fault, else the system's own.
pub(crate) fn explain(place: Place, error: io::Error) -> Error {
    match error.downcast::<Fault>() {
        Ok(fault) => fault.at(place),
        Err(error) => Error::io(place, error),
    }
}
