//! Describes an input that could be read only in part.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fault::{CUT, Fault};
use crate::error::Place;

/// One damaged input (or zip member) that was read as far as possible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The file's name: as given, or without folders once it is stored with a run.
    pub file: String,
    /// The member inside a zip; `None` if the whole file or the zip's own directory is damaged.
    pub member: Option<String>,
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
    pub(crate) fn new(place: &Place, fault: &Fault, bytes: u64) -> Self {
        Self {
            file: place.file.to_string_lossy().into_owned(),
            member: place.member.clone(),
            problem: fault.problem.clone(),
            bytes,
            records: 0,
            packed_read: fault.packed.map(|packed| packed.read),
            packed_of: fault.packed.and_then(|packed| packed.of),
        }
    }

    /// Returns true if the damage is in the file and member of this place.
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        self.is_in(place) && self.member == place.member
    }

    /// Returns true if this is a member that was cut short, which explains why the zip's directory is missing too.
    pub(crate) fn explains(&self, directory: &Self) -> bool {
        self.member.is_some() && self.file == directory.file && self.problem.starts_with(CUT)
    }

    /// Returns true if the damage is in the file of this place, in any member.
    pub(crate) fn is_in(&self, place: &Place) -> bool {
        self.file == place.file.to_string_lossy()
    }
}
