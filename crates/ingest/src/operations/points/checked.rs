//! Verifies and repairs the points of a store.

use futures_util::future::BoxFuture;

use super::super::store::{Kind, Store};
use crate::error::Result;
use crate::store::Repairer;
use crate::store::consistency::damage_message;

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
                Kind::Parquet(_) => Ok(Vec::new()),
                #[cfg(feature = "postgres")]
                Kind::Postgres(store, _) => {
                    let told = |key| format!("the columns of the point {key} are not those of its JSON");
                    Ok(store.unlike_points().await?.into_iter().map(told).collect())
                }
            }
        })
    }
}

impl Repairer<'_> {
    /// Sets a damaged file of points aside; in a database, damaged points are left as they are. Blocks while it moves
    /// a file.
    ///
    /// # Errors
    /// If the store can't be read or written.
    pub fn points<'a>(&'a mut self, store: &'a Store) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let faults = store.verify_points().await?;
            if faults.is_empty() {
                return Ok(());
            }
            let faults = faults.join("; ");
            match &store.0 {
                #[cfg(feature = "parquet")]
                Kind::Parquet(store) => store.set_points_aside(&faults, self),
                #[cfg(feature = "postgres")]
                Kind::Postgres(..) => {
                    self.leave(format!("{faults} (ingest the summaries again)"));
                    Ok(())
                }
            }
        })
    }
}
