//! Tells errors that mean damaged data from errors that prevented reading it.

use crate::error::{Error, ErrorKind, Result};

/// Returns the message of an error that means damage to what is stored.
///
/// # Errors
/// The error itself, if it means anything else.
pub(crate) fn damage_message(error: Error) -> Result<String> {
    match error {
        // It stands where a file of the store should be.
        error if [ErrorKind::LinkInStore, ErrorKind::OtherInStore].contains(&error.kind()) => {
            Ok(error.to_string())
        }
        Error::Store { ref source, .. } if source.downcast_ref::<std::io::Error>().is_none_or(is_damage) => {
            Ok(error.to_string())
        }
        Error::Io { ref source, .. } if is_damage(source) => Ok(error.to_string()),
        error => Err(error),
    }
}

/// Returns true if a read failed because the file is missing, invalid or too short.
fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}
