//! The samples of runs, streamed into any export format.

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::Phases;
use perfpipe_analyze::table::{Column, Format, Kind, RowWriter, Table, Value};
use perfpipe_ingest::Store;
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::store::parquet::SampleExport;
use perfpipe_ingest::{RunInfo, RunKey, RunRef, SampleBatch};

use super::args::ExportArgs;
use crate::args::ViewArgs;
use crate::input::runs::Selection;
use crate::input::view;
use crate::output::Output;

/// The samples to export.
struct SampleFilter<'a> {
    from_ms: i64,
    to_ms: i64,
    label: Option<&'a str>,
}

impl<'a> SampleFilter<'a> {
    /// Returns what the flags select of a run, with its metadata if they were read for that.
    async fn of(store: &Store, key: &RunKey, args: &'a ViewArgs) -> Result<(Self, Option<RunInfo>)> {
        let (from, to, run) = seconds(store, key, args).await?;
        let wanted = Self {
            from_ms: i64::from(from.unwrap_or(0)) * 1000,
            to_ms: to.map_or(i64::MAX, |second| (i64::from(second) + 1) * 1000),
            label: args.scope.label.as_deref(),
        };
        Ok((wanted, run))
    }

    fn holds(&self, batch: &SampleBatch, row: usize) -> bool {
        let inside = batch.t_ms.get(row).is_some_and(|t| (self.from_ms..self.to_ms).contains(t));
        inside && self.label.is_none_or(|label| batch.label.get(row) == Some(label))
    }
}

/// Writes the samples of runs for the selected label and seconds.
pub(crate) async fn export(
    store: &Store,
    chosen: &Selection,
    args: &ExportArgs,
    output: &mut Output,
) -> Result<()> {
    match chosen.keys.as_slice() {
        [only] => of_one(store, only, args, output).await,
        _ => of_several(store, chosen, args, output).await,
    }
}

/// Writes the samples of one run.
async fn of_one(store: &Store, key: &RunKey, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let (wanted, run) = SampleFilter::of(store, key, &args.view).await?;
    let run = run.as_ref().map_or(RunRef::from(key), RunRef::from);
    // An error of writing must not be reported as an error of the store.
    let mut failure = None;
    let result = match args.form().of_table() {
        Some(format) => {
            let mut rows = SampleRows::Waiting(Some(output));
            let mut each = |batch| keep(rows.write(format, &batch, &wanted), &mut failure);
            let result = store.samples(run, &mut each).await;
            if result.is_ok() {
                rows.finish(format)?;
            }
            result
        }
        None => {
            let mut file = SampleExport::new(output)?;
            let mut each = |batch| file.write(&picked(batch, &wanted));
            let result = store.samples(run, &mut each).await;
            if result.is_ok() {
                file.finish()?;
            }
            result
        }
    };
    match failure {
        Some(failure) => Err(failure),
        None => Ok(result?),
    }
}

/// Writes the samples of several runs as one table, the run of each before its columns.
async fn of_several(store: &Store, chosen: &Selection, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let of_chosen = chosen.stored.iter().filter(|info| chosen.keys.contains(&info.key));
    let empty = |info: &RunInfo| table(&SampleBatch::default(), info.resolution).of_run(&info.key);
    let like = Table::joined(of_chosen.map(empty));
    let mut writer = args.writer(&like, output)?;
    for key in &chosen.keys {
        let (wanted, run) = chosen.named(key, SampleFilter::of(store, key, &args.view).await)?;
        let run = run.as_ref().map_or(RunRef::from(key), RunRef::from);
        let mut failure = None;
        let mut each = |batch: SampleBatch| {
            let unit = batch.resolution;
            let piece = table(&picked(batch, &wanted), unit).of_run(key).like(like.columns());
            keep(writer.write(&piece).map_err(Into::into), &mut failure)
        };
        let result = store.samples(run, &mut each).await;
        if let Some(failure) = failure {
            return Err(failure);
        }
        chosen.named(key, result.map_err(Into::into))?;
    }
    writer.finish()?;
    Ok(())
}

/// Returns the samples of a batch, whose times are in this unit, as a table.
fn table(batch: &SampleBatch, unit: Resolution) -> Table {
    let rows: Vec<usize> = (0..batch.len()).collect();
    let ms = |units: Option<i32>| units.map(|units| unit.ms(units.into()));
    Table::of(&rows)
        .counted_in(unit)
        .column("t_ms", |row| batch.t_ms.get(*row).copied())
        .column("label", |row| batch.label.get(*row).map(str::to_owned))
        .time("elapsed", |row| ms(batch.elapsed.get(*row).copied()))
        .column("response_code", |row| batch.response_code.get(*row).map(str::to_owned))
        .column("success", |row| batch.success.get(*row).copied())
        .column("bytes", |row| batch.bytes.get(*row))
        .column("sent_bytes", |row| batch.sent_bytes.get(*row))
        .column("all_threads", |row| batch.all_threads.get(*row).map(i64::from))
        .time("latency", |row| ms(batch.latency.get(*row)))
        .column("idle_time", |row| batch.idle_time.get(*row).map(i64::from))
        .time("connect", |row| ms(batch.connect.get(*row)))
        .column("cpu", |row| batch.cpu.get(*row))
        .column("injector", |row| batch.injector.get(*row).map(str::to_owned))
        .column("transaction", |row| batch.transaction.get(*row).copied())
        .done()
}

