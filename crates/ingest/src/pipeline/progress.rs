//! The progress of an ingest.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::stage::CommitStage;

/// The progress of an ingest, shared with whoever displays it.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of bytes read from the input files, packed as they are on disk.
    pub packed_bytes: Arc<AtomicU64>,
    /// The number of samples parsed.
    pub samples: AtomicU64,
    /// How far the commit has come.
    pub commit: CommitStage,
}
