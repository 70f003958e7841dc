//! Adds up the rows of a run's counts, to compare them with what is packed in pages.

use std::collections::BTreeMap;

use crate::counts::CellKey;
use crate::error::Result;

use super::decode::{RowFields, whole};

/// The sums that [`Tally::get`] decodes, by kind of sample.
pub(crate) const SUMS: &str =
    "success, transaction, count(*), sum(samples)::bigint, sum(second * samples)::bigint";

/// The kinds of samples that [`SUMS`] are apart for.
pub(crate) const KINDS: &str = "success, transaction";

/// The numbers of rows and samples of each kind, and the sum of the samples' seconds, which is another if a row is moved
/// to another second.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally(BTreeMap<(bool, bool), [u64; 3]>);

impl Tally {
    /// Adds a cell.
    pub(crate) fn add(&mut self, key: CellKey, samples: u64) {
        self.add_sums(
            key.success,
            key.transaction,
            [1, samples, u64::from(key.second).wrapping_mul(samples)],
        );
    }

    /// Decodes a row of [`SUMS`] and adds it.
    pub(crate) fn get(&mut self, fields: &mut RowFields<'_>) -> Result<()> {
        let (success, transaction) = (fields.bool()?, fields.bool()?);
        let sums = [whole(fields.i64()?)?, whole(fields.i64()?)?, whole(fields.i64()?)?];
        self.add_sums(success, transaction, sums);
        Ok(())
    }

    /// Returns true if nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add_sums(&mut self, success: bool, transaction: bool, more: [u64; 3]) {
        let sums = self.0.entry((success, transaction)).or_default();
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
    }
}
