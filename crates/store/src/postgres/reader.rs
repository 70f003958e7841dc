//! Reads runs: everything but the samples in one snapshot, the samples as a stream.

use tokio_postgres::error::SqlState;

use crate::consistency::{self, SampleTotals};
use crate::{Listing, RunRef};
use perfpipe_model::counts::ErrorCount;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::{CellTable, CellTableBuilder, READ_ROOM};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::Reject;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::intern::Shared;
use perfpipe_model::series::cpu::TimeSeries;

use super::copy::binary::RowFields;
use super::copy::seconds::{self, CellReader, CellTally, KINDS, SUMS};
use super::copy::{CopyOut, facts, samples};
use super::runs::{self, StoredRow};
use super::samples::read::{self, SampleTables};
use super::schema::layout::{self, RowsOf};
use super::schema::names::in_schema;
use super::schema::rights;
use super::series;
use super::transaction::{self, TransactionMode};
use crate::connection::session::Session;

/// The maximum number of samples in a batch.
const BATCH: usize = 8192;

/// The approximate maximum size in bytes of the texts in a batch.
const TEXTS: usize = 4 << 20;

/// The tables that hold a run's counts.
const COUNTS: [&str; 5] = ["runs", "seconds", "cpu", "errors", "labels"];

/// Returns the metadata of all runs, or of those of a test, sorted by test, framework and repeat, and the errors of those
/// that can't be read.
pub(super) async fn look(session: &Session, test: Option<&str>) -> Result<Listing> {
    let what = "reading the runs";
    let mut found = Listing::default();
    let Some(layout) = layout::open(session, what, TransactionMode::Snapshot, &["runs"]).await? else {
        return Ok(found);
    };
    for stored in runs::all(session, layout, test).await? {
        match stored {
            Ok(stored) => found.runs.push(stored.info),
            Err(error) => found.unread.push(error),
        }
    }
    session.end(what).await?;
    Ok(found)
}

/// Returns the keys of all runs, sorted by test, framework and repeat.
pub(super) async fn keys(session: &Session) -> Result<Vec<RunKey>> {
    let what = "reading the keys of the runs";
    if layout::open(session, what, TransactionMode::Snapshot, &["runs"]).await?.is_none() {
        return Ok(Vec::new());
    }
    let keys = runs::keys(session).await?;
    session.end(what).await?;
    Ok(keys)
}

/// Returns the stored repeats of a framework and a test, ascending.
pub(super) async fn repeats(session: &Session, framework: &str, test: &str) -> Result<Vec<u32>> {
    let what = "reading the repeats of a run";
    if layout::open(session, what, TransactionMode::Snapshot, &["runs"]).await?.is_none() {
        return Ok(Vec::new());
    }
    let repeats = runs::repeats(session, framework, test).await?;
    session.end(what).await?;
    Ok(repeats)
}

/// Reads a run without its samples.
pub(super) async fn read(session: &Session, key: &RunKey) -> Result<Option<StoredRun>> {
    // A contradiction may mean that the run was just replaced, so read it once more.
    match consistency::check_run(read_once(session, key).await?) {
        Err(_) => consistency::check_run(read_once(session, key).await?),
        run => run,
    }
}

async fn read_once(session: &Session, key: &RunKey) -> Result<Option<(StoredRun, SampleTotals)>> {
    let what = "reading a run";
    let Some(stored) = find(session, what, TransactionMode::Snapshot, &COUNTS, key).await? else {
        return Ok(None);
    };
    let run = read_facts(session, stored).await?;
    session.end(what).await?;
    Ok(Some(run))
}

/// Reads a run without its samples and counts.
pub(super) async fn without_counts(session: &Session, key: &RunKey) -> Result<Option<StoredRun>> {
    let what = "reading a run";
    let found = find(session, what, TransactionMode::Snapshot, &["runs", "cpu", "errors"], key).await?;
    let Some(stored) = found else { return Ok(None) };
    let (cpu, errors) = read_events(session, &stored.rows).await?;
    let series = series::read(session, &stored.rows).await?;
    session.end(what).await?;
    Ok(Some(StoredRun { cpu, series, errors, ..StoredRun::new(stored.info, CellTable::default()) }))
}

