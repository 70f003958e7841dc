//! Which values of a page are present, and to which rows they belong.

use super::hybrid;

/// The levels of a page, encoded.
#[derive(Clone)]
pub(in crate::store::parquet) struct Levels {
    /// Which values begin a list; empty if the column has no lists.
    pub(super) repetition: Vec<u8>,
    /// Which values are present; empty if the column has no nulls.
    pub(super) definition: Vec<u8>,
    pub(super) rows: usize,
    /// The number of values, absent ones included. An empty list has one, which is absent.
    pub(super) values: usize,
    pub(super) nulls: usize,
}

impl Levels {
    /// The rows of a column that has no nulls.
    pub(in crate::store::parquet) fn required(rows: usize) -> Self {
        Self { repetition: Vec::new(), definition: Vec::new(), rows, values: rows, nulls: 0 }
    }

    /// Rows that are all present, or all absent.
    pub(in crate::store::parquet) fn same(present: bool, rows: usize) -> Self {
        let mut definition = Vec::new();
        hybrid::repeat_hybrid(present.into(), rows, 1, &mut definition);
        Self { definition, nulls: if present { 0 } else { rows }, ..Self::required(rows) }
    }

    /// Rows of which some may be absent.
    pub(in crate::store::parquet) fn some(valid: &[bool]) -> Self {
        let mut definition = Vec::new();
        hybrid::encode_hybrid(valid, 1, &mut definition);
        let nulls = valid.iter().filter(|valid| !**valid).count();
        Self { definition, nulls, ..Self::required(valid.len()) }
    }

    /// Rows that are lists of these lengths. No row is absent; an item might be by the schema, but none is.
    pub(in crate::store::parquet) fn lists(lengths: &[usize]) -> Self {
        let empty = lengths.iter().filter(|length| **length == 0).count();
        let values = lengths.iter().sum::<usize>() + empty;
        let mut continues = vec![true; values];
        let mut begin = 0;
        for length in lengths {
            continues.get_mut(begin).into_iter().for_each(|place| *place = false);
            begin += length.max(&1);
        }
        let (mut repetition, mut definition) = (Vec::new(), Vec::new());
        hybrid::encode_hybrid(&continues, 1, &mut repetition);
        if empty == 0 {
            hybrid::repeat_hybrid(ITEM, values, ITEM, &mut definition);
        } else {
            let each = lengths.iter().flat_map(|length| match length {
                0 => std::iter::repeat_n(0, 1),
                length => std::iter::repeat_n(ITEM as u8, *length),
            });
            hybrid::encode_hybrid(&each.collect::<Vec<u8>>(), ITEM, &mut definition);
        }
        Self { repetition, definition, rows: lengths.len(), values, nulls: empty }
    }

    /// The levels as they stand before the values where they are compressed with them: each sort that the column has, behind
    /// its length.
    pub(super) fn with_lengths(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.repetition.len() + self.definition.len() + 8);
        for levels in [&self.repetition, &self.definition].into_iter().filter(|levels| !levels.is_empty()) {
            bytes.extend((levels.len() as u32).to_le_bytes());
            bytes.extend(levels);
        }
        bytes
    }
}

/// The level of an item of a list that is present, which is also the number of bits of such a level.
const ITEM: u32 = 2;
