//! Tools whose summaries are one JSON value, one file a tool.

pub(crate) mod artillery;
pub(crate) mod autocannon;
pub(crate) mod bombardier;
pub(crate) mod k6;
pub(crate) mod locust;
pub(crate) mod oha;
pub(crate) mod siege;
pub(crate) mod value;
pub(crate) mod vegeta;
