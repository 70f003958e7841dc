//! What is wrong with an input of which only a part could be read, and how much that part is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fault::{CUT, Fault};
use crate::error::Place;

/// One input (or zip member) that was read as far as it could be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The file's name: as it was given, and without folders once it is stored with a run.
    pub file: String,
    /// The member inside a zip; `None` where the whole file, or the zip's own directory, is damaged.
    pub member: Option<String>,
    /// What is wrong, as a clause.
    pub problem: String,
    /// Bytes that were read, unpacked. Of a zip without its directory: of all logs in it.
    pub bytes: u64,
    /// Records that were read whole, of a CPU export readings; of such a zip too.
    pub records: u64,
    /// Packed bytes that were read, where that is known.
    pub packed_read: Option<u64>,
    /// Packed bytes that there should be, where that is stated.
    pub packed_of: Option<u64>,
}

impl fmt::Display for Damage {
    /// Where, and what is wrong.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Place { member: self.member.clone(), ..Place::file(&self.file) };
        write!(f, "{place}: {}", self.problem)
    }
}

impl Damage {
    /// A flaw at a place, behind so many unpacked bytes.
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

    /// Whether it is of what is at this place.
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        self.is_in(place) && self.member == place.member
    }

    /// Whether this, of a member that was cut short, says why the zip's directory is missing too.
    pub(crate) fn explains(&self, directory: &Self) -> bool {
        self.member.is_some() && self.file == directory.file && self.problem.starts_with(CUT)
    }

    /// Whether it is of the file of this place.
    pub(crate) fn is_in(&self, place: &Place) -> bool {
        self.file == place.file.to_string_lossy()
    }
}