/// Reads a run's metadata.
pub(super) async fn info(session: &Session, key: &RunKey) -> Result<Option<RunInfo>> {
    let what = "reading the run's row";
    let Some(stored) = find(session, what, TransactionMode::Snapshot, &["runs"], key).await? else {
        return Ok(None);
    };
    session.end(what).await?;
    Ok(Some(stored.info))
}

/// Begins a transaction that locks these tables, and finds the run of a key. If there is none, the transaction is
/// ended.
async fn find(
    session: &Session,
    what: &str,
    mode: TransactionMode,
    tables: &[&str],
    key: &RunKey,
) -> Result<Option<StoredRow>> {
    let Some(layout) = layout::open(session, what, mode, tables).await? else { return Ok(None) };
    let found = runs::find(session, layout, key).await?;
    if found.is_none() {
        session.end(what).await?;
    }
    Ok(found)
}

async fn read_facts(session: &Session, stored: StoredRow) -> Result<(StoredRun, SampleTotals)> {
    let (cells, counted) = read_cells(session, &stored).await?;
    let (cpu, errors) = read_events(session, &stored.rows).await?;
    let series = series::read(session, &stored.rows).await?;
    let mut labels =
        select(session, "labels", facts::LABELS, &stored.rows).await?.gather(facts::get_label).await?;
    labels.sort_unstable_by(|a, b| a.label.cmp(&b.label));
    let (info, names, injectors) = stored.into_names();
    let cells = cells.finish(names, injectors)?;
    Ok((StoredRun { info, cells, cpu, series, errors, labels }, counted))
}

/// Reads the counts by second from the pages that they are packed in, and compares those with the rows.
async fn read_cells(session: &Session, stored: &StoredRow) -> Result<(CellTableBuilder, SampleTotals)> {
    let (mut cells, mut counted) = (CellTableBuilder::new(READ_ROOM), SampleTotals::default());
    let (mut packed, mut found) = (CellTally::default(), CellTally::default());
    let reader = CellReader::new(stored.names());
    let rows = select_seconds(session, &stored.rows).await?;
    rows.each(|row| reader.get(row, &mut cells, &mut counted, &mut packed)).await?;
    // A run of an earlier version has no pages: each of its rows was read.
    if !packed.is_empty() {
        let (table, run) = (in_schema("seconds"), stored.rows.condition());
        let query = format!("select {SUMS} from {table} where {run} group by {KINDS}");
        CopyOut::begin(session, "reading a run", &query).await?.each(|row| found.get(row)).await?;
        let fault = (packed != found)
            .then(|| "its counts by second differ from what is packed beside them".to_owned());
        consistency::refuse_damaged(&stored.info, fault)?;
    }
    Ok((cells, counted))
}

/// Reads a run's CPU readings, and its failures in ascending order.
async fn read_events(session: &Session, run: &RowsOf) -> Result<(TimeSeries, Vec<ErrorCount>)> {
    let cpu = select(session, "cpu", facts::CPU, run).await?.gather(facts::get_cpu).await?;
    let mut texts = Shared::default();
    let errors = select(session, "errors", facts::ERRORS, run).await?;
    let mut errors = errors.gather(|row| facts::get_error(row, &mut texts)).await?;
    errors.sort_unstable();
    Ok((TimeSeries::new(cpu), errors))
}

/// Selects a run's rows of a table that all runs share.
async fn select<'a>(session: &'a Session, table: &str, columns: &str, run: &RowsOf) -> Result<CopyOut<'a>> {
    let query = format!("select {columns} from {} where {}", in_schema(table), run.condition());
    CopyOut::begin(session, "reading a run", &query).await
}

/// Selects the packed counts of a run's seconds in their order, which is not that of the pages: a row that is small enough goes
/// where there is room, long before the rows of its neighbours.
async fn select_seconds<'a>(session: &'a Session, run: &RowsOf) -> Result<CopyOut<'a>> {
    let what = "reading a run";
    // The index has the order. Before a table is analysed, the server takes a run for so few rows that it would sort them.
    // To start processes of its own takes the server longer than to add up the rows.
    session.run(what, "set local enable_sort = off").await?;
    session.run(what, "set local max_parallel_workers_per_gather = 0").await?;
    let (columns, table) = (seconds::PACKED, in_schema("seconds"));
    let run = run.condition();
    let query = format!("select {columns} from {table} where {run} and packed <> '' order by second");
    CopyOut::begin(session, what, &query).await
}

