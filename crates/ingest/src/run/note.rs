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
    /// A CPU reading counts for longer than usual, since the readings come so seldom.
    LongLookback,
    /// The CPU readings are of another time than the log.
    CpuApart,
    /// No CPU reading is above 1: perhaps 1 is the whole machine, of so many cores.
    PerhapsFraction {
        /// The server's cores, where they are known.
        cores: Option<u32>,
    },
    /// No CPU reading is above 100: perhaps that is the whole machine, of so many cores.
    PerhapsOfMachine {
        /// The server's cores.
        cores: u32,
    },
    /// A CPU reading is above 100, which was told to be the whole machine: perhaps it is one core.
    PerhapsOfCore,
    /// A CPU reading is above 1, which was told to be the whole machine: perhaps the readings are in percent.
    PerhapsPercent,
    /// A CPU reading is more than the cores that were told can have.
    MoreThanCores,
}

impl NoteKind {
    /// Its name, which never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::LongLookback => "long-lookback",
            Self::CpuApart => "cpu-apart",
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
    pub(crate) fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The kind of the note, if it has a remedy.
    pub fn kind(&self) -> NoteKind {
        self.kind
    }

    /// The same, on what is at this place.
    pub(crate) fn at(self, place: &crate::error::Place) -> Self {
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
