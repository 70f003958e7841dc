//! Both kinds of store: the same figures, copies, earlier versions, damage and repair.

mod copies;
mod damaged_files;
pub(crate) mod determinism;
pub(crate) mod drop;
pub(crate) mod earlier_versions;
mod packed;
mod parity;
mod points;
mod rename;
mod series;
mod unknown_stores;
mod verify;
