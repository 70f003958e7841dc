//! Parsers of log formats, one folder for each format, and what they share.

pub(crate) mod clock_steps;
pub(crate) mod date;
pub(crate) mod endpoint;
pub(crate) mod histogram;
pub(crate) mod injector;
pub(crate) mod jtl;
pub(crate) mod number;
pub(crate) mod steps;
pub(crate) mod summaries;
pub(crate) mod time_format;
pub(crate) mod tools;
#[cfg(test)]
pub(crate) mod worst_shapes;
