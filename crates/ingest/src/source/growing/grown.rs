//! What a log that is still being written has beyond a byte.

/// What a log has beyond a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grown {
    /// This number of bytes, which were read.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Nothing yet, but it goes on in another file, so that reading must not end here.
    Soon,
    /// Nothing, for ever: a pipe was closed.
    Ended,
    /// Its file was emptied, and what it held is nowhere else: the log begins again at its first byte.
    Anew,
}
