//! Reading runs back: all but the samples in one snapshot, the samples as a stream.

use crate::batch::SampleBatch;
use crate::cell_table::{CellTable, PackedCells};
use crate::counts::ErrorCount;
use crate::cpu::CpuSeries;
use crate::error::{Error, Result};
use crate::rejects::Reject;
use crate::share::Shared;
use crate::store::{RunKey, StoredRun, Wanted};

use super::copy::CopyOut;
use super::name::in_schema;
use super::runs::Stored;
use super::seconds::CellReader;
use super::session::Session;
use super::{facts, layout, runs, samples, seconds};

/// Samples in a batch.
const BATCH: usize = 8192;

/// What is read in one snapshot begins with this. Rows come in the order in which they were written, though somebody
/// else be scanning the table already: what is in order need not be sorted.
const SNAPSHOT: &str =
    "begin isolation level repeatable read read only; set local synchronize_seqscans = off";

/// Reads a run, all but its samples.
pub(super) async fn read(session: &Session, key: &RunKey) -> Result<Option<StoredRun>> {
    let what = "reading a run";
    session.run(what, SNAPSHOT).await?;
    let run = match find(session, key).await? {
        Some(stored) => Some(read_facts(session, stored).await?),
        None => None,
    };
    session.run(what, "commit").await?;
    Ok(run)
}

/// Reads a run, all but its samples and its counts.
pub(super) async fn without_counts(session: &Session, key: &RunKey) -> Result<Option<StoredRun>> {
    let what = "reading a run";
    session.run(what, SNAPSHOT).await?;
    let Some(stored) = find(session, key).await? else { return Ok(None) };
    let (cpu, errors) = read_events(session, stored.number).await?;
    session.run(what, "commit").await?;
    Ok(Some(StoredRun { info: stored.info, cells: CellTable::default(), cpu, errors, labels: Vec::new() }))
}

/// The run of a key, where there is a store at all.
pub(super) async fn find(session: &Session, key: &RunKey) -> Result<Option<Stored>> {
    if layout::present(session).await? { runs::find(session, key).await } else { Ok(None) }
}

async fn read_facts(session: &Session, stored: Stored) -> Result<StoredRun> {
    let run = stored.number;
    let mut cells = PackedCells::default();
    {
        let reader = CellReader::new(stored.names());
        let rows = select(session, "seconds", seconds::PACKED, run).await?;
        rows.each(|row| reader.get(row, &mut cells)).await?;
    }
    let (cpu, errors) = read_events(session, run).await?;
    let mut labels = select(session, "labels", facts::LABELS, run).await?.gather(facts::get_label).await?;
    labels.sort_unstable_by(|a, b| a.label.cmp(&b.label));
    let (info, names, injectors) = stored.into_names();
    let cells = CellTable::packed(names, injectors, cells);
    Ok(StoredRun { info, cells, cpu, errors, labels })
}

/// A run's CPU readings, and its failures, ascending.
async fn read_events(session: &Session, run: i64) -> Result<(CpuSeries, Vec<ErrorCount>)> {
    let cpu = select(session, "cpu", facts::CPU, run).await?.gather(facts::get_cpu).await?;
    let mut texts = Shared::default();
    let errors = select(session, "errors", facts::ERRORS, run).await?;
    let mut errors = errors.gather(|row| facts::get_error(row, &mut texts)).await?;
    errors.sort_unstable();
    Ok((CpuSeries::new(cpu), errors))
}

/// A run's rows of a table of all runs.
async fn select<'a>(session: &'a Session, table: &str, columns: &str, run: i64) -> Result<CopyOut<'a>> {
    let query = format!("select {columns} from {} where run_id = {run}", in_schema(table));
    CopyOut::begin(session, "reading a run", &query).await
}

/// Hands a run's rejects, in the order of the log, to a function.
pub(super) async fn rejects(
    session: &Session,
    wanted: Wanted<'_>,
    each: &mut (dyn FnMut(Reject) -> Result<()> + Send),
) -> Result<()> {
    let what = "reading rejected records";
    session.run(what, SNAPSHOT).await?;
    let stored = require(session, wanted).await?;
    let query = format!(
        "select {} from perfpipe.rejects where run_id = {} order by number",
        facts::REJECTS,
        stored.number
    );
    CopyOut::begin(session, what, &query).await?.each(|row| each(facts::get_reject(row)?)).await?;
    session.run(what, "commit").await
}

/// The run that is wanted.
async fn require(session: &Session, wanted: Wanted<'_>) -> Result<Stored> {
    let stored = find(session, wanted.key()).await?.ok_or_else(|| wanted.missing())?;
    wanted.check(&stored.info)?;
    Ok(stored)
}

/// Hands a run's samples, as they were written, to a function, a batch at a time.
pub(super) async fn samples(
    session: &Session,
    wanted: Wanted<'_>,
    each: &mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
) -> Result<()> {
    let table = hold_table(session, wanted).await?;
    let what = "reading samples";
    let query = format!("select {} from {}", samples::COLUMNS, in_schema(&table));
    let mut batch = SampleBatch::default();
    let rows = CopyOut::begin(session, what, &query).await?;
    rows.each(|row| {
        samples::get(row, &mut batch)?;
        if batch.len() < BATCH { Ok(()) } else { each(std::mem::take(&mut batch)) }
    })
    .await?;
    session.run(what, "commit").await?;
    if batch.is_empty() { Ok(()) } else { each(batch) }
}

/// Begins a transaction in which the table of a run's samples can't be replaced, and returns its name.
async fn hold_table(session: &Session, wanted: Wanted<'_>) -> Result<String> {
    let (what, key) = ("reading samples", wanted.key());
    loop {
        // Rows come in the order in which they were written, though somebody else be scanning the table already.
        let begin = "begin isolation level read committed read only; set local synchronize_seqscans = off";
        session.run(what, begin).await?;
        let stored = require(session, wanted).await?;
        let table = stored.table.ok_or_else(|| Error::without_samples(key))?;
        let lock = format!("lock table {} in access share mode", in_schema(&table));
        let held = session.client().batch_execute(&lock).await;
        if held.is_err() {
            session.run(what, "rollback").await?;
        }
        let same = runs::find(session, key).await?.is_some_and(|now| now.number == stored.number);
        match held {
            Ok(()) if same => return Ok(table),
            Ok(()) => session.run(what, "rollback").await?,
            // The table is gone though its run was not replaced: trying again would not help.
            Err(error) if same => return Err(session.error(what, &error)),
            Err(_) => {}
        }
    }
}
