//! Writes the samples of a run: encodes batches as pages of the columns, and gathers them to the row groups of several
//! files, which are written side by side.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;

use super::{LONGEST, READ_ROWS, READ_TEXTS, TimeEncoding, failed, schema};
use crate::consistency::SampleTotals;
use crate::parquet::checksum::{FileNotes, FileSums, RESOLUTION, SummedFile};
use crate::parquet::guard::plain_error;
use crate::parquet::pages::{
    CodedRows, ColumnPart, DistinctValues, GatheredFile, PageCompression, PageLevels, PagedFile, ValueCodes,
    WholeNumber, doubles, flags, numbers,
};
use crate::parquet::place::RunPlace;
use crate::parquet::tables::SAMPLES;
use crate::sink::BatchEncoder;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::batch::{Nullable, SampleBatch, any};
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::texts::Texts;

/// The file name of a piece.
pub(crate) fn file_name(piece: usize) -> String {
    match piece {
        0 => SAMPLES.to_owned(),
        later => format!("samples_{:03}.parquet", later + 1),
    }
}

/// Returns the piece that is in a file with this name; `None` if it has no samples.
pub(crate) fn piece_of(name: &str) -> Option<usize> {
    if name == SAMPLES {
        return Some(0);
    }
    let number = name.strip_prefix("samples_")?.strip_suffix(".parquet")?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

/// The files of a run's samples. The first one exists from the beginning, the others from their first samples on.
pub(crate) struct SamplePieces {
    place: RunPlace,
    open: BTreeMap<usize, SampleFile<SummedFile>>,
    ended: BTreeMap<usize, EndedFile>,
}

impl SamplePieces {
    pub(crate) fn create(place: &RunPlace) -> Result<Self> {
        let first = SampleFile::begin(place.create(SAMPLES)?);
        let open = BTreeMap::from([(0, first)]);
        Ok(Self { place: place.clone(), open, ended: BTreeMap::new() })
    }

    /// Appends rows to a piece.
    pub(crate) fn append(&mut self, piece: usize, rows: SampleColumns) -> Result<()> {
        let files = self.open.len();
        if let Some(file) = self.open.get_mut(&piece) {
            return file.append(rows, files);
        }
        let mut file = SampleFile::begin(self.place.create(&file_name(piece))?);
        file.append(rows, files + 1)?;
        self.open.insert(piece, file);
        Ok(())
    }

    /// Ends a piece.
    pub(crate) fn end(&mut self, piece: usize) -> Result<()> {
        if let Some(file) = self.open.remove(&piece) {
            self.ended.insert(piece, file.close()?);
        }
        Ok(())
    }

    /// Ends the files with this metadata and makes them durable. Returns their names and checksums. They must have
    /// `expected` samples.
    pub(crate) fn close(mut self, expected: u64, notes: &FileNotes) -> Result<Vec<(String, FileSums)>> {
        while let Some((piece, file)) = self.open.pop_first() {
            self.ended.insert(piece, file.close()?);
        }
        let stored: u64 = self.ended.values().map(|file| file.rows).sum();
        if stored != expected {
            return Err(Error::store(
                "checking the samples",
                format!("{stored} were stored of {expected}; nothing was kept"),
            ));
        }
        let finish = |(piece, file): (usize, EndedFile)| Ok((file_name(piece), file.finish(notes.clone())?));
        self.ended.into_iter().map(finish).collect()
    }
}

/// The approximate number of rows in a row group: large enough to make its metadata negligible, small enough to keep
/// memory flat.
const ROW_GROUP: usize = 256 << 10;

/// The number of files written side by side up to which row groups become smaller.
const MOST_PARTED: usize = 8;

/// The approximate maximum size in bytes of the texts in a row group, which is held in memory until it ends.
const GROUP_TEXTS: usize = 8 << 20;

/// A file of samples that is being written.
struct SampleFile<W: Write + Send> {
    begun: BegunFile<W>,
    /// How times are written if there are none.
    empty: TimeEncoding,
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

/// A file, which is begun by its first rows: they determine the unit of their times.
enum BegunFile<W: Write + Send> {
    No(Option<W>),
    Yes(Box<GatheredFile<W>>),
}

impl<W: Write + Send> BegunFile<W> {
    /// Returns the file, begun if it was not.
    fn get(&mut self, times: TimeEncoding) -> Result<&mut GatheredFile<W>, ParquetError> {
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
    /// Begins a file.
    fn begin(out: SummedFile) -> Self {
        let what = format!("writing {}", out.path().display());
        Self::new(out, what, TimeEncoding::Stored)
    }

    /// Ends the rows of the file, and begins to make it durable, unless that is under way.
    fn close(mut self) -> Result<EndedFile> {
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
struct EndedFile {
    pub(super) rows: u64,
    file: PagedFile<SummedFile>,
    /// The action that an error message names.
    what: String,
}

impl EndedFile {
    /// Ends the file with its metadata, and makes it durable. Returns its checksums.
    fn finish(mut self, notes: FileNotes) -> Result<FileSums> {
        self.file.note(notes);
        self.file.finish().map_err(|error| Error::store(&*self.what, plain_error(error)))?;
        self.file.inner_mut().finish()
    }
}

impl<W: Write + Send> SampleFile<W> {
    fn new(out: W, what: String, empty: TimeEncoding) -> Self {
        let begun = BegunFile::No(Some(out));
        Self { begun, empty, open: 0, span: NO_SPAN, texts: 0, rows: 0, longest: 0, what }
    }

    /// Appends rows. `files` is the number of files that are written side by side, whose row groups are all in memory.
    fn append(&mut self, rows: SampleColumns, files: usize) -> Result<()> {
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
        let file = SampleFile::new(out, "writing samples".to_owned(), TimeEncoding::Ms);
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

/// The rows of a batch, encoded.
pub struct SampleColumns {
    /// What the batch adds to each column, in the order of the schema.
    pub(super) parts: Vec<ColumnPart>,
    pub(super) times: TimeEncoding,
    pub(super) rows: usize,
    counted: SampleTotals,
    /// The smallest and the largest `t_ms`.
    pub(super) span: (i32, i32),
    /// The size in bytes of their distinct texts.
    pub(super) texts: usize,
    /// The maximum size in bytes of the texts of one row.
    pub(super) longest: usize,
}

impl SampleColumns {
    /// The numbers of rows by kind.
    pub(crate) fn counted(&self) -> SampleTotals {
        self.counted
    }
}

/// Encodes batches for the file.
pub struct SampleEncoder {
    kept: bool,
    /// True if times finer than a ms are written in ms with decimals.
    in_ms: bool,
}

impl SampleEncoder {
    /// Creates an encoder. If samples are not kept, it returns no columns.
    pub(crate) fn new(kept: bool) -> Self {
        Self { kept, in_ms: false }
    }

    /// Creates an encoder for other programs: times are in ms, with decimals if need be.
    fn in_ms() -> Self {
        Self { kept: true, in_ms: true }
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = SampleColumns;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<SampleColumns>> {
        if !self.kept || batch.is_empty() {
            return Ok(None);
        }
        let times = match (self.in_ms, batch.resolution.is_fine()) {
            (false, _) => TimeEncoding::Stored,
            (true, true) => TimeEncoding::Decimal,
            (true, false) => TimeEncoding::Ms,
        };
        let t_ms = starts(&batch.t_ms)?;
        let span =
            t_ms.iter().fold((i32::MAX, i32::MIN), |(least, most), ms| (least.min(*ms), most.max(*ms)));
        let parts = parts(batch, &t_ms, times).map_err(failed)?;
        let (texts, longest) = (batch.text_bytes(), longest(batch));
        let counted = SampleTotals::of_batch(batch);
        Ok(Some(SampleColumns { parts, times, rows: batch.len(), counted, span, texts, longest }))
    }
}

/// Returns the starts of requests as they are written.
fn starts(t_ms: &[i64]) -> Result<Vec<i32>> {
    // No early exit, so that the loop has one path.
    let bits = t_ms.iter().fold(0, |bits, ms| bits | *ms);
    if i32::try_from(bits).is_ok_and(|bits| bits >= 0) {
        return Ok(t_ms.iter().map(|ms| *ms as i32).collect());
    }
    let narrow = t_ms.iter().map(|ms| i32::try_from(*ms)).collect::<Result<Vec<i32>, _>>();
    narrow.map_err(|error| Error::store("writing samples", error))
}

/// Returns an upper bound of the size in bytes of the texts of one row.
fn longest(batch: &SampleBatch) -> usize {
    let longest = |texts: &Texts| texts.values().iter().map(str::len).max().unwrap_or_default();
    longest(&batch.label) + longest(&batch.response_code) + longest(&batch.injector)
}

/// Returns what a batch adds to each column, in the order of the schema.
fn parts(batch: &SampleBatch, t_ms: &[i32], times: TimeEncoding) -> Result<Vec<ColumnPart>, ParquetError> {
    let SampleBatch {
        resolution,
        t_ms: _,
        label,
        elapsed,
        response_code,
        success,
        bytes,
        sent_bytes,
        all_threads,
        latency,
        idle_time,
        connect,
        cpu: readings,
        injector,
        transaction,
    } = batch;
    let rows = batch.len();
    let time = |values: &[i32], levels| time(values, levels, *resolution, times);
    let (latency, latency_levels) = present(latency);
    let (connect, connect_levels) = present(connect);
    let mut parts = vec![
        numbers(t_ms, PageLevels::required(rows), PageCompression::Tried)?,
        texts(label),
        time(elapsed, PageLevels::required(rows))?,
        texts(response_code),
        flags(success)?,
        nullable(bytes)?,
        nullable(sent_bytes)?,
        nullable(all_threads)?,
        time(&latency, latency_levels)?,
        nullable(idle_time)?,
        time(&connect, connect_levels)?,
        cpu(readings)?,
        texts(injector),
        flags(transaction)?,
    ];
    if times == TimeEncoding::Stored {
        parts.push(unit(*resolution, rows)?);
    }
    Ok(parts)
}

/// Returns the values that are present, and which rows have them.
fn present<T: Copy + Default>(column: &Nullable<T>) -> (Cow<'_, [T]>, PageLevels) {
    let values = column.values();
    match column.valid() {
        None => (Cow::Borrowed(values), PageLevels::same(true, values.len())),
        Some(valid) if !any(valid) => (Cow::Borrowed(&[]), PageLevels::same(false, values.len())),
        Some(valid) => (Cow::Owned(only(values, valid)), PageLevels::some(valid)),
    }
}

/// Returns the values whose rows are valid.
fn only<T: Copy>(values: &[T], valid: &[bool]) -> Vec<T> {
    values.iter().zip(valid).filter(|(_, valid)| **valid).map(|(value, _)| *value).collect()
}

fn nullable<T: WholeNumber>(column: &Nullable<T>) -> Result<ColumnPart, ParquetError> {
    let (values, levels) = present(column);
    numbers(&values, levels, PageCompression::Tried)
}

/// Returns times of requests in a unit as they are written.
fn time(
    values: &[i32],
    levels: PageLevels,
    unit: Resolution,
    times: TimeEncoding,
) -> Result<ColumnPart, ParquetError> {
    match times {
        TimeEncoding::Ms => numbers(values, levels, PageCompression::Tried),
        TimeEncoding::Stored => {
            let wide: Vec<i64> = values.iter().copied().map(i64::from).collect();
            numbers(&wide, levels, PageCompression::Tried)
        }
        TimeEncoding::Decimal => doubles(values.iter().map(|time| unit.ms((*time).into())), levels),
    }
}

/// Returns the column of the unit of `rows` rows.
fn unit(unit: Resolution, rows: usize) -> Result<ColumnPart, ParquetError> {
    numbers(&vec![unit.microseconds() as i32; rows], PageLevels::required(rows), PageCompression::Tried)
}

fn cpu(column: &Nullable<f64>) -> Result<ColumnPart, ParquetError> {
    let (values, levels) = present(column);
    doubles(values.iter().copied(), levels)
}

fn texts(column: &Texts) -> ColumnPart {
    let codes = column.codes();
    let (levels, codes) = match ValueCodes::new(codes) {
        ValueCodes::Same(Texts::NULL, rows) => (PageLevels::same(false, rows), ValueCodes::Each(Vec::new())),
        ValueCodes::Each(_) if codes.contains(&Texts::NULL) => {
            let valid: Vec<bool> = codes.iter().map(|code| *code != Texts::NULL).collect();
            (PageLevels::some(&valid), ValueCodes::new(&only(codes, &valid)))
        }
        all => (PageLevels::same(true, codes.len()), all),
    };
    ColumnPart::Coded(CodedRows { levels, codes, values: DistinctValues::Texts(column.values().clone()) })
}
