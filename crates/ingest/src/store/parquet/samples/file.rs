//! Writes files of samples: gathers the pages of batches to row groups.

use std::io::Write;

use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use super::super::checksum::{FileSums, SummedFile};
use super::super::guard::panics::plain_error;
use super::super::notes::{FileNotes, RESOLUTION};
use super::super::pages::{GatheredFile, PagedFile};
use super::encode::{SampleColumns, SampleEncoder};
use super::{LONGEST, READ_ROWS, READ_TEXTS, Times, failed, schema};
use crate::error::{Error, Result};
use crate::pipeline::sink::BatchEncoder;
use crate::sample::batch::SampleBatch;
use crate::sample::resolution::Resolution;

/// The approximate number of rows in a row group: large enough to make its metadata negligible, small enough to keep
/// memory flat.
const ROW_GROUP: usize = 256 << 10;

/// The number of files written side by side up to which row groups become smaller.
const MOST_PARTED: usize = 8;

/// The approximate maximum size in bytes of the texts in a row group, which is held in memory until it ends.
const GROUP_TEXTS: usize = 8 << 20;

/// A file of samples that is being written.
pub(super) struct SampleFile<W: Write + Send> {
    begun: BegunFile<W>,
    /// How times are written if there are none.
    empty: Times,
    /// The number of rows in the current row group.
    open: usize,
    /// The smallest and the largest `t_ms` of the current row group.
    span: (i32, i32),
    /// The size in bytes of the texts of the current row group's batches; each text counts once per batch.
    texts: usize,
    rows: u64,
    /// The maximum size in bytes of the texts of one row.
    longest: usize,
    /// The action that an error message names.
    what: String,
}

/// The span of no rows.
const NO_SPAN: (i32, i32) = (i32::MAX, i32::MIN);

/// A file, which is begun by its first rows: they tell the unit of their times.
enum BegunFile<W: Write + Send> {
    No(Option<W>),
    Yes(Box<GatheredFile<W>>),
}

impl<W: Write + Send> BegunFile<W> {
    /// Returns the file, begun if it was not.
    fn get(&mut self, times: Times) -> Result<&mut GatheredFile<W>, ParquetError> {
        if let Self::No(out) = self {
            let out =
                out.take().ok_or_else(|| ParquetError::General("the file could not be begun".into()))?;
            *self = Self::Yes(Box::new(GatheredFile::new(out, &schema(times))?));
        }
        match self {
            Self::Yes(begun) => Ok(begun),
            Self::No(_) => Err(ParquetError::General("the file is not begun".into())),
        }
    }
}

impl SampleFile<SummedFile> {
    /// Begins a file. `empty` is how its times are written if there are none.
    pub(super) fn begin(out: SummedFile, empty: Times) -> Self {
        let what = format!("writing {}", out.path().display());
        Self::new(out, what, empty)
    }

    /// Ends the rows of the file, and begins to make it durable, unless that is under way.
    pub(super) fn close(mut self) -> Result<EndedFile> {
        self.end()?;
        match self.begun {
            BegunFile::Yes(mut columns) => {
                columns.file().inner_mut().send_on()?;
                Ok(EndedFile { rows: self.rows, file: columns.into_file(), what: self.what })
            }
            BegunFile::No(_) => Err(failed(ParquetError::General("the file is not begun".into()))),
        }
    }
}

/// A file of samples that has all its rows, but lacks its metadata, and is not yet durable.
pub(super) struct EndedFile {
    pub(super) rows: u64,
    file: PagedFile<SummedFile>,
    /// The action that an error message names.
    what: String,
}

impl EndedFile {
    /// Ends the file with its metadata, and makes it durable. Returns its checksums.
    pub(super) fn finish(mut self, notes: FileNotes) -> Result<FileSums> {
        self.file.note(notes);
        self.file.finish().map_err(|error| Error::store(&*self.what, plain_error(error)))?;
        self.file.inner_mut().finish()
    }
}

impl<W: Write + Send> SampleFile<W> {
    fn new(out: W, what: String, empty: Times) -> Self {
        let begun = BegunFile::No(Some(out));
        Self { begun, empty, open: 0, span: NO_SPAN, texts: 0, rows: 0, longest: 0, what }
    }

    /// Appends rows. `files` is the number of files that are written side by side, whose row groups are all in memory.
    pub(super) fn append(&mut self, rows: SampleColumns, files: usize) -> Result<()> {
        let columns =
            self.begun.get(rows.times).map_err(|error| Error::store(&*self.what, plain_error(error)))?;
        columns.add(rows.parts).map_err(failed)?;
        self.open += rows.rows;
        self.span = (self.span.0.min(rows.span.0), self.span.1.max(rows.span.1));
        self.texts += rows.texts;
        self.longest = self.longest.max(rows.longest);
        if self.open >= ROW_GROUP / files.clamp(1, MOST_PARTED) || self.texts >= GROUP_TEXTS {
            self.end_group()
        } else {
            Ok(())
        }
    }

    fn end_group(&mut self) -> Result<()> {
        let columns = self.begun.get(self.empty).map_err(failed)?;
        let (least, most) = std::mem::replace(&mut self.span, NO_SPAN);
        // Only the first column, t_ms, has statistics: the records of a log are in order of nothing else.
        let span = Statistics::int32(Some(least), Some(most), None, Some(0), false);
        columns.end_group(Some(span)).map_err(|error| Error::store(&*self.what, plain_error(error)))?;
        self.rows += std::mem::take(&mut self.open) as u64;
        self.texts = 0;
        Ok(())
    }

    /// Ends the rows.
    fn end(&mut self) -> Result<()> {
        if self.open > 0 {
            self.end_group()?;
        }
        let failed = |error| Error::store(&*self.what, plain_error(error));
        let file = self.begun.get(self.empty).map_err(failed)?.file();
        if self.longest * READ_ROWS > READ_TEXTS {
            file.note(vec![(LONGEST, self.longest.to_string())]);
        }
        Ok(())
    }
}

/// Writes samples to one Parquet file for other programs, with the columns of the store. Times finer than a ms are in ms,
/// with decimals. The file's metadata says so: `perfpipe.resolution_us` is 1000.
pub struct SampleExport<W: Write + Send> {
    file: SampleFile<W>,
    encoder: SampleEncoder,
}

impl<W: Write + Send> SampleExport<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn new(out: W) -> Result<Self> {
        let file = SampleFile::new(out, "writing samples".to_owned(), Times::Ms);
        Ok(Self { encoder: SampleEncoder::in_ms(), file })
    }

    /// Appends a batch. Memory is bounded by one row group of 262,144 rows and about 8 MiB of texts.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&mut self, batch: &SampleBatch) -> Result<()> {
        match self.encoder.encode(batch)? {
            Some(rows) => self.file.append(rows, 1),
            None => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn finish(mut self) -> Result<()> {
        self.file.end()?;
        let failed = |error| Error::store(&*self.file.what, plain_error(error));
        let file = self.file.begun.get(self.file.empty).map_err(failed)?.file();
        file.note(vec![(RESOLUTION, Resolution::MILLISECOND.microseconds().to_string())]);
        file.finish().map_err(failed)
    }
}
