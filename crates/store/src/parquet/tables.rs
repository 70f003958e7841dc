//! The small tables of a run: CPU readings and other series, failures, labels, rejected records; and the names of its files.

use std::io::{BufReader, BufWriter, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::Schema;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checksum::{CheckedFile, FileSums, SummedFile};
use super::guard::plain_error;
use super::pages::{
    CodedRows, ColumnPart, DistinctValues, GatheredFile, PageLevels, ValueCodes, coded, doubles, flags, whole,
};
use super::schema::{self, file_schema};
use super::table_reader::{at, read};
use crate::consistency::{self, FailureTexts};
use crate::series_rows::SeriesRows;
use perfpipe_model::counts::{ErrorCount, LabelCount};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::rejects::{Reject, RejectSpool, read_lines};
use perfpipe_model::sample::intern::Interner;
use perfpipe_model::series::cpu::TimeSeries;
use perfpipe_model::series::server::ServerSeries;

pub(super) const SAMPLES: &str = "samples.parquet";
pub(super) const SECONDS: &str = "seconds.parquet";
pub(super) const CPU: &str = "cpu.parquet";
pub(super) const SERIES: &str = "series.parquet";
pub(super) const ERRORS: &str = "errors.parquet";
pub(super) const LABELS: &str = "labels.parquet";
pub(super) const REJECTS: &str = "rejects.jsonl";
/// The file of rejected records where it is part of a table of all runs.
pub(super) const REJECT_TABLE: &str = "rejects.parquet";
/// The file of a run's row where it is part of a table of all runs.
#[cfg(feature = "lake")]
pub(super) const RUN: &str = "run.parquet";
/// The file of a run's tags where they are a table of all runs.
pub(super) const TAGS: &str = "tags.parquet";
pub(super) const PART: &str = "part.json";
pub(super) const NAMES: &str = "names.json";

/// The files of all small tables and of the rejected records.
pub(super) const SMALL: [&str; 5] = [SECONDS, CPU, ERRORS, LABELS, REJECTS];

/// The files that runs have only where there is something in them.
pub(super) const OPTIONAL: [&str; 4] = [SERIES, TAGS, PART, NAMES];

/// Writes the rejected records, one JSON object per line.
pub(super) fn write_rejects(out: SummedFile, rejects: &mut RejectSpool) -> Result<FileSums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    rejects.write_lines(&mut writer)?.map_err(|error| Error::io(&path, error))?;
    finish_buffered(writer, &path)
}

/// Reads the rejected records.
pub(super) fn read_rejects(file: &CheckedFile) -> impl Iterator<Item = Result<Reject>> + use<> {
    let what = format!("reading {}", file.path().display());
    read_lines(BufReader::new(file.reader(0)), what)
}

/// Writes a JSON document.
pub(super) fn write_document(out: SummedFile, document: &impl Serialize) -> Result<FileSums> {
    let path = out.path().to_owned();
    let mut writer = BufWriter::new(out);
    serde_json::to_writer(&mut writer, document).map_err(|error| Error::io(&path, error.into()))?;
    finish_buffered(writer, &path)
}

fn finish_buffered(writer: BufWriter<SummedFile>, path: &Path) -> Result<FileSums> {
    let mut out = writer.into_inner().map_err(|error| Error::io(path, error.into_error()))?;
    out.finish()
}

/// The maximum size of a JSON document in bytes: five lists of names, each byte of which may need six.
const DOCUMENT: u64 = 256 << 20;

/// Reads a JSON document.
pub(super) fn read_document<T: DeserializeOwned>(file: &CheckedFile) -> Result<T> {
    let read = serde_json::from_reader(BufReader::new(file.reader(0).take(DOCUMENT)));
    read.map_err(|error| Error::store(format!("reading {}", file.path().display()), error))
}

/// The size in bytes of distinct texts that ends a row group.
const TEXTS: usize = 8 << 20;

