//! Gatling's `simulation.log`.

mod binary;
mod text;

pub(super) use self::binary::FORMAT as BINARY;
pub(super) use self::text::FORMAT as TEXT;
