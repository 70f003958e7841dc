//! Counts of the parts of a run: what is kept of a part beside its counts, and how those of all parts are added up.
//!
//! A run keeps a limited number of names, those that came first. Whether a name is one of them depends on the parts before,
//! so a part keeps far more, and can't be stored if these are not enough. When parts are added up, their names are read in
//! the order of their first appearance, as from one log.

use super::cells::join_loads;
use super::{FailureKey, NameIndex, NameLimit, NameLimits, Totals};
use perfpipe_model::counts::part::{PART_NAME_BYTES, PART_NAMES, PartNames, PartNamesRef};
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::{Cell, CellKey, InjectorLoad, LabelCount};
use perfpipe_model::error::{Error, ErrorKind, Result};

/// The limit of each sort of names of a part.
const OF_SORT: NameLimit = NameLimit { names: PART_NAMES, bytes: PART_NAME_BYTES };

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
            labels: &self.labels.names,
            injectors: &self.injectors.names,
            response_codes: &self.response_codes.names,
            messages: &self.messages.names,
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
    use crate::counting::block::{BlockTally, LocalKey};

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
        let limit = PART_NAMES as u32;
        let most = labels(limit);
        let names = serde_json::to_vec(&most.part_names().unwrap()).unwrap();
        let names: PartNames = serde_json::from_slice(&names).unwrap();
        assert!(names.labels == names.counted && names.labels.len() == PART_NAMES);
        let error = labels(limit + 1).part_names().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PartTooVaried);
        assert!(error.to_string().contains("100,000 labels"), "{error}");
    }
}
