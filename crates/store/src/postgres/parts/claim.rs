//! Where the parts of runs are written, and the claim on the parts of one run, which are locked until they are merged or
//! dropped.

use std::io::Write;
use std::time::Duration;

use super::rows::{self, MergedParts, PartRecord, TABLES};
use crate::connection::config::PostgresConfig;
use crate::connection::connect;
use crate::connection::session::Session;
use crate::parquet::packed::{PackedRun, PartFacts};
use crate::parts::{ClaimedParts, PartStore, StoredPart, StoredParts, in_use, no_parts};
use crate::postgres::copy::CopyOut;
use crate::postgres::schema::names::{literal, run_text};
use crate::postgres::schema::{layout, rights};
use crate::postgres::transaction::{TransactionMode, begin};
use crate::postgres::writer::{KeyClaim, PostgresWriter};
use crate::postgres::{PostgresStore, locks};
use crate::sink::RunStore;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

/// The action that error messages name.
const READING: &str = "reading the parts of a run";

/// The parts of one run. The lock on them is that of a transaction of this connection.
pub struct PostgresParts {
    session: Session,
    config: PostgresConfig,
    patience: Duration,
    key: RunKey,
    parts: Vec<PartRecord>,
}

impl PostgresParts {
    async fn claim(config: &PostgresConfig, patience: Duration, key: &RunKey) -> Result<Self> {
        let session = connect::open(config).await?.with_patience(patience);
        rights::check_write(&session).await?;
        begin(&session, READING, TransactionMode::Writing).await?;
        if !rows::are_there(&session, READING).await? {
            return Err(no_parts(key));
        }
        if !claim(&session, key).await? {
            return Err(in_use(key));
        }
        let parts = rows::of_run(&session, READING, key, None).await?;
        if parts.is_empty() {
            return Err(no_parts(key));
        }
        Ok(Self { session, config: config.clone(), patience, key: key.clone(), parts })
    }
}

/// Locks the parts of a run; false if another holds them. The server may hold the lock of a connection that was just
/// closed for a moment longer.
async fn claim(session: &Session, key: &RunKey) -> Result<bool> {
    for _ in 0..10 {
        if locks::try_lock(session, READING, &locks::lock_of_parts(key)).await? {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(false)
}

impl ClaimedParts for PostgresParts {
    type Writer = PostgresWriter;

    fn numbers(&self) -> Result<Vec<u32>> {
        Ok(self.parts.iter().map(|part| part.number).collect())
    }

    async fn all(&self) -> Result<Vec<StoredPart>> {
        self.parts.iter().map(PartRecord::part).collect()
    }

    async fn facts(&self, part: &StoredPart) -> Result<PartFacts> {
        let failed = |error: std::io::Error| Error::io(&std::env::temp_dir(), error);
        let mut packed = tempfile::NamedTempFile::new().map_err(failed)?;
        let (run, number) = (literal(&run_text(&self.key)), part.row.number.number());
        let query = format!(
            "select content from perfpipe.partfiles where run = {run} and part = {number} order by number"
        );
        let pieces = CopyOut::begin(&self.session, READING, &query).await?;
        pieces.each(|row| packed.write_all(row.bytes()?).map_err(failed)).await?;
        let unpacked = PackedRun::open(packed.path())
            .map_err(|error| Error::store(format!("reading part {number} of {}", self.key), error))?;
        PartFacts::unpacked(unpacked)
    }

    async fn begin_merged(&self, key: &RunKey, parts: &[StoredPart]) -> Result<PostgresWriter> {
        let session = connect::open(&self.config).await?.with_patience(self.patience);
        let of = |part: &StoredPart| {
            let record = self.parts.iter().find(|record| record.number == part.row.number.number());
            record.and_then(|record| record.table.clone())
        };
        let tables = parts.iter().filter(|part| part.info.samples_stored);
        let tables = tables.map(|part| of(part).ok_or_else(|| lacks_table(part)));
        let merging = MergedParts { tables: tables.collect::<Result<_>>()? };
        PostgresWriter::begin_merged(session, &self.config, key, merging).await
    }

    async fn remove_merged(&self) -> Result<()> {
        // The transaction that stored the run has removed them.
        Ok(())
    }

    async fn drop_parts(&self, numbers: &[u32]) -> Result<()> {
        let (session, what) = (&self.session, "dropping parts of a run");
        layout::lock_schema(session, what).await?;
        rights::check_ownership(session, TABLES, true).await?;
        rows::delete(session, what, &self.key, Some(numbers)).await?;
        for part in self.parts.iter().filter(|part| numbers.contains(&part.number)) {
            if let Some(tables) = part.tables() {
                locks::drop_tables(session, &tables).await?;
            }
        }
        session.commit(what, &format!("the parts of {} may be dropped", self.key)).await
    }
}

/// The error for a part whose row was changed by hand.
fn lacks_table(part: &StoredPart) -> Error {
    let what = format!("reading part {} of {}", part.row.number, part.info.key);
    Error::store(what, "its row names no table of samples")
}

impl PartStore for PostgresStore {
    type Target = PostgresPartTarget;
    type Claimed = PostgresParts;

    async fn parts(&self) -> Result<Vec<StoredParts>> {
        let session = self.session().await?;
        let parts = rows::list(&session).await?;
        self.put_back(session);
        Ok(StoredParts::gather(parts))
    }

    async fn part_target(&self, key: &RunKey, number: PartNumber) -> Result<PostgresPartTarget> {
        // Other machines load at the same time: one connection each is enough.
        let mut config = self.config.clone().with_connections(1);
        // The samples of parts are copied to one table.
        config.placement = None;
        Ok(PostgresPartTarget { config, patience: self.patience, key: key.clone(), number })
    }

    async fn claim_parts(&self, key: &RunKey) -> Result<PostgresParts> {
        PostgresParts::claim(&self.config, self.patience, key).await
    }
}

/// Where one part is written.
pub struct PostgresPartTarget {
    config: PostgresConfig,
    patience: Duration,
    key: RunKey,
    number: PartNumber,
}

impl RunStore for PostgresPartTarget {
    type Writer = PostgresWriter;

    async fn begin(&self, _: Option<&RunKey>, keep_samples: bool) -> Result<PostgresWriter> {
        let session = connect::open(&self.config).await?.with_patience(self.patience);
        let claim = KeyClaim::Part(&self.key, self.number.number());
        PostgresWriter::begin(session, &self.config, claim, keep_samples).await
    }
}
