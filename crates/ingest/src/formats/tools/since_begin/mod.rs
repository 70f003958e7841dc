//! CSV of tools that log each request that was answered, by the time since the tool began: they have no clock.

mod answers;
pub(crate) mod begin;
mod hey;
mod oha;

pub(super) use self::hey::FORMAT as HEY;
pub(super) use self::oha::FORMAT as OHA;
