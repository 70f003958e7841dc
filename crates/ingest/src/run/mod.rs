//! What a run is: plain data, without input or output.

pub(crate) mod damage;
pub(crate) mod fault;
pub(crate) mod infer;
pub(crate) mod info;
pub(crate) mod key;
pub(crate) mod ports;
pub(crate) mod reject_reason;
pub(crate) mod rejects;
pub(crate) mod replace;
pub(crate) mod spool;
