//! JMeter's CSV log (JTL): layout, blocks, records and columns.

pub mod blocks;
pub mod column_parser;
pub mod layout;
pub mod oddities;
pub mod parsed;
pub mod parser;
pub mod records;
pub mod rejects;
