//! Counts of the parts of a run: what is kept of a part beside its counts, and how those of all parts are added up.
//!
//! A run keeps a limited number of names, those that came first. Whether a name is one of them depends on the parts before,
//! so a part keeps far more, and can't be stored if these are not enough. When parts are added up, their names are read in
//! the order of their first appearance, as from one log.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cells::join_loads;
use super::{FailureKey, LABEL_COUNT_LIMIT, NameIndex, NameLimit, NameLimits, Totals};
use crate::counts::stored_run::StoredRun;
use crate::counts::{Cell, CellKey, InjectorLoad, LabelCount};
use crate::error::{Error, ErrorKind, Result};
use crate::run::options::PartNumber;

/// What is stored of a part beside what is stored of every run, and beside its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartRow {
    pub(crate) number: PartNumber,
    /// The maximum distance of a record from the origin, in ms.
    pub(crate) max_span_ms: u64,
}

/// The names in the counts of a part, each list in the order of first appearance.
#[derive(Debug, Deserialize)]
pub(crate) struct PartNames {
    #[serde(deserialize_with = "names")]
    labels: Vec<String>,
    #[serde(deserialize_with = "names")]
    injectors: Vec<String>,
    #[serde(deserialize_with = "names")]
    response_codes: Vec<String>,
    #[serde(deserialize_with = "names")]
    messages: Vec<String>,
    /// The labels that have whole-run counts.
    #[serde(deserialize_with = "names")]
    counted: Vec<String>,
}

/// Reads names, as many as a part has.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    deserializer.deserialize_seq(NamesVisitor)
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "up to {} names", OF_SORT.names)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> std::result::Result<Vec<String>, A::Error> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        while let Some(name) = names.next_element::<String>()? {
            bytes += name.len();
            // A label has whole-run counts of its own even if it is the one that is too many.
            if all.len() > OF_SORT.names || bytes > 2 * OF_SORT.bytes {
                return Err(de::Error::custom(format!(
                    "there are more names than a part has, {}",
                    OF_SORT.names
                )));
            }
            all.push(name);
        }
        Ok(all)
    }
}

/// The same names as they are written.
#[derive(Debug, Serialize)]
pub(crate) struct PartNamesRef<'a> {
    labels: &'a NameIndex,
    injectors: &'a NameIndex,
    response_codes: &'a NameIndex,
    messages: &'a NameIndex,
    counted: Vec<&'a str>,
}

impl Serialize for NameIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names.texts().iter())
    }
}

/// The limit of each sort of names of a part. Several copies of them are in memory at the end.
const OF_SORT: NameLimit = NameLimit { names: LABEL_COUNT_LIMIT, bytes: 8 << 20 };

/// The limits of a part.
const OF_PART: NameLimits = NameLimits { labels: OF_SORT, injectors: OF_SORT, texts: OF_SORT };

impl Totals {
    /// Raises the limits of names to those of a part.
    pub(crate) fn of_part(self) -> Self {
        Self { limits: OF_PART, ..self }
    }

