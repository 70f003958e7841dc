//! Points in a store: written, read and removed.

mod checked;
pub(crate) mod readings;

use std::collections::BTreeSet;

use futures_util::future::BoxFuture;

#[cfg(feature = "parquet")]
use super::store::blocking;
use super::store::{Kind, Store};
use crate::error::Result;
use crate::formats::summaries::point::{Point, PointKey};

impl Store {
    /// Stores points, all or none of them. Each replaces an earlier one of its key. Blocks while it writes to a folder.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn put_points<'a>(&'a self, points: &'a [Point]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &self.0 {
                #[cfg(feature = "parquet")]
                Kind::Parquet(store) => store.put_points(points),
                #[cfg(feature = "postgres")]
                Kind::Postgres(store, _) => store.put_points(points).await,
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
                Kind::Parquet(store) => blocking(store, |store| store.points()).await?,
                #[cfg(feature = "postgres")]
                Kind::Postgres(store, _) => store.points().await?,
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
                Kind::Parquet(store) => store.drop_points(keys),
                #[cfg(feature = "postgres")]
                Kind::Postgres(store, _) => store.drop_points(keys).await,
            }
        })
    }
}
