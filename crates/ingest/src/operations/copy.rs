//! Copies runs between stores and checks the copy; rewrites runs.

#[cfg(feature = "parquet")]
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};

use crossbeam_channel::{Receiver, bounded};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

#[cfg(feature = "parquet")]
use super::store::blocking;
use super::store::{Store, StoreKind};
use super::verify::differ;
use crate::operations::options::check_names;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::RejectSpool;
use perfpipe_model::run::replace::Replace;
use perfpipe_model::sample::batch::{Nullable, SampleBatch};
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};
#[cfg(feature = "parquet")]
use perfpipe_store::parquet::ParquetStore;
#[cfg(feature = "parquet")]
use perfpipe_store::parquet::packed::{TemporaryFolder, pack};
use perfpipe_store::sink::{BatchEncoder, CommitStage, FinishedRun, RunStore, RunWriter};

/// The maximum number of batches in transit between the two stores.
const ON_THE_WAY: usize = 2;

/// The number of attempts if the run is replaced while it is read.
pub(super) const ATTEMPTS: usize = 5;

impl Store {
    /// Copies a run with its samples and rejects into another store, reads the copy back and compares it.
    ///
    /// The run appears in `to` as a whole or not at all. It replaces an earlier run of its key if `replace` allows it. The
    /// samples are compared by a hash of all their values, everything else value by value.
    ///
    /// # Errors
    /// If the run is not stored, if a store fails or refuses, or if the copy differs: then the error says so, and the copy
    /// stays for inspection. [`Error::Replaced`] if the run is replaced repeatedly while it is read.
    pub fn copy<'a>(
        &'a self,
        key: &'a RunKey,
        to: &'a Self,
        replace: Replace,
    ) -> BoxFuture<'a, Result<RunInfo>> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                match copy_once(self, key, to, replace, true).await {
                    Err(Error::Replaced { .. }) if attempt < ATTEMPTS => attempt += 1,
                    done => return done,
                }
            }
        })
    }

    /// Packs a run into one file, without its samples: [`PackedRun`](perfpipe_store::parquet::PackedRun) takes it out
    /// again. Everything that is computed of the run from its counts stays the same.
    ///
    /// # Errors
    /// If the run is not stored, the store fails, or the file can't be written.
    #[cfg(feature = "parquet")]
    pub fn pack<'a>(&'a self, key: &'a RunKey, file: File) -> BoxFuture<'a, Result<RunInfo>> {
        Box::pin(async move {
            let folder = TemporaryFolder::new(&std::env::temp_dir())?;
            let temporary = ParquetStore::open(folder.path())?;
            let info = copy_once(self, key, &temporary.clone().into(), Replace::Nothing, false).await?;
            let key = key.clone();
            blocking(&temporary, move |store| pack(store, &key, file)).await?;
            Ok(info)
        })
    }

    /// Returns the run if another store has the same of it: its metadata, its counts and its samples. `None` if that has
    /// another run of the key, or none, or one that can't be read.
    ///
    /// # Errors
    /// If the run is not stored here, or this store fails. [`Error::Replaced`] if the run is replaced while it is read.
    pub fn find_same<'a>(
        &'a self,
        key: &'a RunKey,
        other: &'a Self,
    ) -> BoxFuture<'a, Result<Option<RunInfo>>> {
        Box::pin(async move {
            let run = self.read(key).await?;
            let Ok(Some(stored)) = other.info(key).await else { return Ok(None) };
            if !run.info.is_row_of(&stored) {
                return Ok(None);
            }
            let Ok(copy) = other.read(key).await else { return Ok(None) };
            if check_same(key, &run, &copy).is_err() {
                return Ok(None);
            }
            let own = digest(self, &run).await?;
            let is_same = digest(other, &copy).await.is_ok_and(|other| other == own);
            Ok(is_same.then_some(run.info))
        })
    }

    /// Gives a run another key. Everything else stays. The run is stored under the new key, read back and compared, and
    /// only then removed under the old one: if this is interrupted, both may be stored, and renaming again completes it.
    ///
    /// # Errors
    /// If the run is not stored, if the store fails, or if it has another run of the new key, unless `replace` is
    /// [`Replace::Any`]. The run keeps its old key then. [`Error::Replaced`] if the run is replaced meanwhile: then it
    /// is stored under both keys.
    pub fn rename<'a>(
        &'a self,
        key: &'a RunKey,
        new: &'a RunKey,
        replace: Replace,
    ) -> BoxFuture<'a, Result<RunInfo>> {
        Box::pin(async move {
            check_names(Some(&new.framework), Some(&new.test))?;
            let run = self.read(key).await?;
            let former = run.info.clone();
            let mut renamed = run;
            (renamed.info.key, renamed.info.inferred) = (new.clone(), false);
            let is_there = match self.info(new).await {
                // An earlier attempt was interrupted, or the runs are the same anyhow.
                Ok(Some(stored)) if renamed.info.is_row_of(&stored) => true,
                Ok(Some(stored)) if !replace.allows(&stored, &renamed.info) => {
                    return Err(Replace::refusal(&stored, &renamed.info));
                }
                _ => false,
            };
            if !is_there {
                write((self, &former), &renamed, self, replace, None).await?;
            }
            let completed = async {
                let back = self.read(new).await?;
                check_same(new, &renamed, &back)?;
                if digest_of(self, &former).await? != digest(self, &back).await? {
                    return Err(differs(new, "samples"));
                }
                self.drop_run(&former).await
            };
            completed.await.map_err(|error| after(&format!("the run is stored as {new}"), error))?;
            Ok(renamed.info)
        })
    }
}

