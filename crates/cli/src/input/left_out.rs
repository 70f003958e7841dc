//! Runs that can't be read: each is reported and skipped, and the command fails at its end.

use anyhow::Result;
use perfpipe_ingest::store::Listing;
use perfpipe_ingest::{Error, RunInfo, RunKey, Store};

use crate::error::CliError;
use crate::error::print_error;

/// The runs that were left out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    number: usize,
    is_unsaid: bool,
}

impl LeftOut {
    /// Counts runs and reports none, while a screen is in use.
    pub(crate) fn unsaid() -> Self {
        Self { number: 0, is_unsaid: true }
    }

    /// Returns the runs of a store that can be read, and reports the others.
    pub(crate) async fn runs(&mut self, store: &Store) -> Result<Vec<RunInfo>> {
        Ok(self.look(store).await?.runs)
    }

    /// Returns the runs of a test that can be read, and reports the others. Returns all runs of the store if no test is
    /// given, or if it has none.
    pub(crate) async fn of_test(&mut self, store: &Store, test: Option<&str>) -> Result<Vec<RunInfo>> {
        Ok(self.look_at(store, test).await?.runs)
    }

    /// Looks at the runs of a test as [`of_test`](Self::of_test) does.
    pub(crate) async fn look_at(&mut self, store: &Store, test: Option<&str>) -> Result<Listing> {
        if let Some(test) = test {
            let found = store.look_at_test(test).await?;
            if !found.runs.is_empty() {
                found.unread.iter().for_each(|error| self.add(error));
                return Ok(found);
            }
        }
        self.look(store).await
    }

    /// Looks at the runs of a store, and reports those that can't be read.
    pub(crate) async fn look(&mut self, store: &Store) -> Result<Listing> {
        let found = store.look().await?;
        found.unread.iter().for_each(|error| self.add(error));
        Ok(found)
    }

    /// Reports a run as left out.
    pub(crate) fn add(&mut self, error: &(dyn std::error::Error + 'static)) {
        self.number += 1;
        if !self.is_unsaid {
            print_error("left out", error);
        }
    }

    /// Returns what was read of a run. If the run is damaged, reports it and returns `None`.
    pub(crate) fn or_leave_out<T>(&mut self, key: &RunKey, read: Result<T>) -> Result<Option<T>> {
        match read {
            Err(error) if is_damage(&error) => {
                self.number += 1;
                if !self.is_unsaid {
                    name(key, error.as_ref());
                }
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Returns true if any run was left out.
    pub(crate) fn any(&self) -> bool {
        self.number > 0
    }

    /// Fails if any run was left out.
    pub(crate) fn end(self) -> Result<()> {
        let problem = match self.number {
            0 => return Ok(()),
            1 => "a run or file can't be read and was left out, as said above; everything else was done"
                .to_owned(),
            count => format!(
                "{count} runs can't be read and were left out, as said above; everything else was done"
            ),
        };
        Err(CliError::refused(
            problem,
            "See `perfpipe verify`, which says what is wrong with each, and `perfpipe repair`.",
        )
        .into())
    }
}

/// Reports a run that is left out, with the reason. The run is named only once if the error names it.
pub(crate) fn name(key: &RunKey, error: &(dyn std::error::Error + 'static)) {
    let is_named = error.to_string().contains(&key.to_string());
    print_error(&if is_named { "left out".to_owned() } else { format!("left out: {key}") }, error);
}

/// Returns true if an error says that a stored run can't be read.
fn is_damage(error: &anyhow::Error) -> bool {
    let stored = |cause: &Error| matches!(cause, Error::Store { .. } | Error::Io { .. });
    error.chain().any(|cause| cause.downcast_ref::<Error>().is_some_and(stored))
}
