//! Replaces the CPU readings of a stored run.

use futures_util::future::BoxFuture;

use super::remove;
use crate::error::{Error, Result};
use crate::operations::copy::{ATTEMPTS, write};
use crate::operations::store::Store;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::options::RunOptions;
use crate::run::replace::Replace;
use crate::series::cpu::CpuJoin;
use crate::source::cpu_export::CpuExport;

impl Store {
    /// Replaces the CPU readings of a stored run and joins its samples to the new ones. Everything else stays, except what
    /// the run's metadata states about the former export: its name, its damage, and its item, scale and cores, which are
    /// then those in `noted`.
    ///
    /// # Errors
    /// If the run is not stored, or the store fails. The run is unchanged then.
    pub fn attach_cpu<'a>(
        &'a self,
        key: &'a RunKey,
        export: CpuExport,
        join: CpuJoin,
        noted: &'a RunOptions,
    ) -> BoxFuture<'a, Result<RunInfo>> {
        Box::pin(async move {
            let mut attempt = 1;
            loop {
                match attach_once(self, key, &export, join, noted).await {
                    Err(Error::Replaced { .. }) if attempt < ATTEMPTS => attempt += 1,
                    done => return done,
                }
            }
        })
    }
}

async fn attach_once(
    store: &Store,
    key: &RunKey,
    export: &CpuExport,
    join: CpuJoin,
    noted: &RunOptions,
) -> Result<RunInfo> {
    let mut run = store.read(key).await?;
    let former = run.info.clone();
    with_export(&mut run.info, export, join, noted);
    run.cpu = export.series.clone();
    write((store, &former), &run, store, Replace::Any, Some(join)).await?;
    Ok(run.info)
}

/// Replaces the former CPU export by the new one in a run's metadata.
fn with_export(info: &mut RunInfo, export: &CpuExport, join: CpuJoin, noted: &RunOptions) {
    remove(info, &export.file.kind);
    info.sources.push(export.file.clone());
    info.damage.extend(export.damage.clone());
    info.options.replace_cpu(noted);
    info.options.note_scale(export.scale);
    (info.cpu_offset, info.cpu_lookback) = (join.offset, join.lookback);
}
