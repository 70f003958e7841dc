//! Unpacking: the compression methods, checked and within bounds.

pub(crate) mod checked;
pub(crate) mod codec;
pub(crate) mod gzip;
pub(crate) mod lzma;
pub(crate) mod metered;
pub(crate) mod salvage;
