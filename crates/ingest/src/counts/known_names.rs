//! The names that a run has already told.

use std::collections::BTreeSet;

/// Names of a run that have an index of their own, whatever comes. What has no others can be counted ahead of its turn.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    /// Labels that have cells of their own.
    pub(crate) labels: BTreeSet<String>,
    /// Response codes and messages of failures, as short as they are kept.
    pub(crate) response_codes: BTreeSet<String>,
    pub(crate) messages: BTreeSet<String>,
}
