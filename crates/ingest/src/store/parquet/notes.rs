//! What the metadata of each Parquet file says of its run, so that a file explains itself to other programs.

use crate::run::info::RunInfo;

/// The key of the unit of the file's times, in µs.
pub(super) const RESOLUTION: &str = "perfpipe.resolution_us";

/// Entries of a file's metadata: keys and values.
pub(super) type FileNotes = Vec<(&'static str, String)>;

/// Returns what the files of a run say of it. Nothing of it changes while they exist: a renamed run has new files.
pub(super) fn file_notes(run: &RunInfo) -> FileNotes {
    vec![
        ("perfpipe.framework", run.key.framework.clone()),
        ("perfpipe.test", run.key.test.clone()),
        ("perfpipe.repeat", run.key.repeat.to_string()),
        ("perfpipe.t0_ms", run.t0_ms.to_string()),
        (RESOLUTION, run.resolution.microseconds().to_string()),
    ]
}
