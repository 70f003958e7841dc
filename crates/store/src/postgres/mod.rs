//! The store in Postgres: a table of samples for each run, and tables shared by all runs, in the schema `perfpipe`.
//!
//! A run is written in one transaction on a separate connection, so it appears as a whole or not at all. Until then,
//! readers see the run that it replaces. Samples are sent by binary COPY, many of them on several connections. Memory does not grow with the run,
//! except for the counts by second that [`PostgresStore::read`] returns.

mod copy;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod locks;
mod lost_commit;
mod parts;
mod points;
mod reader;
mod runs;
mod samples;
pub(crate) mod schema;
mod series;
mod transaction;
mod writer;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;

pub use self::copy::binary::Rows;
pub use self::copy::samples::SampleEncoder;
pub use self::schema::migrate::{MigratedTable, Migration};
pub use self::writer::PostgresWriter;
pub use crate::connection::config::{Placement, PostgresConfig};

use super::{Listing, RunRef};
use crate::connection::connect;
use crate::connection::session::{self, Session};
use crate::sink::RunStore;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::Result;
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::Reject;
use perfpipe_model::sample::batch::SampleBatch;

use self::samples::write;
use self::schema::engine::ServerEngine;
use self::schema::{layout, migrate, rights};
use self::transaction::{TransactionMode, begin};
use self::writer::KeyClaim;

/// A store of runs in a Postgres database.
///
/// ```no_run
/// # mod perfpipe_ingest { pub use perfpipe_model::{Error, Result}; pub mod store { pub use perfpipe_store::postgres; } }
/// # async fn list() -> perfpipe_ingest::Result<()> {
/// use perfpipe_ingest::store::postgres::{PostgresConfig, PostgresStore};
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
    /// An unused connection outside any transaction.
    idle: Mutex<Option<Session>>,
}

