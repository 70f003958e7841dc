//! Compresses bytes where that pays: packed numbers are mostly noise, which only costs time.

use lz4_flex::block::{compress_into, get_maximum_output_size};
use parquet::errors::ParquetError;

/// The number of bytes at the beginning that are tried first.
const TRIED: usize = 1 << 10;

/// The number of bytes up to which nothing is worth the try, such as a page of equal rows.
const FEW: usize = 64;

/// Appends bytes, compressed if that takes at least an eighth off, and if `is_tried`, off their beginning too. Returns true
/// if they are compressed.
pub(super) fn append_lz4(bytes: &[u8], is_tried: bool, out: &mut Vec<u8>) -> Result<bool, ParquetError> {
    let start = out.len();
    let pays = |bytes: &[u8], out: &mut Vec<u8>| -> Result<bool, ParquetError> {
        compress_lz4(bytes, out)?;
        let pays = out.len() - start < bytes.len() - bytes.len() / 8;
        if !pays {
            out.truncate(start);
        }
        Ok(pays)
    };
    let mut is_compressed = bytes.len() > FEW;
    if let Some(beginning) = bytes.get(..TRIED).filter(|_| is_tried) {
        is_compressed = pays(beginning, out)?;
        out.truncate(start);
    }
    is_compressed = is_compressed && pays(bytes, out)?;
    if !is_compressed {
        out.extend_from_slice(bytes);
    }
    Ok(is_compressed)
}

/// Appends bytes, compressed.
pub(super) fn compress_lz4(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ParquetError> {
    let start = out.len();
    out.resize(start + get_maximum_output_size(bytes.len()), 0);
    let place = out.get_mut(start..).unwrap_or_default();
    let length = compress_into(bytes, place).map_err(|error| ParquetError::External(error.into()))?;
    out.truncate(start + length);
    Ok(())
}