/// Copies a run, with its samples if they are to be kept.
async fn copy_once(
    from: &Store,
    key: &RunKey,
    to: &Store,
    replace: Replace,
    keep_samples: bool,
) -> Result<RunInfo> {
    let mut run = from.read(key).await?;
    let row = run.info.clone();
    run.info.samples_stored &= keep_samples;
    let sent = write((from, &row), &run, to, replace, None).await?;
    let compared = async {
        let back = to.read(key).await?;
        check_same(key, &run, &back)?;
        if sent == digest(to, &back).await? { Ok(()) } else { Err(differs(key, "samples")) }
    };
    compared.await.map_err(|error| after(&format!("the run {key} is stored in {to}"), error))?;
    Ok(run.info)
}

/// The error for what failed after a run was stored, which `stored` states as in "the run a_t is stored in data". That the
/// run was replaced meanwhile is reported unchanged.
fn after(stored: &str, error: Error) -> Error {
    let remedy = || error.remedy().unwrap_or_else(|| "Find out what is wrong with the store.".to_owned());
    match &error {
        Error::Replaced { .. } => error,
        _ => Error::refused(ErrorKind::ChangeMade, format!("{stored}, and then: {error}"), remedy()),
    }
}

/// Rewrites a run with its stored samples.
pub(crate) async fn rewrite(store: &Store, run: &StoredRun) -> Result<()> {
    write((store, &run.info), run, store, Replace::Any, None).await.map(drop)
}

/// Writes `run` with the stored samples of `from`. Returns the digest of the samples.
pub(super) async fn write(
    from: (&Store, &RunInfo),
    run: &StoredRun,
    to: &Store,
    replace: Replace,
    join: Option<CpuJoin>,
) -> Result<u64> {
    match &to.0 {
        #[cfg(feature = "parquet")]
        StoreKind::Parquet(store) => write_into(from, run, store, replace, join).await,
        #[cfg(feature = "postgres")]
        StoreKind::Postgres(store, _) => write_into(from, run, store.as_ref(), replace, join).await,
    }
}

async fn write_into<S: RunStore>(
    (from, row): (&Store, &RunInfo),
    run: &StoredRun,
    to: &S,
    replace: Replace,
    join: Option<CpuJoin>,
) -> Result<u64> {
    let key = &run.info.key;
    let mut rejects = RejectSpool::default();
    let mut writer = to.begin(Some(key), run.info.samples_stored).await?;
    // If both stores and keys are the same, nobody can replace the run from here on, since the writer holds its key. It
    // may have been replaced before.
    if !from.info(&row.key).await?.is_some_and(|stored| row.is_row_of(&stored)) {
        return Err(Error::replaced(&row.key));
    }
    from.rejects(row, &mut |reject| rejects.push(&reject)).await?;
    let mut digest = SampleDigest::default();
    if run.info.samples_stored {
        let mut encoder = writer.encoder()?;
        let (reader, batches) = read(from, row);
        while let Some(mut batch) = next(&batches).await? {
            if let Some(join) = join {
                batch.cpu = readings(&batch, &run.cpu, join, run.info.t0_ms);
            }
            digest.add(&batch);
            if let Some(chunk) = encoder.encode(&batch)? {
                writer.write(chunk).await?;
            }
        }
        reader.await.map_err(|error| Error::store("reading samples", error))??;
    }
    writer
        .commit(FinishedRun {
            info: &run.info,
            labels: &run.cells.labels,
            injectors: &run.cells.injectors,
            cells: &mut run.cells.packed_between(0, u32::MAX),
            cpu: &run.cpu,
            series: &run.series,
            errors: Box::new(run.errors.iter().cloned().map(Ok)),
            label_counts: &run.labels,
            rejects: &mut rejects,
            replace,
            stage: &CommitStage::default(),
            part: None,
        })
        .await?;
    Ok(digest.0.finish())
}

