//! Reads the rows of a small table and checks them. Whatever a file contains, the result is values or an error.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

use super::checksum::{CheckedFile, damaged};
use super::guard::{GuardedReader, PageSizes, check_footer, guarded, page_sizes, plain_error};
use perfpipe_model::error::{Error, Result};

/// The number of rows per piece, by which tables of any length are read.
const ROWS: usize = 1024;

/// Consecutive rows of a table.
pub(super) struct TableRows {
    rows: RecordBatch,
    /// The action that an error message names.
    what: Arc<str>,
}

/// An open table.
pub(super) struct TableReader {
    file: CheckedFile,
    metadata: ArrowReaderMetadata,
    /// The action that an error message names.
    what: Arc<str>,
}

impl TableReader {
    /// Opens a table.
    pub(super) fn open(file: CheckedFile) -> Result<Self> {
        let what: Arc<str> = format!("reading {}", file.path().display()).into();
        let load = || {
            check_footer(&file)?;
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(plain_error)
        };
        let metadata = guarded(&what, &file, load)?;
        Ok(Self { file, metadata, what })
    }

    /// Returns the number of row groups.
    pub(super) fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Returns the only text of a column, or of its lists, if the file's own statistics show that there is no other.
    pub(super) fn only_text(&self, name: &str) -> Option<String> {
        let mut only = None;
        for group in self.metadata.metadata().row_groups() {
            let is_wanted = |column: &&ColumnChunkMetaData| {
                column.column_path().parts().first().is_some_and(|root| root == name)
            };
            let column = group.columns().iter().find(is_wanted)?;
            let Some(Statistics::ByteArray(texts)) = column.statistics() else { return None };
            let exact = texts.min_is_exact() && texts.max_is_exact();
            let text = texts.min_opt().filter(|min| exact && texts.max_opt() == Some(*min))?;
            if only.get_or_insert(text) != &text {
                return None;
            }
        }
        only.and_then(|text| text.as_utf8().ok()).map(str::to_owned)
    }

    /// Fails if there are more rows than `most`, which is what the table's own run can have.
    fn check_rows(&self, most: u64) -> Result<()> {
        let rows = self.metadata.metadata().row_groups().iter().map(|group| group.num_rows());
        let rows = rows.fold(0_u64, |sum, rows| sum.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX)));
        if rows <= most {
            return Ok(());
        }
        Err(Error::store(&*self.what, damaged(&format!("it has {rows} rows, and a run has at most {most}"))))
    }

    /// Reads row groups piece by piece, of those columns that are wanted. Nothing follows an error.
    pub(super) fn rows<W: Fn(&str) -> bool>(
        &self,
        mut groups: Range<usize>,
        wanted: W,
    ) -> impl Iterator<Item = Result<TableRows>> + use<W> {
        let Self { file, metadata, what } = self;
        let table = Self { file: file.clone(), metadata: metadata.clone(), what: Arc::clone(what) };
        let mut group = None;
        std::iter::from_fn(move || {
            loop {
                if let Some(rows) = group.as_mut().and_then(GuardedReader::next) {
                    return Some(rows.map(|rows| TableRows { rows, what: Arc::clone(&table.what) }));
                }
                match table.group(groups.next()?, &wanted) {
                    Ok(next) => group = Some(next),
                    Err(error) => {
                        groups = 0..0;
                        group = None;
                        return Some(Err(error));
                    }
                }
            }
        })
    }

    /// Opens a row group, once its pages are known to fit in memory. Each is read by itself: its rows decide how many
    /// are read at a time.
    fn group(&self, number: usize, wanted: &impl Fn(&str) -> bool) -> Result<GuardedReader> {
        let metadata = self.metadata.metadata();
        let missing = || Error::bug(&*self.what, "a row group is missing");
        let group = metadata.row_groups().get(number).ok_or_else(missing)?;
        let sizes: PageSizes =
            guarded(&self.what, &self.file, || Ok(page_sizes(&self.file, group, wanted)?))?;
        GuardedReader::open(self.file.clone(), |file| {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
            let fields = builder.schema().fields().iter().enumerate();
            let columns: Vec<usize> =
                fields.filter(|(_, field)| wanted(field.name())).map(|(at, _)| at).collect();
            let columns = ProjectionMask::roots(builder.parquet_schema(), columns);
            let rows = sizes.rows_at_once(ROWS);
            builder.with_row_groups(vec![number]).with_projection(columns).with_batch_size(rows).build()
        })
    }
}

/// Reads a table of a run piece by piece, which has at most so many rows.
pub(super) fn read(file: CheckedFile, most: u64) -> Result<impl Iterator<Item = Result<TableRows>> + use<>> {
    let table = TableReader::open(file)?;
    table.check_rows(most)?;
    Ok(table.rows(0..table.groups(), |_| true))
}

