//! Gives stored runs other readings of the server.

use futures_util::future::BoxFuture;

use super::copy::{ATTEMPTS, write};
use super::store::Store;
use crate::source::SeriesExport;
use crate::source::cpu_export::CpuExport;
use crate::source::cpu_export::series::files;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::{RunInfo, SourceFile, SourceKind};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::note::Note;
use perfpipe_model::run::options::RunOptions;
use perfpipe_model::run::replace::Replace;
use perfpipe_model::series::cpu::CpuJoin;
use perfpipe_model::series::server;

/// Removes the files of a kind from a run's metadata, with their damage.
fn remove(info: &mut RunInfo, kind: &SourceKind) {
    let (former, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut info.sources).into_iter().partition(|source| source.kind == *kind);
    info.damage.retain(|damage| !is_of(damage, &former) || is_of(damage, &others));
    info.sources = others;
}

/// Returns true if damage is in one of these files, or in a zip that contains one.
fn is_of(damage: &Damage, sources: &[SourceFile]) -> bool {
    let within = |source: &SourceFile| damage.member.is_none() || damage.member == source.member;
    sources.iter().any(|source| source.file == damage.file && within(source))
}

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
                match attach_cpu_once(self, key, &export, join, noted).await {
                    Err(Error::Replaced { .. }) if attempt < ATTEMPTS => attempt += 1,
                    done => return done,
                }
            }
        })
    }
}

async fn attach_cpu_once(
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

/// Result of attaching series to a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct AttachedSeries {
    /// The run's metadata.
    pub info: RunInfo,
    /// The number of the run's seconds that have a reading, by series.
    pub seconds: Vec<(String, u32)>,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
}

impl Store {
    /// Adds series of the server to a stored run, as if they had been given at the ingest; with `replace`, they replace
    /// all series that the run has beside its CPU. Everything else stays. [`read_series`](crate::source::read_series)
    /// reads those of files.
    ///
    /// # Errors
    /// If two series have one name, if the run has a series of the same name and `replace` is false, if none of the run's
    /// seconds has a reading of a series, if the run is not stored, or if the store fails. The run is unchanged then.
    pub fn attach_series<'a>(
        &'a self,
        key: &'a RunKey,
        exports: &'a [SeriesExport],
        replace: bool,
    ) -> BoxFuture<'a, Result<AttachedSeries>> {
        Box::pin(async move {
            let named = exports.iter().map(|export| &export.series);
            server::check(named.map(|series| (series.name.as_str(), series.unit.as_str())))?;
            let mut attempt = 1;
            loop {
                match attach_series_once(self, key, exports, replace).await {
                    Err(Error::Replaced { .. }) if attempt < ATTEMPTS => attempt += 1,
                    done => return done,
                }
            }
        })
    }

    /// Checks that series can be added to a stored run, so that none of several runs is changed where one of them does not
    /// fit.
    ///
    /// # Errors
    /// Those of [`Store::attach_series`] about the series and the run.
    pub async fn check_series(&self, key: &RunKey, exports: &[SeriesExport], replace: bool) -> Result<()> {
        add(&mut self.read(key).await?, exports, replace).map(|_| ())
    }
}

async fn attach_series_once(
    store: &Store,
    key: &RunKey,
    exports: &[SeriesExport],
    replace: bool,
) -> Result<AttachedSeries> {
    let mut run = store.read(key).await?;
    let former = run.info.clone();
    let attached = add(&mut run, exports, replace)?;
    write((store, &former), &run, store, Replace::Any, None).await?;
    Ok(attached)
}

/// Adds series to a run, or replaces all that it has beside its CPU.
fn add(run: &mut StoredRun, exports: &[SeriesExport], replace: bool) -> Result<AttachedSeries> {
    if replace {
        remove(&mut run.info, &SourceKind::Series);
        run.series.clear();
    }
    let key = run.info.key.clone();
    let (mut seconds, mut notes) = (Vec::new(), Vec::new());
    run.info.sources.extend(files(exports));
    for SeriesExport { series, notes: reported, damage, .. } in exports {
        let name = &series.name;
        if run.series.iter().any(|other| other.name == *name) {
            let problem = format!("the run {key} has a series {name} already");
            let remedy = "Give this one another name, or replace all series of the run.";
            return Err(Error::refused(ErrorKind::SeriesTaken, problem, remedy));
        }
        let covered = series.covered(&run.info);
        if covered == 0 {
            let problem = format!("no reading of the series {name} falls within the run {key}");
            let remedy = "Check the file and the time zone of its dates.";
            return Err(Error::refused(ErrorKind::SeriesApart, problem, remedy));
        }
        seconds.push((name.clone(), covered));
        notes.extend(reported.iter().cloned());
        run.info.damage.extend(damage.iter().cloned());
        run.series.push(series.clone());
    }
    run.series.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(AttachedSeries { info: run.info.clone(), seconds, notes })
}
