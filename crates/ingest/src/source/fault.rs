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
}

/// The remedy for bytes that were harmed on their way here.
pub(crate) const COPY_AGAIN: &str = "Copy or export the file again; nothing was stored.";

impl Fault {
    /// A flaw and its remedy.
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), line: None }
    }

    /// The same flaw, at a line (from 1) and a byte (from 0).
    pub(crate) fn at_line(mut self, line: u64, byte: u64) -> Self {
        self.line = Some((line, byte));
        self
    }

    /// The input ends before it should; `what` names what is missing.
    pub(crate) fn cut(what: &str) -> io::Error {
        Self::new(format!("the file was cut short: {what}"), COPY_AGAIN).into()
    }

    /// The packed bytes make no sense.
    pub(crate) fn damaged(what: &str) -> io::Error {
        Self::new(format!("the file is damaged: {what}"), COPY_AGAIN).into()
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