impl PostgresStore {
    /// Connects, within a tokio runtime. The first writer creates the schema.
    ///
    /// # Errors
    /// If no server answers or accepts the user. The message names each server that was tried.
    pub fn connect(config: &PostgresConfig) -> BoxFuture<'_, Result<Self>> {
        Box::pin(async move {
            let session = connect::open(config).await?;
            Ok(Self { config: config.clone(), patience: session::PATIENCE, idle: Mutex::new(Some(session)) })
        })
    }

    /// Sets the time that a writer waits for the readers of samples to be replaced, and for any other lock. The default
    /// is 5 minutes. New readers proceed meanwhile. Readers wait for a lock equally long, but at most 30 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns true if the server is the coordinator of a Citus cluster.
    ///
    /// # Errors
    /// If the server only looks like PostgreSQL, or fails.
    pub fn is_cluster(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move { Ok(self.engine().await? == ServerEngine::Citus) })
    }

    async fn engine(&self) -> Result<ServerEngine> {
        let (what, session) = ("asking for the kind of server", self.session().await?);
        begin(&session, what, TransactionMode::Reading).await?;
        let engine = ServerEngine::ask(&session, what).await?;
        session.end(what).await?;
        self.put_back(session);
        Ok(engine)
    }

    /// Checks that samples can be placed on nodes as the settings say.
    ///
    /// # Errors
    /// If the server has no such place, or fails.
    pub fn check_placement(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if self.config.placement.is_none() {
                return Ok(());
            }
            let (engine, session) = (self.engine().await?, self.session().await?);
            write::choose_placement(&session, engine, self.config.placement, None).await?;
            self.put_back(session);
            Ok(())
        })
    }

    /// Returns the stored runs, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If a run can't be read, the schema has an unknown layout version, or the server fails.
    pub fn runs(&self) -> BoxFuture<'_, Result<Vec<RunInfo>>> {
        Box::pin(async move {
            let found = self.look().await?;
            match found.unread.into_iter().next() {
                Some(error) => Err(error),
                None => Ok(found.runs),
            }
        })
    }

    /// Returns the stored runs, and the errors of those that can't be read.
    ///
    /// # Errors
    /// If the schema has an unknown layout version, or the server fails.
    pub fn look(&self) -> BoxFuture<'_, Result<Listing>> {
        self.look_at(None)
    }

    /// Returns the stored runs of a test, as [`look`](Self::look) does of all, without reading the others.
    ///
    /// # Errors
    /// As for [`PostgresStore::look`].
    pub fn look_at_test<'a>(&'a self, test: &'a str) -> BoxFuture<'a, Result<Listing>> {
        self.look_at(Some(test))
    }

    fn look_at<'a>(&'a self, test: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move {
            let session = self.session().await?;
            let found = reader::look(&session, test).await?;
            self.put_back(session);
            Ok(found)
        })
    }

    /// Returns the keys of the stored runs, sorted by test, framework and repeat, and reads nothing else of them.
    ///
    /// # Errors
    /// If the schema has an unknown layout version, or the server fails.
    pub fn keys(&self) -> BoxFuture<'_, Result<Vec<RunKey>>> {
        Box::pin(async move {
            let session = self.session().await?;
            let keys = reader::keys(&session).await?;
            self.put_back(session);
            Ok(keys)
        })
    }

    /// Returns the stored repeats of a framework and a test, ascending.
    ///
    /// # Errors
    /// If the schema has an unknown layout version, or the server fails.
    pub fn repeats<'a>(&'a self, framework: &'a str, test: &'a str) -> BoxFuture<'a, Result<Vec<u32>>> {
        Box::pin(async move {
            let session = self.session().await?;
            let repeats = reader::repeats(&session, framework, test).await?;
            self.put_back(session);
            Ok(repeats)
        })
    }

    /// Reads a run without its samples, in one snapshot; `None` if it is not stored.
    ///
    /// # Errors
    /// If the schema has an unknown layout version, the run's rows contradict each other, or the server fails.
    pub fn read<'a>(&'a self, key: &'a RunKey) -> BoxFuture<'a, Result<Option<StoredRun>>> {
        Box::pin(async move {
            let session = self.session().await?;
            let run = reader::read(&session, key).await?;
            self.put_back(session);
            Ok(run)
        })
    }

    /// Reads a run without its counts, which may be damaged; `None` if it is not stored.
    pub async fn without_counts(&self, key: &RunKey) -> Result<Option<StoredRun>> {
        let session = self.session().await?;
        let run = reader::without_counts(&session, key).await?;
        self.put_back(session);
        Ok(run)
    }

    /// Reads a run's metadata; `None` if it is not stored.
    ///
    /// # Errors
    /// If the schema has an unknown layout version, or the server fails.
    pub fn info<'a>(&'a self, key: &'a RunKey) -> BoxFuture<'a, Result<Option<RunInfo>>> {
        Box::pin(async move {
            let session = self.session().await?;
            let found = reader::info(&session, key).await?;
            self.put_back(session);
            Ok(found)
        })
    }

    /// Streams the samples of a run to `each`, in batches of some thousands, in the order of the log.
    ///
    /// # Errors
    /// If the run is not stored, was replaced, was stored without samples, `each` fails, or the server fails.
    pub fn samples<'a>(
        &'a self,
        run: impl Into<RunRef<'a>>,
        each: &'a mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
    ) -> BoxFuture<'a, Result<()>> {
        let wanted = run.into();
        Box::pin(async move {
            let session = self.session().await?;
            reader::samples(&session, wanted, each).await?;
            self.put_back(session);
            Ok(())
        })
    }

    /// Passes the rejected records of a run to `each`, in the order of the log.
    ///
    /// # Errors
    /// If the run is not stored, was replaced, `each` fails, or the server fails.
    pub fn rejects<'a>(
        &'a self,
        run: impl Into<RunRef<'a>>,
        each: &'a mut (dyn FnMut(Reject) -> Result<()> + Send),
    ) -> BoxFuture<'a, Result<()>> {
        let wanted = run.into();
        Box::pin(async move {
            let session = self.session().await?;
            reader::rejects(&session, wanted, each).await?;
            self.put_back(session);
            Ok(())
        })
    }

    /// Removes a run; returns `false` if it is not stored.
    ///
    /// # Errors
    /// If it was replaced, is being written, its samples are being read for the whole waiting time, or the server fails.
    pub fn drop_run<'a>(&'a self, run: impl Into<RunRef<'a>>) -> BoxFuture<'a, Result<bool>> {
        let wanted = run.into();
        Box::pin(async move {
            let session = self.session().await?;
            let dropped = drop_run(&session, wanted).await?;
            self.put_back(session);
            Ok(dropped)
        })
    }

    /// Describes what [`PostgresStore::migrate`] would do; `None` if the schema does not exist or has the newest
    /// layout.
    ///
    /// # Errors
    /// If the role lacks the rights, objects of others are in the way, or the server fails.
    pub fn migration(&self) -> BoxFuture<'_, Result<Option<Migration>>> {
        Box::pin(async move {
            let session = self.session().await?;
            let found = migrate::plan(&session).await?;
            self.put_back(session);
            Ok(found)
        })
    }

    /// Migrates a schema of an older layout to the newest one, in one transaction. Returns `false` if there is nothing
    /// to do. Older versions of perfpipe can't read it afterwards. Other readers and writers wait meanwhile.
    ///
    /// # Errors
    /// As for [`PostgresStore::migration`], or if others use the tables for the whole waiting time. Nothing is changed
    /// then. If the connection is lost, call [`PostgresStore::migration`] to find out whether the migration is done.
    pub fn migrate(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move {
            let session = self.session().await?;
            let migrated = migrate::migrate(&session).await?;
            self.put_back(session);
            Ok(migrated)
        })
    }

    /// Returns the unused connection or opens a new one. If its user fails, it is dropped, which ends its transaction.
    async fn session(&self) -> Result<Session> {
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
        PostgresWriter::begin(session, &self.config, KeyClaim::Run(key), keep_samples).await
    }
}

async fn drop_run(session: &Session, wanted: RunRef<'_>) -> Result<bool> {
    let (what, key) = ("dropping a run", wanted.key());
    if layout::open(session, what, TransactionMode::Reading, &[]).await?.is_none() {
        return Ok(false);
    }
    session.end(what).await?;
    rights::check_write(session).await?;
    write::sweep_leftovers(session).await?;
    begin(session, what, TransactionMode::Writing).await?;
    locks::claim(session, key).await?;
    let layout = layout::lock_schema(session, what).await?;
    // A row that can't be read can be dropped too.
    if let Ok(Some(stored)) = runs::find(session, layout, key).await {
        wanted.check(&stored.info)?;
    }
    let found = runs::delete_run_row(session, layout, key).await?;
    let there = found.is_some();
    if let Some(tables) = found.and_then(|run| run.tables) {
        locks::drop_tables(session, &tables).await?;
    }
    session.commit(what, &format!("the run {key} may be dropped")).await?;
    Ok(there)
}