/// Passes a run's rejects to `each`, in the order of the log.
pub(super) async fn rejects(
    session: &Session,
    wanted: RunRef<'_>,
    each: &mut (dyn FnMut(Reject) -> Result<()> + Send),
) -> Result<()> {
    let what = "reading rejected records";
    let stored = require(session, what, TransactionMode::Snapshot, &["runs", "rejects"], wanted).await?;
    let columns = match layout::has_column(session, what, "rejects", "code").await? {
        true => facts::REJECTS,
        false => facts::REJECTS_WITHOUT_CODE,
    };
    let run = stored.rows.condition();
    let query = format!("select {columns} from perfpipe.rejects where {run} order by number");
    let mut read = 0;
    let rows = CopyOut::begin(session, what, &query).await?;
    rows.each(|row| {
        read += 1;
        each(facts::get_reject(row)?)
    })
    .await?;
    session.end(what).await?;
    consistency::check_rejects_read(&stored.info, read)
}

/// Begins a transaction as `find` does. It is an error if the wanted run is not stored.
async fn require(
    session: &Session,
    what: &str,
    mode: TransactionMode,
    tables: &[&str],
    wanted: RunRef<'_>,
) -> Result<StoredRow> {
    let found = find(session, what, mode, tables, wanted.key()).await?;
    let stored = found.ok_or_else(|| wanted.missing())?;
    wanted.check(&stored.info)?;
    Ok(stored)
}

/// Passes a run's samples to `each`, batch by batch in the order in which they were written.
pub(super) async fn samples(
    session: &Session,
    wanted: RunRef<'_>,
    each: &mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
) -> Result<()> {
    let (info, tables) = lock_tables(session, wanted).await?;
    let what = "reading samples";
    let empty = || SampleBatch { resolution: info.resolution, ..SampleBatch::default() };
    let (mut batch, mut counted) = (empty(), SampleTotals::default());
    let mut hand_on = |batch: SampleBatch| {
        counted.merge(SampleTotals::of_batch(&batch));
        each(batch)
    };
    let mut take = |row: &mut RowFields<'_>| {
        samples::get(row, &mut batch)?;
        if batch.len() < BATCH && batch.text_bytes() < TEXTS {
            Ok(())
        } else {
            hand_on(std::mem::replace(&mut batch, empty()))
        }
    };
    let count = info.requests() + info.transactions;
    read::each_sample(session, what, &tables, count, &mut take).await?;
    session.end(what).await?;
    if !batch.is_empty() {
        hand_on(batch)?;
    }
    consistency::check_samples_read(&info, counted)
}

/// Begins a transaction in which the tables of a run's samples can't be replaced. Returns the run's metadata and the
/// tables.
async fn lock_tables(session: &Session, wanted: RunRef<'_>) -> Result<(RunInfo, SampleTables)> {
    let (what, key) = ("reading samples", wanted.key());
    loop {
        let stored = require(session, what, TransactionMode::Reading, &["runs"], wanted).await?;
        let tables = stored.tables.ok_or_else(|| Error::without_samples(key, stored.info.had_requests()))?;
        let names = tables.names();
        let listed = names.iter().map(|table| in_schema(table)).collect::<Vec<_>>().join(", ");
        let lock = format!("lock table {listed} in access share mode");
        let locked = session.client().batch_execute(&lock).await;
        if let Err(error) = &locked {
            if session.code(error).as_ref() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
                return Err(transaction::table_lock_error(session, what, &names, false).await);
            }
            session.run(what, "rollback").await?;
            layout::open(session, what, TransactionMode::Reading, &["runs"]).await?;
        }
        let now = runs::find(session, layout::read(session).await?, key).await?;
        let same = now.is_some_and(|now| now.number == stored.number);
        match locked {
            Ok(()) if same => {
                rights::check_ownership(session, &names, false).await?;
                drop(names);
                return Ok((stored.info, tables));
            }
            // The run was not replaced, but its table is missing, so trying again would not help.
            Err(error) if same => return Err(session.error(what, &error)),
            _ => session.run(what, "rollback").await?,
        }
    }
}
