//! How far an ingest has come.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::stage::CommitStage;

/// How far an ingest has come; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read from the input files, as they are on disk.
    pub packed_bytes: Arc<AtomicU64>,
    /// Samples parsed.
    pub samples: AtomicU64,
    /// Whether the run is stored.
    pub commit: CommitStage,
}