/// Writes the failures.
pub(super) fn write_errors(
    out: SummedFile,
    mut errors: impl Iterator<Item = Result<ErrorCount>>,
) -> Result<FileSums> {
    let groups = std::iter::from_fn(move || FailureColumns::take(&mut errors).transpose());
    write_table(out, &file_schema(schema::ERRORS), groups.map(|group| Ok(group?.group())))
}

/// The number of shared texts that are recognised by their address.
const SHARED: usize = 8;

/// A column of texts.
#[derive(Default)]
struct TextColumn {
    known: Interner,
    codes: Vec<u32>,
    /// The first ones with their codes: failures of the same names mostly share them.
    shared: Vec<(Arc<str>, u32)>,
}

impl TextColumn {
    fn push(&mut self, text: Arc<str>) {
        let shared = self.shared.iter().find(|(known, _)| Arc::ptr_eq(known, &text));
        let code = shared.map(|(_, code)| *code).unwrap_or_else(|| self.number(text));
        self.codes.push(code);
    }

    fn number(&mut self, text: Arc<str>) -> u32 {
        let code = self.known.number(&text);
        if self.shared.len() < SHARED {
            self.shared.push((text, code));
        }
        code
    }
}

/// The failures of a row group by column.
#[derive(Default)]
struct FailureColumns {
    second: Vec<i32>,
    /// Labels, response codes and messages.
    texts: [TextColumn; 3],
    transaction: Vec<bool>,
    count: Vec<i64>,
}

impl FailureColumns {
    /// Reads the next failures; `None` if there are none.
    fn take(errors: &mut impl Iterator<Item = Result<ErrorCount>>) -> Result<Option<Self>> {
        let mut group = Self::default();
        while group.second.len() < ROWS && group.bytes() < TEXTS {
            let Some(error) = errors.next().transpose()? else { break };
            group.second.push(error.second as i32);
            let texts = [error.label, error.response_code, error.message];
            group.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
            group.transaction.push(error.transaction);
            group.count.push(error.count as i64);
        }
        Ok(Some(group).filter(|group| !group.second.is_empty()))
    }

    /// The size of the distinct texts.
    fn bytes(&self) -> usize {
        self.texts.iter().map(|column| column.known.texts().bytes()).sum()
    }

    /// Returns the columns in the order of the schema.
    fn group(self) -> ColumnGroup {
        let (first, last) = (self.second.first().copied(), self.second.last().copied());
        let levels = PageLevels::required(self.second.len());
        let text = |TextColumn { known, codes, .. }: TextColumn| {
            let values = DistinctValues::Texts(known.into_texts());
            ColumnPart::Coded(CodedRows { levels: levels.clone(), codes: ValueCodes::new(&codes), values })
        };
        let [label, code, message] = self.texts.map(text).map(Ok);
        let (second, count) = (whole(&self.second), whole(&self.count));
        let span = Statistics::int32(first, last, None, Some(0), false);
        (Some(span), vec![second, label, code, message, flags(&self.transaction), count])
    }
}

/// Reads the failures.
pub(super) fn read_errors(file: CheckedFile, info: &RunInfo) -> Result<Vec<ErrorCount>> {
    let (mut errors, mut shared) = (Vec::new(), FailureTexts::default());
    for piece in read(file, consistency::max_failures(info))? {
        let piece = piece?;
        let (seconds, counts) = (piece.seconds("second")?, piece.counts("count")?);
        let (labels, codes) = (piece.texts("label")?, piece.texts("response_code")?);
        let (messages, transactions) = (piece.texts("message")?, piece.flags("transaction")?);
        for row in 0..piece.len() {
            errors.push(ErrorCount {
                second: at(&seconds, row),
                label: shared.text(at(&labels, row)),
                response_code: shared.text(at(&codes, row)),
                message: shared.text(at(&messages, row)),
                transaction: at(&transactions, row),
                count: at(&counts, row),
            });
            let far = consistency::second_fault("failures", at(&seconds, row), info);
            piece.refuse(far.or_else(|| shared.fault(info)))?;
        }
    }
    Ok(errors)
}

