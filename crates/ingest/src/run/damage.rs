//! Describes an input that could be read only in part.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::error::{ErrorKind, Place};

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
#[non_exhaustive]
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
    pub(crate) fn new(place: &Place, fault: &Fault, bytes: u64) -> Self {
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
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        self.is_in(place) && self.member == place.member
    }

    /// Returns true if this is a member that was cut short, which explains why the zip's directory is missing too.
    pub(crate) fn explains(&self, directory: &Self) -> bool {
        self.member.is_some() && self.file == directory.file && self.kind == DamageKind::FileCut
    }

    /// Returns true if the damage is in the file of this place, in any member.
    pub(crate) fn is_in(&self, place: &Place) -> bool {
        self.file == place.file.to_string_lossy()
    }
}
