//! Writes one run in one transaction on a separate connection, from the first sample to the commit. Samples may take
//! further connections; see [`samples`](super::samples).

use futures_util::future::try_join;

use crate::consistency::{self, CountedCells, CountedFailures, SampleTotals, check_samples_stored};
use crate::sink::Stage;
use crate::sink::{FinishedRun, RunWriter};
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::replace::Replace;

use super::copy::binary::{RowEncoder, Rows};
use super::copy::samples::SampleEncoder;
use super::copy::seconds::{self, NameLists, PagedCells};
use super::copy::{CopyIn, facts};
use super::lost_commit::{self, UncertainCommit};
use super::parts::{self, MergedParts};
use super::samples::read::SampleTables;
use super::samples::write::{self, SampleCopy};
use super::schema::engine::ServerEngine;
use super::schema::layout::{self, RowsOf, SchemaLayout};
use super::schema::names::in_schema;
use super::schema::rights;
use super::transaction::{self, TransactionMode, begin};
use super::{locks, runs, series};
use crate::connection::config::{Placement, PostgresConfig};
use crate::connection::session::Session;

/// Writes one run to Postgres. If it is dropped before the commit, nothing is stored.
pub struct PostgresWriter {
    session: Session,
    /// The settings for another connection.
    config: PostgresConfig,
    engine: ServerEngine,
    samples: Option<SampleCopy>,
    /// The samples that were written.
    received: SampleTotals,
    /// The samples of the parts that are merged to the run.
    merging: Option<MergedParts>,
}

/// What a writer locks when it begins.
pub(super) enum KeyClaim<'a> {
    /// A run, if its key is known.
    Run(Option<&'a RunKey>),
    /// The part of a run with this number.
    Part(&'a RunKey, u32),
}

impl PostgresWriter {
    /// Begins the transaction and locks what is claimed.
    pub(super) async fn begin(
        session: Session,
        config: &PostgresConfig,
        claim: KeyClaim<'_>,
        keep_samples: bool,
    ) -> Result<Self> {
        let what = "beginning to store a run";
        let engine = rights::check_write(&session).await?;
        layout::ensure(&session, engine).await?;
        write::sweep_leftovers(&session).await?;
        engine.check_nodes(&session).await?;
        let placement = if keep_samples {
            let key = match claim {
                KeyClaim::Run(key) => key,
                KeyClaim::Part(..) => None,
            };
            write::choose_placement(&session, engine, config.placement, key).await?
        } else {
            Placement::default()
        };
        begin(&session, what, TransactionMode::Writing).await?;
        engine.without_limits_on_nodes(&session, what).await?;
        transaction::clear_pooled(&session).await?;
        match claim {
            KeyClaim::Run(None) => {}
            KeyClaim::Run(Some(key)) => locks::claim(&session, key).await?,
            KeyClaim::Part(key, number) => locks::claim_part(&session, key, number).await?,
        }
        let samples = if keep_samples {
            Some(SampleCopy::begin(&session, config, engine, placement).await?)
        } else {
            None
        };
        let config = config.clone();
        Ok(Self { session, config, engine, samples, received: SampleTotals::default(), merging: None })
    }

    /// Begins a run that is merged of its parts.
    pub(super) async fn begin_merged(
        session: Session,
        config: &PostgresConfig,
        key: &RunKey,
        merging: MergedParts,
    ) -> Result<Self> {
        let begun = Self::begin(session, config, KeyClaim::Run(Some(key)), false).await?;
        begun.engine.one_by_one(&begun.session, "beginning to merge parts").await?;
        Ok(Self { merging: Some(merging), ..begun })
    }
}

impl RunWriter for PostgresWriter {
    type Encoder = SampleEncoder;

    fn encoder(&self) -> Result<SampleEncoder> {
        let lines = self.samples.as_ref().is_some_and(SampleCopy::have_lines);
        Ok(SampleEncoder::new(self.samples.is_some()).with_lines(lines))
    }

    async fn write(&mut self, chunk: Rows) -> Result<()> {
        self.received.merge(chunk.counted);
        match &mut self.samples {
            Some(samples) => samples.write(&self.session, chunk).await,
            None => Ok(()),
        }
    }

    async fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        if let Some(samples) = &mut self.samples {
            // No other statement is possible during a COPY.
            samples.end_own_copy(&self.session).await?;
        }
        locks::claim_next(&self.session, key).await
    }

    async fn give_up(self) -> Result<()> {
        let Self { session, samples, .. } = self;
        // The server ends the COPY with an error, which can be ignored.
        drop(samples);
        // Otherwise the lock on the key would be held until the server notices the closed connection.
        session.run("giving up a run that is read again", "rollback").await
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        consistency::check_finished(&run)?;
        let Self { session, config, engine, samples, received, merging } = self;
        let (key, info, stage) = (&run.info.key, run.info, run.stage);
        let merges_samples = merging.as_ref().is_some_and(|merging| !merging.tables.is_empty());
        check_samples_stored(info, samples.is_some() || merges_samples)?;
        if samples.is_some() {
            consistency::check_samples_written(info, received)?;
        }
        let loaded = match samples {
            Some(samples) => Some(samples.finish(&session, info).await?),
            None => None,
        };
        #[cfg(feature = "parquet")]
        if let Some((row, _)) = run.part {
            return parts::store((session, &config, engine), loaded, *row, run).await;
        }
        locks::claim(&session, key).await?;
        if !run.series.is_empty() {
            let later = series::later(layout::read(&session).await?);
            later.ensure(&session, "making the table of series", engine).await?;
        }
        let layout = layout::lock_schema(&session, "storing the run").await?;
        let old = delete_replaced_run(&session, layout, run.replace, info).await?;
        let number = runs::insert(&session, layout, info, names(&run)).await?;
        let rows_of = layout.rows_of(key, number);
        match &loaded {
            Some(loaded) => {
                let own = async {
                    copy_facts(&session, &rows_of, run).await?;
                    loaded.index_own(&session).await
                };
                try_join(own, loaded.index_others()).await?;
            }
            None => copy_facts(&session, &rows_of, run).await?,
        }
        if let Some(old) = old {
            locks::drop_tables(&session, &old).await?;
        }
        let tables = match (loaded, merging) {
            (Some(loaded), _) => Some(loaded.join(&session, key, "").await?),
            (None, Some(merging)) => merging.join(&session, key, engine).await?,
            (None, None) => None,
        };
        if let Some(tables) = tables {
            runs::name_tables(&session, layout, key, &tables).await?;
            write::name_unit(&session, &tables.own, info.resolution).await?;
        }
        stage.set(Stage::Asked);
        let Err(lost) = session.run("committing the run", "commit").await else {
            stage.set(Stage::Stored);
            return Ok(());
        };
        // If the connection is still open, this ends its transaction.
        drop(session);
        // Only the answer may be lost, so the server is asked whether the run is stored.
        lost_commit::resolve(&config, UncertainCommit { info, number, part: None }, stage, lost).await
    }
}

