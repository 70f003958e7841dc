//! The store in Postgres: one table of samples a run, beside tables of all runs, in the schema `perfpipe`.
//!
//! A run is written in one transaction on a connection of its own, so it appears whole or not at all, and until then
//! readers see the run that it replaces. Samples travel by binary COPY both ways; memory does not grow with the run,
//! but for the counts by second that [`PostgresStore::read`] returns.

mod commit;
pub(crate) mod connection;
mod copy;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
mod holders;
mod locks;
mod reader;
mod runs;
pub(crate) mod schema;
mod transaction;
mod writer;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use self::connection::config::PostgresConfig;
pub use self::copy::encode::Rows;
pub use self::copy::samples::SampleEncoder;
pub use self::schema::migrate::{MigratedTable, Migration};
pub use self::writer::PostgresWriter;

use super::{Listing, Wanted};
use crate::counts::stored_run::StoredRun;
use crate::error::Result;
use crate::pipeline::sink::RunStore;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::rejects::Reject;
use crate::sample::batch::SampleBatch;

use self::connection::connect;
use self::connection::session::{self, Session};
use self::schema::{layout, migrate, privileges};
use self::transaction::{Mode, begin};

/// Runs stored in a Postgres database.
///
/// ```no_run
/// # async fn list() -> perfpipe_ingest::Result<()> {
/// use perfpipe_ingest::store::{PostgresConfig, PostgresStore};
/// let config = PostgresConfig::resolve("postgres://db.example/load", &|name| std::env::var(name).ok())?;
/// let store = PostgresStore::connect(&config).await?;
/// for run in store.runs().await? {
///     println!("{}: {} requests", run.key, run.requests());
/// }
/// # Ok(())
/// # }
/// ```
pub struct PostgresStore {
    config: PostgresConfig,
    patience: Duration,
    /// A connection at rest, outside any transaction.
    idle: Mutex<Option<Session>>,
}

impl PostgresStore {
    /// Connects, within a tokio runtime. The schema is made by the first writer.
    ///
    /// # Errors
    /// When no server answers, or none lets the user in; the sentence names each one tried.
    pub async fn connect(config: &PostgresConfig) -> Result<Self> {
        let session = connect::open(config).await?;
        Ok(Self { config: config.clone(), patience: session::PATIENCE, idle: Mutex::new(Some(session)) })
    }

