//! JMeter's CSV log (JTL): layout, blocks, records and columns.

pub(crate) mod blocks;
pub(crate) mod columns;
pub(crate) mod fields;
pub(crate) mod layout;
pub(crate) mod oddities;
pub(crate) mod parsed;
pub(crate) mod parser;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod refused;
mod scan;