impl TableRows {
    /// Returns the number of rows. Every column has as many values.
    pub(super) fn len(&self) -> usize {
        self.rows.num_rows()
    }

    /// Returns a column of numbers.
    pub(super) fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&[T::Native]> {
        self.primitive::<T>(self.column(name)?, name)
    }

    /// Returns a column of non-negative numbers.
    pub(super) fn counts(&self, name: &str) -> Result<Vec<u64>> {
        self.unsigned::<Int64Type, u64>(self.column(name)?, name)
    }

    /// Returns a column of seconds since t0.
    pub(super) fn seconds(&self, name: &str) -> Result<Vec<u32>> {
        self.unsigned::<Int32Type, u32>(self.column(name)?, name)
    }

    /// Returns a column of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<&str>> {
        self.strings(self.column(name)?, name)
    }

    /// Returns a column of texts some of which may be absent.
    pub(super) fn optional_texts(&self, name: &str) -> Result<Vec<Option<&str>>> {
        let array = self.any(name)?.as_string_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().collect())
    }

    /// Returns a column of byte strings.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<&[u8]>> {
        let array = self.column(name)?.as_binary_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// Returns a column of booleans.
    pub(super) fn flags(&self, name: &str) -> Result<Vec<bool>> {
        let array = self.column(name)?.as_boolean_opt().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// Returns a column of lists of numbers.
    pub(super) fn number_lists<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<ListColumn<'_, T::Native>> {
        let (ends, values) = self.lists(name)?;
        Ok(ListColumn { ends, values: self.primitive::<T>(values, name)?.to_vec() })
    }

    /// Returns a column of lists of non-negative numbers.
    pub(super) fn count_lists(&self, name: &str) -> Result<ListColumn<'_, u64>> {
        let (ends, values) = self.lists(name)?;
        Ok(ListColumn { ends, values: self.unsigned::<Int64Type, u64>(values, name)? })
    }

    /// Returns a column of lists of texts, each converted by `of`.
    pub(super) fn text_lists<T>(&self, name: &str, of: impl FnMut(&str) -> T) -> Result<ListColumn<'_, T>> {
        let (ends, values) = self.lists(name)?;
        Ok(ListColumn { ends, values: self.strings(values, name)?.into_iter().map(of).collect() })
    }

    /// Returns an error for a fault of the table, if there is one.
    pub(super) fn refuse(&self, fault: Option<String>) -> Result<()> {
        fault.map_or(Ok(()), |fault| Err(self.damaged(fault)))
    }

    /// Returns the error for an inconsistent table.
    pub(super) fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::store(&*self.what, damaged(&problem.into()))
    }

    fn other_type(&self, name: &str) -> Error {
        self.damaged(format!("column {name} has another type than perfpipe writes"))
    }

    fn column(&self, name: &str) -> Result<&ArrayRef> {
        self.whole(self.any(name)?, name)
    }

    /// Returns a column, whether it has nulls or not.
    fn any(&self, name: &str) -> Result<&ArrayRef> {
        self.rows.column_by_name(name).ok_or_else(|| self.damaged(format!("no column {name}")))
    }

    /// Returns the array, or an error if it has nulls.
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
        let below = |_| self.damaged(format!("column {name} has a number below zero"));
        self.primitive::<T>(array, name)?.iter().map(|value| U::try_from(*value).map_err(below)).collect()
    }

    fn strings<'a>(&self, array: &'a ArrayRef, name: &str) -> Result<Vec<&'a str>> {
        let array = array.as_string_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok(array.iter().flatten().collect())
    }

    /// Returns the offsets of each row's list, and the values of all lists.
    fn lists(&self, name: &str) -> Result<(&[i32], &ArrayRef)> {
        let lists = self.column(name)?.as_list_opt::<i32>().ok_or_else(|| self.other_type(name))?;
        Ok((lists.value_offsets(), self.whole(lists.values(), name)?))
    }
}

/// A column of lists.
pub(super) struct ListColumn<'a, T> {
    /// The index at which the first list begins, and those at which each list ends.
    ends: &'a [i32],
    values: Vec<T>,
}

impl<T> ListColumn<'_, T> {
    /// Returns the list of a row; empty beyond the last row.
    pub(super) fn get(&self, row: usize) -> &[T] {
        match self.ends.get(row..).and_then(|ends| ends.first_chunk()) {
            Some([from, to]) => self.values.get(*from as usize..*to as usize).unwrap_or_default(),
            None => &[],
        }
    }
}

/// Returns the value of a row. All columns of a piece have the same length, so there is one for each row.
pub(super) fn at<T: Copy + Default>(values: &[T], row: usize) -> T {
    values.get(row).copied().unwrap_or_default()
}
