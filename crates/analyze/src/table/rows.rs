//! What a format of tables has to do.

use super::column::Column;
use super::value::Value;

/// What a format does with a table; all that it writes it appends to a buffer.
pub(super) trait Rows: Send {
    /// What comes before the first row.
    fn begin(&mut self, columns: &[Column], out: &mut Vec<u8>);
    /// One row, as long as the columns are.
    fn row(&mut self, columns: &[Column], row: &[Value<'_>], out: &mut Vec<u8>);
    /// What comes after the last row.
    fn end(&mut self, columns: &[Column], out: &mut Vec<u8>);
}