    /// Returns the names in these counts, which are those of a part.
    ///
    /// # Errors
    /// If names or kinds of failures share a count, so that parts can't be added up exactly.
    pub(crate) fn part_names(&self) -> Result<PartNamesRef<'_>> {
        let lists = [&self.labels, &self.injectors, &self.response_codes, &self.messages];
        let sorts = ["labels", "injectors", "response codes", "messages of failures"];
        let shared = lists.iter().zip(sorts).find(|(names, _)| names.shares).map(|(_, sort)| sort);
        if let Some(sort) = shared.or(self.label_counts.shares.then_some("labels")) {
            return Err(too_varied(&format!("100,000 {sort}, or 8 MiB of them")));
        }
        if self.errors.has_others() {
            return Err(too_varied("500,000 kinds of failures by second"));
        }
        Ok(PartNamesRef {
            labels: &self.labels,
            injectors: &self.injectors,
            response_codes: &self.response_codes,
            messages: &self.messages,
            counted: self.label_counts.in_order().map(|count| count.label.as_str()).collect(),
        })
    }

    /// Adds the counts of the part that comes next.
    ///
    /// # Errors
    /// When its counts or a temporary file can't be read.
    pub(crate) fn absorb_part(&mut self, part: &StoredRun, names: &PartNames) -> Result<()> {
        self.absorb_label_counts(&part.labels, &names.counted);
        self.successes += part.info.successes;
        self.failures += part.info.failures;
        self.transactions += part.info.transactions;
        let NameLimits { labels, injectors, texts } = self.limits;
        names.labels.iter().for_each(|label| _ = self.labels.index(label, labels));
        names.injectors.iter().for_each(|injector| _ = self.injectors.index(injector, injectors));
        names.response_codes.iter().for_each(|code| _ = self.response_codes.index(code, texts));
        names.messages.iter().for_each(|message| _ = self.messages.index(message, texts));
        let of = |names: &mut NameIndex, list: &[String], limit: NameLimit| -> Vec<u32> {
            list.iter().map(|name| names.index(name, limit)).collect()
        };
        let labels = of(&mut self.labels, &part.cells.labels, labels);
        let injectors = of(&mut self.injectors, &part.cells.injectors, injectors);
        for cell in part.cells.iter() {
            self.absorb_cell(cell?, &labels, &injectors)?;
        }
        for error in &part.errors {
            let key = FailureKey {
                second: error.second,
                label: self.labels.index(&error.label, self.limits.labels),
                response_code: self.response_codes.index(&error.response_code, self.limits.texts),
                message: self.messages.index(&error.message, self.limits.texts),
                transaction: error.transaction,
            };
            self.errors.add(key, error.count);
        }
        Ok(())
    }

    /// Adds whole-run counts of labels, which are given in the order of first appearance.
    fn absorb_label_counts(&mut self, counts: &[LabelCount], order: &[String]) {
        for label in order {
            let Ok(at) = counts.binary_search_by(|count| count.label.cmp(label)) else { continue };
            let Some(more) = counts.get(at) else { continue };
            self.label_counts.of(label).add(more);
        }
    }

    /// Adds a cell whose label and injectors are indexes into lists, which have their indexes here.
    pub(super) fn absorb_cell(
        &mut self,
        (mut key, mut cell): (CellKey, Cell),
        labels: &[u32],
        injectors: &[u32],
    ) -> Result<()> {
        key.label = translated(labels, key.label)?;
        translate_loads(&mut cell.injectors, injectors)?;
        self.cells.add_part(key, &cell)?;
        self.errors.end_before(self.cells.past());
        Ok(())
    }
}

/// Gives loads the indexes that their injectors have here.
pub(super) fn translate_loads(loads: &mut Vec<InjectorLoad>, injectors: &[u32]) -> Result<()> {
    for load in &mut *loads {
        load.injector = translated(injectors, load.injector)?;
    }
    join_loads(loads);
    Ok(())
}

pub(super) fn translated(indexes: &[u32], index: u32) -> Result<u32> {
    let found = indexes.get(index as usize).copied();
    found.ok_or_else(|| Error::bug("adding the counts of a log", "a name of theirs was not kept"))
}

/// The error for a part in which names share a count.
fn too_varied(limit: &str) -> Error {
    let problem = format!("the part has more than {limit}, so it can't be merged exactly with others");
    Error::refused(ErrorKind::PartTooVaried, problem, "Ingest the logs of all parts together, as one run.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::block::{BlockTally, LocalKey};

    /// Counts of a part with so many labels.
    fn labels(count: u32) -> Totals {
        let key = |label| LocalKey { second: 0, label, success: true, transaction: false };
        let cell = || Cell { elapsed: vec![(1, 1)], ..Cell::default() };
        let names: Vec<String> = (0..count).map(|label| label.to_string()).collect();
        let mut totals = Totals::default().of_part();
        totals.add(&BlockTally::of((0..count).map(|label| (key(label), cell())).collect(), names)).unwrap();
        totals
    }

    #[test]
    fn part_tells_all_its_names_apart_or_is_refused() {
        let limit = LABEL_COUNT_LIMIT as u32;
        let most = labels(limit);
        let names = serde_json::to_vec(&most.part_names().unwrap()).unwrap();
        let names: PartNames = serde_json::from_slice(&names).unwrap();
        assert!(names.labels == names.counted && names.labels.len() == LABEL_COUNT_LIMIT);
        let error = labels(limit + 1).part_names().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PartTooVaried);
        assert!(error.to_string().contains("100,000 labels"), "{error}");
    }
}
