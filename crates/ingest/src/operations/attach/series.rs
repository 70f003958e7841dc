//! Adds series of the server to a stored run.

use futures_util::future::BoxFuture;

use super::remove;
use crate::counts::stored_run::StoredRun;
use crate::error::{Error, ErrorKind, Result};
use crate::operations::copy::{ATTEMPTS, write};
use crate::operations::store::Store;
use crate::run::info::{RunInfo, SourceKind};
use crate::run::key::RunKey;
use crate::run::note::Note;
use crate::run::replace::Replace;
use crate::series::server;
use crate::source::SeriesExport;
use crate::source::cpu_export::series::files;

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
                match attach_once(self, key, exports, replace).await {
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

async fn attach_once(
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
    for SeriesExport { series, notes: told, damage, .. } in exports {
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
        notes.extend(told.iter().cloned());
        run.info.damage.extend(damage.iter().cloned());
        run.series.push(series.clone());
    }
    run.series.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(AttachedSeries { info: run.info.clone(), seconds, notes })
}
