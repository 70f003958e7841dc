//! What errors say once a commit was sent: that the change was made, that it was not, or that nobody knows.

use crate::error::{Error, ErrorKind};

/// The error for an object of which it is not known whether it was written.
pub(in crate::store::parquet::lake) fn unknown(error: &Error) -> Error {
    Error::refused(ErrorKind::CommitUnknown, error.to_string(), remedy(error))
}

/// The error for what failed after a change was made, which is told as in "the run a_t is stored".
pub(in crate::store::parquet::lake) fn made(change: &str, error: &Error) -> Error {
    Error::refused(
        ErrorKind::ChangeMade,
        format!("{change}, but the other tables or files could not be brought in line with it: {error}"),
        format!("{} Then repair the store. The command need not be run again.", remedy(error)),
    )
}

/// The error for a change of which it is not known whether it was made, which is told as in "the run a_t may be stored".
pub(in crate::store::parquet::lake) fn perhaps_made(change: &str, error: &Error) -> Error {
    Error::refused(
        ErrorKind::CommitUnknown,
        format!("{change}, since the answer to its commit was lost, and the bucket can't be asked: {error}"),
        format!(
            "{} Then look at what is stored, and run the command again only if it is needed.",
            remedy(error)
        ),
    )
}

/// The error for a change that was not made.
pub(in crate::store::parquet::lake) fn not_made(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CommitUnknown => {
            Error::refused(ErrorKind::BucketFailed, error.to_string(), remedy(&error))
        }
        _ => error,
    }
}

fn remedy(error: &Error) -> String {
    error.remedy().unwrap_or_else(|| "Find out what is wrong with the bucket.".to_owned())
}
