//! Points in a store: written, read, removed, verified, repaired and given readings of the server.

use std::collections::BTreeSet;

use futures_util::future::BoxFuture;

#[cfg(feature = "parquet")]
use super::store::blocking;
use super::store::{Store, StoreKind};
use crate::source::SourceOptions;
use crate::source::cpu_export::series::{self, SeriesExport};
use perfpipe_model::error::Result;
use perfpipe_model::points::{Point, PointKey, Readings};
use perfpipe_model::series::server::SeriesFile;
use perfpipe_store::Repairer;
use perfpipe_store::consistency::damage_message;

impl Store {
    /// Stores points, all or none of them. Each replaces an earlier one of its key. Blocks while it writes to a folder.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn put_points<'a>(&'a self, points: &'a [Point]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => store.put_points(points),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.put_points(points).await,
            }
        })
    }

    /// Returns the stored points, sorted by key.
    ///
    /// # Errors
    /// If the store can't be read.
    pub fn points(&self) -> BoxFuture<'_, Result<Vec<Point>>> {
        Box::pin(async move {
            let mut points = match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => blocking(store, |store| store.points()).await?,
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.points().await?,
            };
            points.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(points)
        })
    }

    /// Removes points, all or none of them; returns how many there were. Blocks while it writes to a folder.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn drop_points<'a>(&'a self, keys: &'a BTreeSet<PointKey>) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => store.drop_points(keys),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => store.drop_points(keys).await,
            }
        })
    }
}

impl Store {
    /// Reads all points of the store and returns their faults; none if they are intact.
    ///
    /// # Errors
    /// If they can't be read for a reason other than damage: missing rights, or a failing disk or server.
    pub fn verify_points(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        Box::pin(async move {
            if let Err(error) = self.points().await {
                return damage_message(error).map(|fault| vec![fault]);
            }
            match &self.0 {
                // The file has a checksum.
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(_) => Ok(Vec::new()),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(store, _) => {
                    let fault = |key| format!("the columns of the point {key} are not those of its JSON");
                    Ok(store.unlike_points().await?.into_iter().map(fault).collect())
                }
            }
        })
    }
}

impl Store {
    /// Moves a damaged file of points out of the way; in a database, damaged points are left as they are. Blocks while it moves
    /// a file.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn repair_points<'a>(&'a self, repairer: &'a mut Repairer<'_>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let faults = self.verify_points().await?;
            if faults.is_empty() {
                return Ok(());
            }
            let faults = faults.join("; ");
            match &self.0 {
                #[cfg(feature = "parquet")]
                StoreKind::Parquet(store) => store.set_points_aside(&faults, repairer),
                #[cfg(feature = "postgres")]
                StoreKind::Postgres(..) => {
                    repairer.leave(format!("{faults} (ingest the summaries again)"));
                    Ok(())
                }
            }
        })
    }
}

/// Reads series of the server, and adds to each point what was read while its tool ran. Returns the number of points that
/// have readings: the others' outputs do not have the time at which the tool began, or there were no readings then.
///
/// # Errors
/// If a file can't be read, or the names of the series can't be used.
pub async fn add_readings(points: &mut [Point], files: &[SeriesFile]) -> Result<usize> {
    for SeriesExport { series, .. } in series::read(files, &SourceOptions::default()).await? {
        for point in &mut *points {
            let Some(seconds) = point.figures.seconds() else { continue };
            let readings = series.readings.readings().iter();
            let during = readings.filter(|(clock, _)| seconds.contains(clock)).map(|(_, value)| *value);
            point.figures.readings.extend(Readings::of(
                &series.name,
                &series.unit,
                &during.collect::<Vec<_>>(),
            ));
        }
    }
    Ok(points.iter().filter(|point| !point.figures.readings.is_empty()).count())
}