    /// Sets how long a writer waits for the readers of samples that it is to replace, and for any other lock: 5 minutes
    /// unless told. New readers get their turn meanwhile. A reader waits for a lock as long, but never more than 30 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The runs stored, by test, then framework, then repeat.
    ///
    /// # Errors
    /// When the schema has a layout of another version, or the server fails.
    pub async fn runs(&self) -> Result<Vec<RunInfo>> {
        let found = self.look().await?;
        match found.unread.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(found.runs),
        }
    }

    /// What is stored: the runs, and why others can't be read.
    ///
    /// # Errors
    /// When the schema has a layout of another version, or the server fails.
    pub async fn look(&self) -> Result<Listing> {
        let session = self.take().await?;
        let found = reader::look(&session).await?;
        self.put_back(session);
        Ok(found)
    }

    /// The repeats that are stored of a framework and a test, ascending.
    ///
    /// # Errors
    /// When the schema has a layout of another version, or the server fails.
    pub async fn repeats(&self, framework: &str, test: &str) -> Result<Vec<u32>> {
        let session = self.take().await?;
        let repeats = reader::repeats(&session, framework, test).await?;
        self.put_back(session);
        Ok(repeats)
    }

    /// A run, all but its samples, as of one moment.
    ///
    /// # Errors
    /// When the schema has a layout of another version, or the server fails.
    pub async fn read(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        let session = self.take().await?;
        let run = reader::read(&session, key).await?;
        self.put_back(session);
        Ok(run)
    }

    /// A run without its counts, which may be damaged; `None` if it is not stored.
    pub(crate) async fn without_counts(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        let session = self.take().await?;
        let run = reader::without_counts(&session, key).await?;
        self.put_back(session);
        Ok(run)
    }

    /// A run's own row; `None` if it is not stored.
    ///
    /// # Errors
    /// When the schema has a layout of another version, or the server fails.
    pub async fn info(&self, key: &RunKey) -> Result<Option<RunInfo>> {
        let session = self.take().await?;
        let found = reader::info(&session, key).await?;
        self.put_back(session);
        Ok(found)
    }

    /// Hands a run's samples to `each`, some thousands at a time, in the order in which they were written: that of
    /// the log.
    ///
    /// # Errors
    /// When there is no such run, when it was stored without samples, when `each` fails, or when the server does.
    pub async fn samples(
        &self,
        key: &RunKey,
        each: &mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
    ) -> Result<()> {
        let session = self.take().await?;
        reader::samples(&session, Wanted::now(key), each).await?;
        self.put_back(session);
        Ok(())
    }

    /// The same of a run that was read before, as it was then.
    ///
    /// # Errors
    /// As [`PostgresStore::samples`]; [`Error::Replaced`](crate::Error::Replaced) when the run gave way to another since.
    pub async fn samples_of(
        &self,
        run: &RunInfo,
        each: &mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
    ) -> Result<()> {
        let session = self.take().await?;
        reader::samples(&session, Wanted::as_it_was(run), each).await?;
        self.put_back(session);
        Ok(())
    }

    /// Hands a run's rejected records, in the order of the log, to `each`.
    ///
    /// # Errors
    /// When there is no such run, when `each` fails, or when the server does.
    pub async fn rejects(
        &self,
        key: &RunKey,
        each: &mut (dyn FnMut(Reject) -> Result<()> + Send),
    ) -> Result<()> {
        let session = self.take().await?;
        reader::rejects(&session, Wanted::now(key), each).await?;
        self.put_back(session);
        Ok(())
    }

    /// The same of a run that was read before, as it was then.
    ///
    /// # Errors
    /// As [`PostgresStore::rejects`]; [`Error::Replaced`](crate::Error::Replaced) when the run gave way to another since.
    pub async fn rejects_of(
        &self,
        run: &RunInfo,
        each: &mut (dyn FnMut(Reject) -> Result<()> + Send),
    ) -> Result<()> {
        let session = self.take().await?;
        reader::rejects(&session, Wanted::as_it_was(run), each).await?;
        self.put_back(session);
        Ok(())
    }

    /// Takes a run away; `false` if there is none.
    ///
    /// # Errors
    /// When a writer is at work on it, when its samples are being read all the while, or when the server fails.
    pub async fn drop_run(&self, key: &RunKey) -> Result<bool> {
        let session = self.take().await?;
        let dropped = drop_run(&session, key).await?;
        self.put_back(session);
        Ok(dropped)
    }

    /// What [`PostgresStore::migrate`] is going to do; `None` where the schema has the newest layout, or is not there.
    ///
    /// # Errors
    /// When the role may not do it, something of others' is in the way, or the server fails.
    pub async fn migration(&self) -> Result<Option<Migration>> {
        let session = self.take().await?;
        let found = migrate::plan(&session).await?;
        self.put_back(session);
        Ok(found)
    }

    /// Rewrites an older layout as the newest, in one transaction; `false` where there is none. Older versions of
    /// perfpipe can't read it then. Whoever reads or writes meanwhile waits.
    ///
    /// # Errors
    /// As [`PostgresStore::migration`], and when others are at work on the tables all the while: nothing is changed then.
    /// Where the connection is lost meanwhile, [`PostgresStore::migration`] tells whether it is done.
    pub async fn migrate(&self) -> Result<bool> {
        let session = self.take().await?;
        let migrated = migrate::migrate(&session).await?;
        self.put_back(session);
        Ok(migrated)
    }

    /// The connection at rest, or a new one. Whoever fails with it drops it, and its transaction with it.
    async fn take(&self) -> Result<Session> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = match idle.filter(|session| !session.client().is_closed()) {
            Some(session) => session,
            None => connect::open(&self.config).await?,
        };
        Ok(session.with_patience(self.patience))
    }

    fn put_back(&self, session: Session) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

impl RunStore for PostgresStore {
    type Writer = PostgresWriter;

    async fn begin(&self, key: Option<&RunKey>, keep_samples: bool) -> Result<PostgresWriter> {
        let session = connect::open(&self.config).await?.with_patience(self.patience);
        PostgresWriter::begin(session, &self.config, key, keep_samples).await
    }
}

async fn drop_run(session: &Session, key: &RunKey) -> Result<bool> {
    let what = "dropping a run";
    if layout::open(session, what, Mode::Reading, &[]).await?.is_none() {
        return Ok(false);
    }
    session.end(what).await?;
    privileges::check_write(session).await?;
    begin(session, what, Mode::Writing).await?;
    locks::claim(session, key).await?;
    let layout = layout::hold(session, what).await?;
    let found = runs::take_away(session, layout, key).await?;
    let there = found.is_some();
    if let Some(table) = found.and_then(|run| run.table) {
        locks::drop_table(session, &table).await?;
    }
    session.run(what, "commit").await?;
    Ok(there)
}