/// Writes the whole-run counts by label.
pub(super) fn write_labels(out: SummedFile, labels: &[LabelCount]) -> Result<FileSums> {
    write_table(out, &file_schema(schema::LABELS), labels.chunks(ROWS).map(|labels| Ok(label_group(labels))))
}

fn label_group(labels: &[LabelCount]) -> ColumnGroup {
    let number =
        |of: fn(&LabelCount) -> u64| whole(&labels.iter().map(|label| of(label) as i64).collect::<Vec<_>>());
    let values = DistinctValues::Texts(labels.iter().map(|label| &label.label).collect());
    let codes = ValueCodes::Each((0..labels.len() as u32).collect());
    let label =
        Ok(ColumnPart::Coded(CodedRows { levels: PageLevels::required(labels.len()), codes, values }));
    let numbers: [fn(&LabelCount) -> u64; 3] =
        [|label| label.successes, |label| label.failures, |label| label.transactions];
    (None, std::iter::once(label).chain(numbers.map(number)).collect())
}

/// Reads the whole-run counts by label.
pub(super) fn read_labels(file: CheckedFile) -> Result<Vec<LabelCount>> {
    let (mut counts, mut bytes) = (Vec::new(), 0);
    for piece in read(file, consistency::MAX_NAMES as u64)? {
        let piece = piece?;
        let (successes, failures) = (piece.counts("successes")?, piece.counts("failures")?);
        let (labels, transactions) = (piece.texts("label")?, piece.counts("transactions")?);
        bytes += labels.iter().map(|label| label.len()).sum::<usize>();
        piece.refuse(consistency::names_fault("labels", counts.len() + labels.len(), bytes))?;
        counts.extend((0..piece.len()).map(|row| LabelCount {
            label: at(&labels, row).to_owned(),
            successes: at(&successes, row),
            failures: at(&failures, row),
            transactions: at(&transactions, row),
        }));
    }
    Ok(counts)
}

/// Writes the CPU readings.
pub(super) fn write_cpu(out: SummedFile, cpu: &TimeSeries) -> Result<FileSums> {
    let group = |readings| Ok((None, columns(readings).into()));
    write_table(out, &file_schema(schema::CPU), cpu.readings().chunks(ROWS).map(group))
}

/// The columns of readings: clocks and values.
fn columns(readings: &[(i64, f64)]) -> [Result<ColumnPart, ParquetError>; 2] {
    let clock: Vec<i64> = readings.iter().map(|(clock, _)| *clock).collect();
    let values = readings.iter().map(|(_, value)| *value);
    [whole(&clock), doubles(values, PageLevels::required(clock.len()))]
}

/// Reads the CPU readings.
pub(super) fn read_cpu(file: CheckedFile) -> Result<TimeSeries> {
    let mut readings = Vec::new();
    for piece in read(file, consistency::MAX_READINGS)? {
        let piece = piece?;
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        readings.extend(clocks.iter().copied().zip(values.iter().copied()));
    }
    Ok(TimeSeries::new(readings))
}

/// Writes the readings of other series.
pub(super) fn write_series(out: SummedFile, series: &[ServerSeries]) -> Result<FileSums> {
    let mut each = (0..).zip(series).flat_map(|(number, series)| {
        series.readings.readings().iter().map(move |reading| (number, *reading))
    });
    let groups = std::iter::from_fn(move || {
        let rows: Vec<(u32, (i64, f64))> = each.by_ref().take(ROWS).collect();
        (!rows.is_empty()).then(|| series_group(series, &rows))
    });
    write_table(out, &file_schema(schema::SERIES), groups)
}

/// Encodes rows: each with the number of its series.
fn series_group(series: &[ServerSeries], rows: &[(u32, (i64, f64))]) -> Result<ColumnGroup> {
    let (numbers, readings): (Vec<u32>, Vec<(i64, f64)>) = rows.iter().copied().unzip();
    let text = |of: fn(&ServerSeries) -> &str| {
        let texts: Vec<&str> = series.iter().map(of).collect();
        coded(&numbers, &texts, PageLevels::required(rows.len())).map(Ok)
    };
    let [clock, value] = columns(&readings);
    Ok((None, vec![text(|series| &series.name)?, text(|series| &series.unit)?, clock, value]))
}

