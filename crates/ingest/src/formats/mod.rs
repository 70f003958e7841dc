//! From bytes of a log to samples: a folder a format, and what formats share.

pub(crate) mod clock_steps;
pub(crate) mod date;
pub(crate) mod endpoint;
pub(crate) mod injector;
pub(crate) mod jtl;
pub(crate) mod number;
pub(crate) mod time_unit;
