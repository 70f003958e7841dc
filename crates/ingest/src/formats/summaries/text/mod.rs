//! Tools whose summaries are lines of text, one file a tool.

pub(crate) mod ab;
pub(crate) mod answers;
pub(crate) mod bombardier;
pub(crate) mod h2load;
pub(crate) mod hey;
pub(crate) mod hgrm;
pub(crate) mod oha;
pub(crate) mod vegeta;
pub(crate) mod weighttp;
pub(crate) mod wrk;
