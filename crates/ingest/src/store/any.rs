//! The two stores behind one face, for whoever does not care which one it is.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::batch::SampleBatch;
use crate::error::{Error, Result};
use crate::ingest::{IngestOptions, Ingested, ingest};
use crate::pipeline::Progress;
use crate::recount::Recount;
use crate::rejects::Reject;
use crate::store::parquet::ParquetStore;
use crate::store::postgres::{PostgresConfig, PostgresStore};
use crate::store::{RunInfo, RunKey, StoredRun};

/// A store of either kind.
pub enum Store {
    /// A folder of Parquet files.
    Parquet(ParquetStore),
    /// A Postgres database, and its name: user, server and database, without a password.
    Postgres(Box<PostgresStore>, String),
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parquet(store) => write!(f, "{}", store.path().display()),
            Self::Postgres(_, name) => f.write_str(name),
        }
    }
}

impl Store {
    /// The store in this folder; it need not exist yet.
    ///
    /// # Errors
    /// When the folder holds something that is not a store of this layout.
    pub fn folder(path: PathBuf) -> Result<Self> {
        ParquetStore::open(path).map(Self::Parquet)
    }

    /// The store in a database.
    ///
    /// # Errors
    /// When no server answers, or none lets the user in.
    pub async fn database(config: PostgresConfig) -> Result<Self> {
        Ok(Self::Postgres(Box::new(PostgresStore::connect(&config).await?), config.to_string()))
    }

    /// Reads the logs and the CPU export of one run into the store; see [`ingest`].
    ///
    /// # Errors
    /// As [`ingest`].
    pub async fn ingest(
        &self,
        files: &[PathBuf],
        options: &IngestOptions,
        progress: Arc<Progress>,
    ) -> Result<Ingested> {
        match self {
            Self::Parquet(store) => ingest(store, files, options, progress).await,
            Self::Postgres(store, _) => ingest(store.as_ref(), files, options, progress).await,
        }
    }

    /// The runs that are stored, by test and framework.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn runs(&self) -> Result<Vec<RunInfo>> {
        match self {
            Self::Parquet(store) => store.runs(),
            Self::Postgres(store, _) => store.runs().await,
        }
    }

    /// One run, all but its samples.
    ///
    /// # Errors
    /// When the run is not stored, or the store can't be read.
    pub async fn read(&self, key: &RunKey) -> Result<StoredRun> {
        let run = match self {
            Self::Parquet(store) => store.read(key)?,
            Self::Postgres(store, _) => store.read(key).await?,
        };
        run.ok_or_else(|| Error::missing_run(key))
    }

    /// The same run counted again from its samples, with cells of its own for a label that shared them
    /// (see [`StoredRun::shares_cells`]). It takes as long as reading the samples does.
    ///
    /// # Errors
    /// When the run was replaced since, was stored without samples, or the store can't be read.
    pub async fn recount(&self, run: StoredRun, label: &str) -> Result<StoredRun> {
        let key = &run.info.key;
        let mut recount = Recount::new(&run.info, label);
        let mut each = |batch| {
            recount.add(batch);
            Ok(())
        };
        self.samples(key, &mut each).await?;
        if self.read(key).await?.info != run.info {
            return Err(Error::refused(
                format!("the run {key} was replaced while it was being read"),
                "Run the command again.",
            ));
        }
        Ok(StoredRun { cells: recount.finish(), ..run })
    }

    /// Streams the samples of a run, batch by batch.
    ///
    /// # Errors
    /// When the run is not stored, was stored without samples, the store can't be read, or `each` fails.
    pub async fn samples(
        &self,
        key: &RunKey,
        each: &mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
    ) -> Result<()> {
        match self {
            Self::Parquet(store) => store.samples(key, each),
            Self::Postgres(store, _) => store.samples(key, each).await,
        }
    }

    /// Streams the rejected records of a run, in the order of the log.
    ///
    /// # Errors
    /// When the run is not stored, the store can't be read, or `each` fails.
    pub async fn rejects(
        &self,
        key: &RunKey,
        each: &mut (dyn FnMut(Reject) -> Result<()> + Send),
    ) -> Result<()> {
        match self {
            Self::Parquet(store) => store.rejects(key, each),
            Self::Postgres(store, _) => store.rejects(key, each).await,
        }
    }

    /// Takes a run away.
    ///
    /// # Errors
    /// When it is not stored, is being written or read all the while, or can't be removed.
    pub async fn drop_run(&self, key: &RunKey) -> Result<()> {
        let dropped = match self {
            Self::Parquet(store) => store.drop_run(key)?,
            Self::Postgres(store, _) => store.drop_run(key).await?,
        };
        if dropped { Ok(()) } else { Err(Error::missing_run(key)) }
    }
}