/// Returns the first and the last selected second. For a phase, the run is read for its counts, and its metadata
/// returned.
async fn seconds(
    store: &Store,
    key: &RunKey,
    args: &ViewArgs,
) -> Result<(Option<u32>, Option<u32>, Option<RunInfo>)> {
    let Some(phase) = args.scope.phase else { return Ok((args.scope.from, args.scope.to, None)) };
    let run = store.read(key).await?;
    let span = Phases::of_run(&run, &view::of(args, &run.info))?.require(phase, &run)?;
    Ok((Some(span.first), Some(span.last), Some(run.info)))
}

/// Keeps an error for later, and ends the stream.
pub(crate) fn keep(result: Result<()>, failure: &mut Option<anyhow::Error>) -> perfpipe_ingest::Result<()> {
    result.map_err(|error| {
        let sentence = error.to_string();
        *failure = Some(error);
        perfpipe_ingest::Error::store("writing samples", sentence)
    })
}

/// Returns the selected samples of a batch.
fn picked(batch: SampleBatch, wanted: &SampleFilter<'_>) -> SampleBatch {
    let rows: Vec<usize> = (0..batch.len()).filter(|row| wanted.holds(&batch, *row)).collect();
    if rows.len() == batch.len() { batch } else { batch.select(&rows) }
}

/// The rows, which are begun by the first batch: it has the unit of the times.
enum SampleRows<W: Write> {
    Waiting(Option<W>),
    Begun(RowWriter<W>),
}

impl<W: Write> SampleRows<W> {
    fn begin(&mut self, format: Format, unit: Resolution) -> Result<()> {
        if let Self::Waiting(output) = self
            && let Some(output) = output.take()
        {
            *self = Self::Begun(RowWriter::new(format, columns(unit), output)?);
        }
        Ok(())
    }

    fn write(&mut self, format: Format, batch: &SampleBatch, wanted: &SampleFilter<'_>) -> Result<()> {
        self.begin(format, batch.resolution)?;
        match self {
            Self::Begun(rows) => write(rows, batch, wanted),
            Self::Waiting(_) => Ok(()),
        }
    }

    fn finish(mut self, format: Format) -> Result<()> {
        self.begin(format, Resolution::default())?;
        match self {
            Self::Begun(rows) => Ok(rows.finish().map(drop)?),
            Self::Waiting(_) => Ok(()),
        }
    }
}

/// Returns the columns. Times finer than a ms have decimals.
fn columns(unit: Resolution) -> Vec<Column> {
    let time = if unit.is_fine() { Kind::F64 } else { Kind::I64 };
    let column = |(name, kind)| Column::new(name, kind);
    [
        ("t_ms", Kind::I64),
        ("label", Kind::Text),
        ("elapsed", time),
        ("response_code", Kind::Text),
        ("success", Kind::Bool),
        ("bytes", Kind::I64),
        ("sent_bytes", Kind::I64),
        ("all_threads", Kind::I64),
        ("latency", time),
        ("idle_time", Kind::I64),
        ("connect", time),
        ("cpu", Kind::F64),
        ("injector", Kind::Text),
        ("transaction", Kind::Bool),
    ]
    .map(column)
    .into()
}

/// Returns a time in ms, whole if the run's unit is a ms.
fn time(units: Option<i32>, unit: Resolution) -> Value<'static> {
    if unit.is_fine() { Value::from(units.map(|units| unit.ms(units.into()))) } else { Value::from(units) }
}

fn write<W: Write>(rows: &mut RowWriter<W>, batch: &SampleBatch, wanted: &SampleFilter<'_>) -> Result<()> {
    for row in (0..batch.len()).filter(|row| wanted.holds(batch, *row)) {
        rows.row(&[
            Value::from(batch.t_ms.get(row).copied()),
            Value::from(batch.label.get(row)),
            time(batch.elapsed.get(row).copied(), batch.resolution),
            Value::from(batch.response_code.get(row)),
            Value::from(batch.success.get(row).copied()),
            Value::from(batch.bytes.get(row)),
            Value::from(batch.sent_bytes.get(row)),
            Value::from(batch.all_threads.get(row)),
            time(batch.latency.get(row), batch.resolution),
            Value::from(batch.idle_time.get(row)),
            time(batch.connect.get(row), batch.resolution),
            Value::from(batch.cpu.get(row)),
            Value::from(batch.injector.get(row)),
            Value::from(batch.transaction.get(row).copied()),
        ])?;
    }
    Ok(())
}
