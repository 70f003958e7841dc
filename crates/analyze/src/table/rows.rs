//! The interface of text formats for tables.

use super::column::Column;
use super::value::Value;

/// A text format of tables. Its methods append to a buffer.
pub(super) trait TableFormat: Send {
    /// Writes the part before the first row.
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>);
    /// Writes one row, with as many values as there are columns.
    fn row(&mut self, columns: &[Column], row: &[Value<'_>], out: &mut Vec<u8>);
    /// Writes the part after the last row.
    fn end(&mut self, columns: &[Column], out: &mut Vec<u8>);
}
