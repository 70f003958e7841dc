//! The schema: its layout, the rights to use it, and checks that perfpipe created it.

pub(crate) mod engine;
pub(crate) mod layout;
pub(crate) mod migrate;
pub(crate) mod names;
pub(crate) mod rights;
