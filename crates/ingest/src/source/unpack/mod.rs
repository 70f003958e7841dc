//! Unpacks the supported compression methods, checked and with bounded memory.

pub(crate) mod checked;
pub(crate) mod codec;
pub(crate) mod gzip;
pub(crate) mod metered;