/// Reads the readings of other series.
pub(super) fn read_series(file: CheckedFile) -> Result<Vec<ServerSeries>> {
    let mut rows = SeriesRows::default();
    for piece in read(file, consistency::MAX_SERIES.0)? {
        let piece = piece?;
        let (names, units) = (piece.texts("name")?, piece.texts("unit")?);
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        for row in 0..piece.len() {
            rows.add(at(&names, row), at(&units, row), (at(clocks, row), at(values, row)));
        }
        piece.refuse(rows.fault())?;
    }
    Ok(rows.finish())
}

/// The maximum number of rows in a row group.
const ROWS: usize = 64 << 10;

/// A row group: the statistics of its first column, and what it adds to each, in the order of the schema.
type ColumnGroup = (Option<Statistics>, Vec<Result<ColumnPart, ParquetError>>);

/// Writes a table of row groups and makes it durable. Without any, there still is a file.
fn write_table(
    mut out: SummedFile,
    schema: &Schema,
    groups: impl Iterator<Item = Result<ColumnGroup>>,
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error| Error::store(&*what, plain_error(error));
    let notes = out.take_notes();
    let mut table = GatheredFile::new(out, schema).map_err(failed)?;
    for group in groups {
        let (first, parts) = group?;
        let parts = parts.into_iter().collect::<Result<Vec<ColumnPart>, _>>().map_err(failed)?;
        table.add(parts).and_then(|()| table.end_group(first)).map_err(failed)?;
    }
    table.file().note(notes);
    table.file().finish().map_err(failed)?;
    table.file().inner_mut().finish()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::parquet::place::{create, open};

    #[test]
    fn shared_texts_have_the_codes_of_equal_ones() {
        let shared: Vec<Arc<str>> = (0..2 * SHARED).map(|number| number.to_string().into()).collect();
        let mut column = TextColumn::default();
        for round in 0..3 {
            for text in &shared {
                column.push(if round == 1 { Arc::from(&**text) } else { Arc::clone(text) });
            }
        }
        let expected: Vec<u32> = (0..3).flat_map(|_| 0..2 * SHARED as u32).collect();
        assert_eq!(column.codes, expected);
        assert!(column.known.texts().iter().eq(shared.iter().map(|text| &**text)));
    }

    /// So many readings, the values of which repeat themselves after some.
    fn readings(count: i64, different: i64) -> TimeSeries {
        TimeSeries::new((0..count).map(|clock| (clock, (clock % different) as f64 / 7.0)).collect())
    }

    fn row_groups(path: &std::path::Path) -> usize {
        SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap().metadata().num_row_groups()
    }

    #[test]
    fn readings_come_back_from_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [(0, 1), (5, 5), (3000, 7), (3000, 3000), (200_000, 30), (200_000, 200_000)];
        for (file, (count, different)) in cases.into_iter().enumerate() {
            let path = folder.path().join(file.to_string());
            let cpu = readings(count, different);
            let sums = write_cpu(create(&path).unwrap(), &cpu).unwrap();
            assert_eq!(row_groups(&path), (count as usize).div_ceil(ROWS));
            assert_eq!(read_cpu(open(path, sums).unwrap()).unwrap(), cpu);
        }
    }

    #[test]
    fn many_series_share_a_row_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series");
        let one = |number: i64| ServerSeries {
            name: format!("series {number:03}"),
            unit: ["%", "B"][number as usize % 2].to_owned(),
            readings: readings(20 + number, 9),
        };
        let series: Vec<ServerSeries> = (0..200).map(one).collect();
        let sums = write_series(create(&path).unwrap(), &series).unwrap();
        assert_eq!(row_groups(&path), 1);
        assert_eq!(read_series(open(path, sums).unwrap()).unwrap(), series);
    }
}
