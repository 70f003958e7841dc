//! Which errors say that what is stored is damaged, and which that it could not be looked at.

use crate::error::{Error, Result};

/// What an error says of what is stored.
///
/// # Errors
/// When it says nothing of it.
pub(crate) fn fault(error: Error) -> Result<String> {
    match error {
        Error::Store { ref source, .. } if source.downcast_ref::<std::io::Error>().is_none_or(is_damage) => {
            Ok(error.to_string())
        }
        Error::Io { ref source, .. } if is_damage(source) => Ok(error.to_string()),
        error => Err(error),
    }
}

/// Whether a file that could not be read is to blame for it itself.
fn is_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}
