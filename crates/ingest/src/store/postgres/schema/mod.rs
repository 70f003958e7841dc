//! The schema: how it is laid out, who may use it, and whether it is perfpipe's own.

pub(crate) mod columns;
pub(crate) mod layout;
pub(crate) mod migrate;
pub(crate) mod names;
pub(crate) mod ownership;
pub(crate) mod privileges;
pub(crate) mod version;
