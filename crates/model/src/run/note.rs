//! Notes about a run's files: oddities that do not prevent the ingest.

use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

/// The kind of a note that has a remedy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// Anything else.
    #[default]
    Other,
    /// The CPU readings come seldom, so each one holds for longer.
    LongLookback,
    /// No CPU reading falls within the run, or those of another time zone would fit better.
    CpuApart,
    /// No reading of another series falls within the run.
    SeriesApart,
    /// The run has no CPU export.
    NoCpu,
    /// No CPU reading is above 1, so 1 may mean the whole machine.
    PerhapsFraction {
        /// The server's cores, where they are known.
        cores: Option<u32>,
    },
    /// No CPU reading is above 100, so 100 may mean the whole machine.
    PerhapsOfMachine {
        /// The server's cores.
        cores: u32,
    },
    /// A CPU reading is above 100, although 100 was given as the whole machine: it may mean one core.
    PerhapsOfCore,
    /// A CPU reading is above 1, although 1 was given as the whole machine: the readings may be in percent.
    PerhapsPercent,
    /// A CPU reading is more than the given cores can have.
    MoreThanCores,
}

impl NoteKind {
    /// Its name, which never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::LongLookback => "long-lookback",
            Self::CpuApart => "cpu-apart",
            Self::SeriesApart => "series-apart",
            Self::NoCpu => "no-cpu",
            Self::PerhapsFraction { .. } => "perhaps-fraction",
            Self::PerhapsOfMachine { .. } => "perhaps-percent-of-machine",
            Self::PerhapsOfCore => "perhaps-percent-of-core",
            Self::PerhapsPercent => "perhaps-percent",
            Self::MoreThanCores => "more-than-cores",
        }
    }
}

/// A note to the user: a sentence without its full stop. It displays as that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    kind: NoteKind,
    text: String,
}

impl Note {
    /// A note of this kind.
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The kind of the note, if it has a remedy.
    pub fn kind(&self) -> NoteKind {
        self.kind
    }

    /// Returns true if something may be wrong: with the files, or with how they are read.
    pub fn is_warning(&self) -> bool {
        !matches!(self.kind, NoteKind::LongLookback | NoteKind::NoCpu)
    }

    /// The same, on what is at this place.
    pub fn at(self, place: &crate::error::Place) -> Self {
        Self { text: format!("{place}: {}", self.text), ..self }
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self::new(NoteKind::Other, text)
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for Note {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
