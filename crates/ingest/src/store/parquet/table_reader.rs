//! Rows of a small table, checked as they are read: whatever a file holds, it gives values or an error.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::checksum::{CheckedFile, damaged};
use super::panics::Guarded;
use crate::error::{Error, Result};

/// Rows a piece; a table of any length is read in pieces.
const ROWS: usize = 4096;

/// Some rows of a table.
pub(super) struct Piece {
    rows: RecordBatch,
    /// What is being done, for messages.
    what: Arc<str>,
}

/// The pieces of a table.
pub(super) fn read(file: CheckedFile) -> Result<impl Iterator<Item = Result<Piece>> + use<>> {
    read_without(file, &[])
}

/// The pieces of a table, but for some of its columns.
pub(super) fn read_without(
    file: CheckedFile,
    columns: &[&str],
) -> Result<impl Iterator<Item = Result<Piece>> + use<>> {
    let what: Arc<str> = format!("reading {}", file.path().display()).into();
    let rows = Guarded::open(file, |file| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let fields = builder.schema().fields().iter().enumerate();
        let wanted: Vec<usize> =
            fields.filter(|(_, field)| !columns.contains(&field.name().as_str())).map(|(at, _)| at).collect();
        let wanted = ProjectionMask::roots(builder.parquet_schema(), wanted);
        builder.with_projection(wanted).with_batch_size(ROWS).build()
    })?;
    Ok(rows.map(move |rows| Ok(Piece { rows: rows?, what: Arc::clone(&what) })))
}

impl Piece {
    /// How many rows there are; every column has as many values.
    pub(super) fn len(&self) -> usize {
        self.rows.num_rows()
    }

    /// A column of numbers.
    pub(super) fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&[T::Native]> {
        self.primitive::<T>(self.column(name)?, name)
    }

    /// A column of numbers that can't be below zero.
    pub(super) fn counts(&self, name: &str) -> Result<Vec<u64>> {
        self.unsigned::<Int64Type, u64>(self.column(name)?, name)
    }

    /// A column of seconds from t0.
    pub(super) fn seconds(&self, name: &str) -> Result<Vec<u32>> {
        self.unsigned::<Int32Type, u32>(self.column(name)?, name)
    }

    /// A column of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<&str>> {
        self.strings(self.column(name)?, name)
    }

    /// A column of bytes.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<&[u8]>> {
        let array = self.column(name)?.as_binary_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// A column of truths.
    pub(super) fn flags(&self, name: &str) -> Result<Vec<bool>> {
        let array = self.column(name)?.as_boolean_opt().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// A column of lists of numbers, one after another.
    pub(super) fn number_lists<T: ArrowPrimitiveType>(&self, name: &str) -> Result<Lists<'_, T::Native>> {
        let (ends, values) = self.lists(name)?;
        Ok(Lists { ends, values: self.primitive::<T>(values, name)?.to_vec() })
    }

    /// A column of lists of numbers that can't be below zero.
    pub(super) fn count_lists(&self, name: &str) -> Result<Lists<'_, u64>> {
        let (ends, values) = self.lists(name)?;
        Ok(Lists { ends, values: self.unsigned::<Int64Type, u64>(values, name)? })
    }

    /// A column of lists of texts, each made into something else.
    pub(super) fn text_lists<T>(&self, name: &str, of: impl FnMut(&str) -> T) -> Result<Lists<'_, T>> {
        let (ends, values) = self.lists(name)?;
        Ok(Lists { ends, values: self.strings(values, name)?.into_iter().map(of).collect() })
    }

    /// The error that the table does not hold together.
    pub(super) fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::store(&*self.what, damaged(&problem.into()))
    }

    fn other_type(&self, name: &str) -> Error {
        self.damaged(format!("column {name} has another type than perfpipe writes"))
    }

    fn column(&self, name: &str) -> Result<&ArrayRef> {
        let column =
            self.rows.column_by_name(name).ok_or_else(|| self.damaged(format!("no column {name}")))?;
        self.whole(column, name)
    }

    /// The array, unless a value is absent from it.
    fn whole<'a>(&self, array: &'a ArrayRef, name: &str) -> Result<&'a ArrayRef> {
        match array.null_count() {
            0 => Ok(array),
            _ => Err(self.damaged(format!("column {name} lacks values"))),
        }
    }

    fn primitive<'a, T: ArrowPrimitiveType>(
        &self,
        array: &'a ArrayRef,
        name: &str,
    ) -> Result<&'a [T::Native]> {
        let array = array.as_primitive_opt::<T>().ok_or_else(|| self.other_type(name))?;
        Ok(array.values())
    }

    fn unsigned<T, U>(&self, array: &ArrayRef, name: &str) -> Result<Vec<U>>
    where
        T: ArrowPrimitiveType,
        U: TryFrom<T::Native>,
    {
        let below = |_| self.damaged(format!("column {name} holds a number below zero"));
        self.primitive::<T>(array, name)?.iter().map(|value| U::try_from(*value).map_err(below)).collect()
    }

    fn strings<'a>(&self, array: &'a ArrayRef, name: &str) -> Result<Vec<&'a str>> {
        let array = array.as_string_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// Where each row's list ends, and the values of all.
    fn lists(&self, name: &str) -> Result<(&[i32], &ArrayRef)> {
        let lists = self.column(name)?.as_list_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok((lists.value_offsets(), self.whole(lists.values(), name)?))
    }
}

/// A column of lists.
pub(super) struct Lists<'a, T> {
    /// Where the first list begins, and where each ends.
    ends: &'a [i32],
    values: Vec<T>,
}

impl<T> Lists<'_, T> {
    /// The list of a row, empty beyond the end.
    pub(super) fn get(&self, row: usize) -> &[T] {
        match self.ends.get(row..).and_then(|ends| ends.first_chunk()) {
            Some([from, to]) => self.values.get(*from as usize..*to as usize).unwrap_or_default(),
            None => &[],
        }
    }
}

/// The value of a row. Columns of one piece are equally long, so that there is one for each row.
pub(super) fn at<T: Copy + Default>(values: &[T], row: usize) -> T {
    values.get(row).copied().unwrap_or_default()
}
