//! A store of either kind, with a common interface.

use std::fmt;
use std::path::PathBuf;
#[cfg(feature = "postgres")]
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use super::ingest::{IngestContext, Ingested, ingest_as};
use super::options::IngestOptions;
use super::recount::Recount;
use super::sub_samples::{SubSamples, leave_out};
use super::watch::Followed;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::Reject;
use perfpipe_model::sample::batch::SampleBatch;
use perfpipe_model::sample::ends::Ends;
#[cfg(feature = "parquet")]
use perfpipe_store::parquet::ParquetStore;
#[cfg(feature = "postgres")]
use perfpipe_store::postgres::{Migration, PostgresConfig, PostgresStore};
use perfpipe_store::{Listing, RunRef};

/// What fails if a thread for blocking work ends early.
const READING: &str = "reading the store";

/// The maximum number of batches or rejects on the way from a folder.
const ON_THE_WAY: usize = 1;

/// A store of either kind: a folder of Parquet files, or a Postgres database. Clones share it.
///
/// # Blocking
///
/// What reads a folder does so on tokio's threads for blocking work, so these functions need a tokio runtime and never
/// stall it. What writes to a folder works on the thread that polls it, in steps that end once they have begun:
/// [`Store::ingest`], [`Store::merge`], [`Store::copy`], [`Store::attach_cpu`] and [`Store::drop_run`]. A database never
/// blocks. The caller's closures (`each`) run on the polling thread.
///
/// # Cancellation
///
/// A future that is dropped before it ends leaves nothing in the store, unless [`Stage`](perfpipe_store::Stage) says that
/// the commit was asked for. If the polling thread must stay responsive, poll the future with `Handle::block_on` within
/// `tokio::task::spawn_blocking`, as the command `perfpipe` does; but then nothing drops it: such a task can't be aborted,
/// and goes on when its handle is dropped. [`Progress::cancel`](crate::Progress::cancel) ends an ingest or a merge there.
#[derive(Clone)]
pub struct Store(pub(super) StoreKind);

/// The kinds of stores.
#[derive(Clone)]
pub(super) enum StoreKind {
    /// A folder of Parquet files.
    #[cfg(feature = "parquet")]
    Parquet(ParquetStore),
    /// A Postgres database with its name: user, server and database, without a password.
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresStore>, String),
}

#[cfg(feature = "parquet")]
impl From<ParquetStore> for Store {
    fn from(store: ParquetStore) -> Self {
        Self(StoreKind::Parquet(store))
    }
}

/// A [`RunRef`] for another thread.
#[cfg(feature = "parquet")]
enum OwnedRef {
    Current(RunKey),
    Read(Box<RunInfo>),
}

#[cfg(feature = "parquet")]
impl From<RunRef<'_>> for OwnedRef {
    fn from(run: RunRef<'_>) -> Self {
        match run {
            RunRef::Current(key) => Self::Current(key.clone()),
            RunRef::Read(row) => Self::Read(Box::new(row.clone())),
        }
    }
}

#[cfg(feature = "parquet")]
impl<'a> From<&'a OwnedRef> for RunRef<'a> {
    fn from(run: &'a OwnedRef) -> Self {
        match run {
            OwnedRef::Current(key) => Self::Current(key),
            OwnedRef::Read(row) => Self::Read(row),
        }
    }
}

/// Reads from a folder on a thread for blocking work.
#[cfg(feature = "parquet")]
pub(super) async fn blocking<T: Send + 'static>(
    store: &ParquetStore,
    read: impl FnOnce(&ParquetStore) -> Result<T> + Send + 'static,
) -> Result<T> {
    let store = store.clone();
    joined(spawn_blocking(move || read(&store))).await
}

/// Streams from a folder on a thread for blocking work to `each`. If the future is dropped, the thread soon stops.
#[cfg(feature = "parquet")]
async fn streamed<T: Send + 'static>(
    store: &ParquetStore,
    each: &mut (dyn FnMut(T) -> Result<()> + Send),
    read: impl FnOnce(&ParquetStore, &mut dyn FnMut(T) -> Result<()>) -> Result<()> + Send + 'static,
) -> Result<()> {
    let (send, mut items) = mpsc::channel(ON_THE_WAY);
    let store = store.clone();
    let mut pass_on =
        move |item| send.blocking_send(item).map_err(|_| Error::store(READING, "nobody takes it any more"));
    let reader = spawn_blocking(move || read(&store, &mut pass_on));
    let mut taken = Ok(());
    while let Some(item) = items.recv().await {
        taken = each(item);
        if taken.is_err() {
            break;
        }
    }
    drop(items);
    let read = joined(reader).await;
    taken.and(read)
}