/// Starts to read the samples of a run on a thread for blocking work.
fn read(from: &Store, row: &RunInfo) -> (JoinHandle<Result<()>>, Receiver<SampleBatch>) {
    let (send, batches) = bounded(ON_THE_WAY);
    let (from, row, runtime) = (from.clone(), row.clone(), Handle::current());
    let mut each = move |batch| {
        send.send(batch).map_err(|_| Error::store("reading samples", "nobody takes them any more"))
    };
    (spawn_blocking(move || runtime.block_on(from.samples(&row, &mut each))), batches)
}

/// Receives the next batch; `None` after the last one.
async fn next(batches: &Receiver<SampleBatch>) -> Result<Option<SampleBatch>> {
    let batches = batches.clone();
    spawn_blocking(move || batches.recv().ok()).await.map_err(|error| Error::store("reading samples", error))
}

/// Returns the reading that each sample of a batch is joined to.
fn readings(batch: &SampleBatch, cpu: &TimeSeries, join: CpuJoin, t0_ms: i64) -> Nullable<f64> {
    batch.t_ms.iter().map(|t_ms| cpu.at(t0_ms.saturating_add(*t_ms).div_euclid(1000), join)).collect()
}

/// Returns the digest of the stored samples of a run.
async fn digest(store: &Store, run: &StoredRun) -> Result<u64> {
    digest_of(store, &run.info).await
}

/// Returns the digest of the stored samples of a run with this row.
async fn digest_of(store: &Store, row: &RunInfo) -> Result<u64> {
    let mut digest = SampleDigest::default();
    if row.samples_stored {
        let (reader, batches) = read(store, row);
        while let Some(batch) = next(&batches).await? {
            digest.add(&batch);
        }
        reader.await.map_err(|error| Error::store("reading samples", error))??;
    }
    Ok(digest.0.finish())
}

fn check_same(key: &RunKey, run: &StoredRun, back: &StoredRun) -> Result<()> {
    for (same, what) in [
        (run.info == back.info, "own row"),
        (differ(&run.cells, &back.cells)?.is_none(), "counts by second"),
        (run.cpu == back.cpu, "CPU readings"),
        (run.series == back.series, "other series"),
        (run.errors == back.errors, "failures"),
        (run.labels == back.labels, "labels"),
    ] {
        if !same {
            return Err(differs(key, what));
        }
    }
    Ok(())
}

fn differs(key: &RunKey, what: &str) -> Error {
    Error::store(format!("comparing the copy of {key} with the run"), format!("the {what} differ"))
}

/// A hash of samples in their order, independent of how they are cut into batches.
#[derive(Default)]
struct SampleDigest(DefaultHasher);

impl SampleDigest {
    fn add(&mut self, batch: &SampleBatch) {
        // No `..`: a column that is not hashed would be copied unchecked.
        let SampleBatch {
            resolution: _,
            t_ms,
            label,
            elapsed,
            response_code,
            success,
            bytes,
            sent_bytes,
            all_threads,
            latency,
            idle_time,
            connect,
            cpu,
            injector,
            transaction,
        } = batch;
        for row in 0..batch.len() {
            let numbers = (
                (t_ms.get(row), elapsed.get(row), success.get(row), transaction.get(row)),
                (bytes.get(row), sent_bytes.get(row), all_threads.get(row)),
                (latency.get(row), idle_time.get(row), connect.get(row)),
                cpu.get(row).map(f64::to_bits),
            );
            numbers.hash(&mut self.0);
            (label.get(row), response_code.get(row), injector.get(row)).hash(&mut self.0);
        }
    }
}
