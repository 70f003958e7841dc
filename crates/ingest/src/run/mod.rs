//! The data that describes a run: key, metadata, rejects and damage.

pub(crate) mod damage;
pub(crate) mod fault;
pub(crate) mod infer;
pub(crate) mod info;
pub(crate) mod key;
pub(crate) mod note;
pub(crate) mod options;
pub(crate) mod ports;
pub(crate) mod reject_reason;
pub(crate) mod rejects;
pub(crate) mod replace;
pub(crate) mod spool;