/// Waits for a thread for blocking work, and panics if it did.
#[cfg(feature = "parquet")]
async fn joined<T>(reader: JoinHandle<Result<T>>) -> Result<T> {
    match reader.await.map_err(JoinError::try_into_panic) {
        Ok(read) => read,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(error)) => Err(Error::store(READING, error)),
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => write!(f, "{}", store.path().display()),
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(_, name) => f.write_str(name),
        }
    }
}

impl Store {
    /// Opens the store in this folder, which need not exist yet.
    ///
    /// # Errors
    /// If the folder contains something that is not a store of this layout version.
    #[cfg(feature = "parquet")]
    pub fn folder(path: PathBuf) -> Result<Self> {
        ParquetStore::open(path).map(Self::from)
    }

    /// Connects to the store in a database.
    ///
    /// # Errors
    /// If no server answers or accepts the user.
    #[cfg(feature = "postgres")]
    pub fn database(config: PostgresConfig) -> BoxFuture<'static, Result<Self>> {
        Box::pin(async move {
            let store = PostgresStore::connect(&config).await?;
            Ok(Self(StoreKind::Postgres(Arc::new(store), config.to_string())))
        })
    }

    /// Returns true if the store is in a Citus cluster.
    ///
    /// # Errors
    /// If the server fails.
    pub fn is_cluster(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(_) => Ok(false),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.is_cluster().await,
            }
        })
    }

    /// Checks that samples can be placed as the settings of the database say. An ingest checks it too, but one that follows
    /// a test only when that has ended.
    ///
    /// # Errors
    /// If the server has no such place, or fails.
    pub fn check_placement(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(_) => Ok(()),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.check_placement().await,
            }
        })
    }

    /// Reads the logs and the CPU export of one run into the store; see [`ingest`](crate::ingest()).
    ///
    /// # Errors
    /// As for [`ingest`](crate::ingest()).
    pub fn ingest<'a>(
        &'a self,
        files: &'a [PathBuf],
        options: &'a IngestOptions,
    ) -> BoxFuture<'a, Result<Ingested>> {
        Box::pin(async move { self.ingest_as(files, options, IngestContext::default()).await })
    }

    /// Stores a run whose logs were followed to their end, as [`ingest`](Self::ingest) stores that of finished logs: those
    /// that came from a pipe or were rotated count as one file of the name that was followed.
    ///
    /// # Errors
    /// As for [`ingest`](Self::ingest).
    pub fn ingest_followed<'a>(
        &'a self,
        followed: &'a Followed,
        options: &'a IngestOptions,
    ) -> BoxFuture<'a, Result<Ingested>> {
        let terms = IngestContext { kept: &followed.kept, ..IngestContext::default() };
        Box::pin(async move { self.ingest_as(&followed.files, options, terms).await })
    }

    /// Ingests a run as [`ingest`](Self::ingest) does, on these terms.
    pub(crate) async fn ingest_as(
        &self,
        files: &[PathBuf],
        options: &IngestOptions,
        terms: IngestContext<'_>,
    ) -> Result<Ingested> {
        match &self.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => ingest_as(store, files, options, terms).await,
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(store, _) => ingest_as(store.as_ref(), files, options, terms).await,
        }
    }

    /// Returns the stored runs, sorted by test, framework and repeat.
    ///
    /// # Errors
    /// If the store or one of its runs can't be read.
    pub fn runs(&self) -> BoxFuture<'_, Result<Vec<RunInfo>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => blocking(store, |store| store.runs()).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.runs().await,
            }
        })
    }

    /// Returns the stored runs, and the errors of those that can't be read.
    ///
    /// # Errors
    /// If the store as a whole can't be read.
    pub fn look(&self) -> BoxFuture<'_, Result<Listing>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => blocking(store, |store| store.look()).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.look().await,
            }
        })
    }

    /// Returns the stored runs of a test, and the errors of those that can't be read. The others are not read.
    ///
    /// # Errors
    /// If the store as a whole can't be read.
    pub fn look_at_test<'a>(&'a self, test: &'a str) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let test = test.to_owned();
                    blocking(store, move |store| store.look_at_test(&test)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.look_at_test(test).await,
            }
        })
    }

    /// Returns the keys of the stored runs, sorted by test, framework and repeat. This is faster than reading the runs.
    ///
    /// # Errors
    /// If the store as a whole can't be read.
    pub fn keys(&self) -> BoxFuture<'_, Result<Vec<RunKey>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => blocking(store, |store| store.keys()).await,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.keys().await,
            }
        })
    }

    /// Returns the stored repeats of a framework and a test, ascending.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn repeats<'a>(&'a self, framework: &'a str, test: &'a str) -> BoxFuture<'a, Result<Vec<u32>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let (framework, test) = (framework.to_owned(), test.to_owned());
                    blocking(store, move |store| store.repeats(&framework, &test)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.repeats(framework, test).await,
            }
        })
    }

    /// Reads a run without its samples.
    ///
    /// Runs of earlier versions lack their last end ([`RunInfo::last_end_ms`]). It is then computed from the samples,
    /// which costs a pass over all of them. It stays absent if the samples were not stored or can't be read.
    ///
    /// # Errors
    /// If the run is not stored, or the store can't be read.
    pub fn read<'a>(&'a self, key: &'a RunKey) -> BoxFuture<'a, Result<StoredRun>> {
        Box::pin(async move {
            let run = match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let key = key.clone();
                    blocking(store, move |store| store.read(&key)).await?
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.read(key).await?,
            };
            let mut run = run.ok_or_else(|| Error::missing_run(key))?;
            let is_known = run.info.last_end_ms.or(run.info.transactions_end_ms).is_some();
            if !is_known && run.info.samples_stored {
                let ends = self.ends(&run.info).await.unwrap_or_default();
                (run.info.last_end_ms, run.info.transactions_end_ms) = (ends.requests, ends.transactions);
            }
            Ok(run)
        })
    }

    /// Computes the last ends of a run from its samples.
    async fn ends(&self, run: &RunInfo) -> Result<Ends> {
        let mut ends = Ends::default();
        let mut add = |batch: SampleBatch| {
            ends.add_batch(&batch, run.t0_ms);
            Ok(())
        };
        self.samples(run, &mut add).await?;
        Ok(ends)
    }

    /// Streams the samples of a run to `each`, batch by batch.
    ///
    /// # Errors
    /// If the run is not stored, was replaced ([`Error::Replaced`]), was stored without samples, the store can't be read, or
    /// `each` fails.
    pub fn samples<'a>(
        &'a self,
        run: impl Into<RunRef<'a>>,
        each: &'a mut (dyn FnMut(SampleBatch) -> Result<()> + Send),
    ) -> BoxFuture<'a, Result<()>> {
        let run = run.into();
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let run = OwnedRef::from(run);
                    streamed(store, each, move |store, each| store.samples(&run, each)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.samples(run, each).await,
            }
        })
    }

    /// Counts the samples of a run again, so that `label` gets cells of its own if it shares those of
    /// [`OTHER`](perfpipe_model::counts::OTHER).
    ///
    /// This costs a pass over all samples. The run's other labels keep their cells.
    ///
    /// # Errors
    /// As for [`Store::samples`].
    pub fn recount<'a>(&'a self, run: &'a mut StoredRun, label: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let key = run.info.key.clone();
            if !run.info.samples_stored {
                return Err(Error::refused(
                    ErrorKind::SharedLabel,
                    format!(
                        "the run {key} counts the label \"{label}\" together with others, and was stored without \
                     the samples that could separate them"
                    ),
                    "Ingest the run again with its samples (IngestOptions::keep_samples), or look at all labels together.",
                ));
            }
            let mut recount = Recount::new(run, label);
            self.samples(&run.info.clone(), &mut |batch| recount.add(batch)).await?;
            run.cells = recount.cells()?;
            Ok(())
        })
    }

    /// Removes the sub-samples from a run and returns their labels. JMeter writes the parts of a sample (redirects,
    /// embedded resources) as separate records after it, named after it (`Page-0`, `Page-1`).
    ///
    /// A part is recognised by its name, and by lying within a sample of the parent's label that was written before. If
    /// the run has such names, this costs a pass over all samples. A log whose parts were not renamed
    /// (`subresults.disable_renaming`) keeps them all.
    ///
    /// # Errors
    /// As for [`Store::samples`]. Also if it is undecidable whether the samples of a label are parts, and if there are
    /// such names but the samples were not stored or the label shares its counts with others.
    pub fn top_level<'a>(&'a self, run: &'a mut StoredRun) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let mut found = SubSamples::new(run.labels.iter().map(|label| label.label.as_str()));
            if found.is_empty() {
                return Ok(Vec::new());
            }
            let key = &run.info.key;
            if !run.info.samples_stored {
                return Err(Error::refused(
                    ErrorKind::SubSamplesUnknown,
                    format!(
                        "the run {key} has labels that look like those of sub-samples, and was stored without \
                     the samples that could show it"
                    ),
                    "Ingest the run again with its samples (IngestOptions::keep_samples), or look at the labels one by one.",
                ));
            }
            self.samples(&run.info, &mut |batch| {
                found.add(&batch);
                Ok(())
            })
            .await?;
            let labels = found.labels()?;
            if let Some(label) = labels.iter().find(|label| run.shares_cells(label)) {
                return Err(Error::refused(
                    ErrorKind::SubSamplesShared,
                    format!("the run {key} counts the sub-samples \"{label}\" together with other labels"),
                    "Look at the labels one by one, or at all of them.",
                ));
            }
            leave_out(run, &labels)?;
            Ok(labels)
        })
    }

    /// Streams the rejected records of a run to `each`, in the order of the log.
    ///
    /// # Errors
    /// If the run is not stored, was replaced ([`Error::Replaced`]), the store can't be read, or `each` fails.
    pub fn rejects<'a>(
        &'a self,
        run: impl Into<RunRef<'a>>,
        each: &'a mut (dyn FnMut(Reject) -> Result<()> + Send),
    ) -> BoxFuture<'a, Result<()>> {
        let run = run.into();
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let run = OwnedRef::from(run);
                    streamed(store, each, move |store, each| store.rejects(&run, each)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.rejects(run, each).await,
            }
        })
    }

    /// Reads a run without its counts, which may be damaged.
    pub(crate) async fn without_counts(&self, key: &RunKey) -> Result<StoredRun> {
        let run = match &self.0 {
            #[cfg(feature = "parquet")]
            StoreKind::Parquet(store) => {
                let key = key.clone();
                blocking(store, move |store| store.without_counts(&key)).await?
            }
            #[cfg(feature = "postgres")]
            StoreKind::Postgres(store, _) => store.without_counts(key).await?,
        };
        run.ok_or_else(|| Error::missing_run(key))
    }

    /// Reads a run's metadata; `None` if it is not stored.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn info<'a>(&'a self, key: &'a RunKey) -> BoxFuture<'a, Result<Option<RunInfo>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let key = key.clone();
                    blocking(store, move |store| store.info(&key)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.info(key).await,
            }
        })
    }

    /// Returns the size of a run's files in bytes. `None` if it is not stored, or stored in a database.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn stored_bytes<'a>(&'a self, key: &'a RunKey) -> BoxFuture<'a, Result<Option<u64>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => {
                    let key = key.clone();
                    blocking(store, move |store| store.stored_bytes(&key)).await
                }
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(..) => {
                    // Only files have a size.
                    let _ = key;
                    Ok(None)
                }
            }
        })
    }

    /// Removes a run. Blocks while it removes the files of a folder.
    ///
    /// # Errors
    /// If it is not stored, was replaced ([`Error::Replaced`]), stays locked by a writer or reader, or can't be removed.
    pub fn drop_run<'a>(&'a self, run: impl Into<RunRef<'a>>) -> BoxFuture<'a, Result<()>> {
        let run = run.into();
        Box::pin(async move {
            let dropped = match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => store.drop_run(run)?,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.drop_run(run).await?,
            };
            if dropped { Ok(()) } else { Err(Error::missing_run(run.key())) }
        })
    }

    /// Describes what [`Store::migrate`] would do; `None` if there is nothing to do. Folders always have the newest
    /// layout.
    ///
    /// # Errors
    /// If the role lacks the rights, objects of others are in the way, or the store can't be read.
    #[cfg(feature = "postgres")]
    pub fn migration(&self) -> BoxFuture<'_, Result<Option<Migration>>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(_) => Ok(None),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.migration().await,
            }
        })
    }

    /// Migrates a store of an older layout to the newest one, as a whole or not at all. Returns `false` if there is
    /// nothing to do.
    ///
    /// # Errors
    /// As for [`PostgresStore::migrate`].
    #[cfg(feature = "postgres")]
    pub fn migrate(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(_) => Ok(false),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.migrate().await,
            }
        })
    }
}
