//! What is stored of a part of a run beside what is stored of every run: its number, and the names in its counts.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::run::options::PartNumber;
use crate::sample::intern::Interner;

/// The maximum number of names of a sort that a part has.
pub const PART_NAMES: usize = 100_000;

/// The maximum total size of the names of a sort that a part has, in bytes. Several copies of them are in memory at the end.
pub const PART_NAME_BYTES: usize = 8 << 20;

/// What is stored of a part beside what is stored of every run, and beside its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRow {
    /// Which part it is, of how many.
    pub number: PartNumber,
    /// The maximum distance of a record from the origin, in ms.
    pub max_span_ms: u64,
}

/// The names in the counts of a part, each list in the order of first appearance.
#[derive(Debug, Deserialize)]
pub struct PartNames {
    /// The labels.
    #[serde(deserialize_with = "names")]
    pub labels: Vec<String>,
    /// The injectors.
    #[serde(deserialize_with = "names")]
    pub injectors: Vec<String>,
    /// The response codes of failures.
    #[serde(deserialize_with = "names")]
    pub response_codes: Vec<String>,
    /// The messages of failures.
    #[serde(deserialize_with = "names")]
    pub messages: Vec<String>,
    /// The labels that have whole-run counts.
    #[serde(deserialize_with = "names")]
    pub counted: Vec<String>,
}

/// Reads names, as many as a part has.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    deserializer.deserialize_seq(NamesVisitor)
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "up to {} names", PART_NAMES)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Vec<String>, A::Error> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        while let Some(name) = names.next_element::<String>()? {
            bytes += name.len();
            // A label has whole-run counts of its own even if it is the one that is too many.
            if all.len() > PART_NAMES || bytes > 2 * PART_NAME_BYTES {
                return Err(de::Error::custom(format!(
                    "there are more names than a part has, {}",
                    PART_NAMES
                )));
            }
            all.push(name);
        }
        Ok(all)
    }
}

/// The same names as they are written.
#[derive(Debug, Serialize)]
pub struct PartNamesRef<'a> {
    /// The labels.
    #[serde(serialize_with = "in_order")]
    pub labels: &'a Interner,
    /// The injectors.
    #[serde(serialize_with = "in_order")]
    pub injectors: &'a Interner,
    /// The response codes of failures.
    #[serde(serialize_with = "in_order")]
    pub response_codes: &'a Interner,
    /// The messages of failures.
    #[serde(serialize_with = "in_order")]
    pub messages: &'a Interner,
    /// The labels that have whole-run counts.
    pub counted: Vec<&'a str>,
}

/// Writes the names that an interner has, in their order.
fn in_order<S: Serializer>(names: &Interner, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.texts().iter())
}
