//! Tables as polars frames.

use polars::prelude::{Column as Series, DataFrame, NamedFrom, Series as Typed};

use super::Table;
use super::value::{Nested, Values, lower};
use crate::error::{Error, Result};

impl Table {
    /// Converts the table to a polars `DataFrame` with the same columns, of the types `u64`, `i64`, `f64`, `str` and
    /// `bool`; absent values are null. Memory: a second copy of the table.
    ///
    /// # Errors
    /// If two columns have the same name.
    ///
    /// ```
    /// let table = perfpipe_analyze::table::Table::of(&[Some(1.5), None]).column("cpu", |cpu| *cpu).done();
    /// let frame = table.frame()?;
    /// assert_eq!((frame.shape(), frame.column("cpu")?.null_count()), ((2, 1), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frame(&self) -> Result<DataFrame> {
        let columns = self.columns.iter().zip(&self.values).map(|(c, v)| series(c.name(), v)).collect();
        DataFrame::new(self.rows, columns).map_err(|e| Error::convert("a frame", e))
    }
}

fn series(name: &str, values: &Values) -> Series {
    let name = name.into();
    match values {
        Values::U64(values) => Typed::new(name, values),
        Values::Interval(values) => Typed::new(name, &lower(values)),
        Values::I64(values) => Typed::new(name, values),
        Values::F64(values) => Typed::new(name, values),
        Values::Text(values) => Typed::new(name, values),
        Values::Bool(values) => Typed::new(name, values),
        Values::Nested(values) => {
            let texts: Vec<Option<&str>> =
                values.iter().map(|value| value.as_ref().and_then(Nested::text)).collect();
            Typed::new(name, &texts)
        }
    }
    .into()
}
