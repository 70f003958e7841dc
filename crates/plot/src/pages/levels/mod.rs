//! The pages of a sweep of load tools' points: all frameworks together, and each for itself.

mod bars;
mod failures;
mod latency;
mod outcomes;
pub(crate) mod overview;
mod places;
mod series;
mod server;
pub(crate) mod single;
mod texts;
mod throughput;
