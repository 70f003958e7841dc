//! Values of which many are equal, by their numbers.

use parquet::basic::Encoding;
use parquet::errors::ParquetError;

use super::chunk::NumberDictionary;
use super::levels::Levels;
use super::page::{CodedRows, ColumnPart, DistinctValues, PageCompression, ValueCodes};
use crate::error::{Error, Result};
use crate::sample::text_list::TextList;

/// The number of different values up to which a dictionary does no harm.
const FEW: usize = 1024;

/// Returns what rows add to a column of names, given by their indexes among `names`. Of the names, only those that occur
/// are written.
pub(in crate::store::parquet) fn coded(
    indexes: &[u32],
    names: &[impl AsRef<str>],
    levels: Levels,
) -> Result<ColumnPart> {
    let (mut numbers, mut texts) = (vec![None; names.len()], TextList::default());
    let mut codes = Vec::with_capacity(indexes.len());
    for index in indexes {
        let known = numbers.get_mut(*index as usize).zip(names.get(*index as usize));
        let (number, name) =
            known.ok_or_else(|| Error::bug("writing names", format!("name {index} is not in its list")))?;
        codes.push(*number.get_or_insert_with(|| {
            texts.push(name.as_ref());
            (texts.len() as u32).wrapping_sub(1)
        }));
    }
    Ok(ColumnPart::Coded(CodedRows {
        levels,
        codes: ValueCodes::new(&codes),
        values: DistinctValues::Texts(texts),
    }))
}

/// Returns what rows add to a column of doubles. Neighbours are often equal, as are the CPU readings of a second.
pub(in crate::store::parquet) fn doubles(
    values: impl Iterator<Item = f64> + Clone,
    levels: Levels,
) -> Result<ColumnPart, ParquetError> {
    let (mut known, mut last) = (NumberDictionary::default(), None);
    let mut number = |value: f64| match last {
        Some((bits, number)) if bits == value.to_bits() => number,
        _ => {
            let number = known.number(value.to_bits());
            last = Some((value.to_bits(), number));
            number
        }
    };
    let codes: Vec<u32> = values.clone().map(&mut number).collect();
    if known.all.len() > codes.len() / 2 && known.all.len() > FEW {
        // A dictionary would hold most values once, and be no help.
        let plain: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        return levels.page(&plain, Encoding::PLAIN, PageCompression::Lz4);
    }
    Ok(ColumnPart::Coded(CodedRows {
        levels,
        codes: ValueCodes::new(&codes),
        values: DistinctValues::Numbers(known.all),
    }))
}
