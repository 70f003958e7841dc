//! Summaries in rows of CSV.

pub(crate) mod ab;
pub(crate) mod locust;
pub(crate) mod row;
pub(crate) mod siege;