/// Deletes the row of an earlier run of the key if it may be replaced. Returns the tables of its samples.
async fn delete_replaced_run(
    session: &Session,
    layout: SchemaLayout,
    replace: Replace,
    info: &RunInfo,
) -> Result<Option<SampleTables>> {
    match runs::find(session, layout, &info.key).await {
        Ok(Some(old)) if !replace.allows(&old.info, info) => return Err(Replace::refusal(&old.info, info)),
        Err(error) if !replace.allows_unread(info) => return Err(error),
        _ => {}
    }
    Ok(runs::delete_run_row(session, layout, &info.key).await?.and_then(|run| run.tables))
}

fn names<'a>(run: &FinishedRun<'a>) -> NameLists<'a> {
    NameLists { labels: run.labels, injectors: run.injectors }
}

/// Copies everything of a run except its samples.
async fn copy_facts(session: &Session, rows_of: &RowsOf, run: FinishedRun<'_>) -> Result<()> {
    let names = names(&run);
    let mut cells = CountedCells::new(run.cells, run.info, (run.labels, run.injectors));
    let mut errors = CountedFailures::new(run.errors, run.info);
    copy_rows(session, rows_of, "seconds", seconds::COLUMNS, PagedCells::new(&mut cells), |rows, cell| {
        let (key, cell, page) = cell?;
        seconds::put(rows, rows_of, names, (key, &cell.open()?, &page))
    })
    .await?;
    copy_rows(session, rows_of, "cpu", facts::CPU, run.cpu.readings(), |rows, reading| {
        facts::put_cpu(rows, rows_of, *reading);
        Ok(())
    })
    .await?;
    for one in run.series {
        let readings = one.readings.readings();
        copy_rows(session, rows_of, series::TABLE, facts::SERIES, readings, |rows, reading| {
            facts::put_series(rows, rows_of, one, *reading);
            Ok(())
        })
        .await?;
    }
    copy_rows(session, rows_of, "errors", facts::ERRORS, &mut errors, |rows, error| {
        facts::put_error(rows, rows_of, &error?)
    })
    .await?;
    cells.check(errors.transactions())?;
    copy_rows(session, rows_of, "labels", facts::LABELS, run.label_counts, |rows, label| {
        facts::put_label(rows, rows_of, label)
    })
    .await?;
    let rejects = (1_i64..).zip(run.rejects.iter()?);
    copy_rows(session, rows_of, "rejects", facts::REJECTS, rejects, |rows, (at, reject)| {
        facts::put_reject(rows, rows_of, at, &reject?)
    })
    .await
}

/// Copies items to a shared table, each encoded as one row.
async fn copy_rows<T: Send>(
    session: &Session,
    rows_of: &RowsOf,
    table: &str,
    columns: &str,
    items: impl IntoIterator<Item = T, IntoIter: Send>,
    put: impl Fn(&mut RowEncoder, T) -> Result<()> + Send,
) -> Result<()> {
    let what = format!("copying to perfpipe.{table} (the run is not stored)");
    let columns = format!("{}, {columns}", rows_of.column());
    let mut copy = CopyIn::begin(session, &what, &in_schema(table), &columns, "").await?;
    let mut encoder = RowEncoder::default();
    for item in items {
        put(&mut encoder, item)?;
        copy.send_full(session, &mut encoder).await?;
    }
    copy.send(session, encoder.take()?).await?;
    copy.finish(session).await.map(drop)
}
