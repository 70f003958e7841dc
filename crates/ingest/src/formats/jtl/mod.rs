//! JMeter's CSV log (JTL): layout, blocks, records and columns.

pub(crate) mod blocks;
pub(crate) mod column_parser;
pub(crate) mod layout;
pub(crate) mod oddities;
pub(crate) mod parsed;
pub(crate) mod parser;
pub(crate) mod records;
pub(crate) mod rejects;
