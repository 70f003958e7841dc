//! The commands, a file each.

pub(crate) mod attach_cpu;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod copy;
pub(crate) mod diagnose;
pub(crate) mod export;
pub(crate) mod ingest;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod verify;
