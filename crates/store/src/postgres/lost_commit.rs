//! Finds out whether a run was stored if the answer to its COMMIT was lost, by asking the server on a new connection.

use std::time::Duration;

use super::schema::layout;
use super::transaction::{self, TransactionMode, begin};
use super::{locks, runs};
use crate::connection::config::PostgresConfig;
use crate::connection::connect;
use crate::sink::{CommitStage, Stage};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;

/// The time for asking the server if `connect_timeout` is not set. A restart takes some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// The run or part that was being stored.
#[derive(Clone, Copy)]
pub(super) struct UncertainCommit<'a> {
    pub(super) info: &'a RunInfo,
    /// A number that no other run or part has had.
    pub(super) number: i64,
    /// The number of the part, if it is no whole run.
    pub(super) part: Option<u32>,
}

/// Finds out whether a run or part was stored after its commit failed with `lost`. Returns an error if it was not.
/// Sets the stage to the answer.
pub(super) async fn resolve(
    config: &PostgresConfig,
    asked: UncertainCommit<'_>,
    stage: &CommitStage,
    lost: Error,
) -> Result<()> {
    let info = asked.info;
    let mut why = "it did not answer".to_owned();
    let asking = async {
        loop {
            match ask(config, asked).await {
                Ok(stored) => return stored,
                Err(error) => why = error.to_string(),
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let answer = tokio::time::timeout(config.timeout.unwrap_or(PATIENCE), asking).await;
    if let Ok(stored) = answer {
        stage.set(if stored { Stage::Stored } else { Stage::Before });
    }
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::refused(
            ErrorKind::CommitLost,
            format!("{lost}; the server was asked again, and does not have the run"),
            lost.remedy().unwrap_or_else(|| "Try again.".to_owned()),
        )),
        Err(_) => Err(Error::refused(
            ErrorKind::CommitUnknown,
            format!(
                "{lost}; it is not known whether the run is stored, since the server can't be asked: \
                     {why}"
            ),
            format!(
                "See which runs are stored once the server answers: the run {} is stored if it was ingested at \
                 {}; otherwise ingest it again.",
                info.key, info.ingested_at
            ),
        )),
    }
}

/// Returns true if the run or part is stored, once its transaction has ended.
async fn ask(
    config: &PostgresConfig,
    UncertainCommit { info, number, part }: UncertainCommit<'_>,
) -> Result<bool> {
    let what = "asking whether the run is stored";
    let session = connect::open(config).await?;
    // The writer's transaction holds the lock on its key until it ends.
    begin(&session, what, TransactionMode::Reading).await?;
    let key = &info.key;
    let lock = part.map_or_else(|| locks::lock_of(key), |part| locks::lock_of_part(key, part));
    transaction::wait_for_lock(&session, what, &lock, "the lock on the run").await?;
    let found = match part {
        Some(part) => super::parts::generation(&session, what, key, part).await?,
        None => runs::find(&session, layout::read(&session).await?, key).await?.map(|run| run.number),
    };
    Ok(found == Some(number))
}
