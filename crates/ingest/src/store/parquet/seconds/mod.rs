//! The exact counts by second as Parquet.

mod groups;
mod read;
mod write;

pub(super) use self::read::read_seconds;
pub(super) use self::write::write_seconds;

/// The columns of names.
const LABEL: &str = "label";
const INJECTORS: &str = "injectors";

/// The column of the counts in packed form, which perfpipe reads: about ten times as fast as the lists, which are for
/// other programs.
const PACKED: &str = "packed";

/// Converts a number of samples into the type of its column.
fn limited(samples: u64) -> i64 {
    i64::try_from(samples).unwrap_or(i64::MAX)
}
