//! Where parts are written, and where all parts of a database are told.

use std::time::Duration;

use crate::connection::config::PostgresConfig;
use crate::connection::connect;
use crate::error::Result;
use crate::pipeline::sink::RunStore;
use crate::run::key::RunKey;
use crate::run::options::part::PartNumber;
use crate::store::parts::{PartStore, StoredParts};
use crate::store::postgres::PostgresStore;
use crate::store::postgres::writer::{Claim, PostgresWriter};

use super::held::PostgresParts;
use super::rows;

impl PartStore for PostgresStore {
    type Desk = PostgresPartTarget;
    type Held = PostgresParts;

    async fn parts(&self) -> Result<Vec<StoredParts>> {
        let session = self.take().await?;
        let parts = rows::list(&session).await?;
        self.put_back(session);
        Ok(StoredParts::gather(parts))
    }

    async fn part_desk(&self, key: &RunKey, number: PartNumber) -> Result<PostgresPartTarget> {
        // Other machines load at the same time: one connection each is enough.
        let mut config = self.config.clone().with_connections(1);
        // The samples of parts are copied to one table.
        config.placement = None;
        Ok(PostgresPartTarget { config, patience: self.patience, key: key.clone(), number })
    }

    async fn hold_parts(&self, key: &RunKey) -> Result<PostgresParts> {
        PostgresParts::hold(&self.config, self.patience, key).await
    }
}

/// Where one part is written.
pub(crate) struct PostgresPartTarget {
    config: PostgresConfig,
    patience: Duration,
    key: RunKey,
    number: PartNumber,
}

impl RunStore for PostgresPartTarget {
    type Writer = PostgresWriter;

    async fn begin(&self, _: Option<&RunKey>, keep_samples: bool) -> Result<PostgresWriter> {
        let session = connect::open(&self.config).await?.with_patience(self.patience);
        let claim = Claim::Part(&self.key, self.number.number());
        PostgresWriter::begin(session, &self.config, claim, keep_samples).await
    }
}
