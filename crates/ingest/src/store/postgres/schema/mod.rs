//! The schema: its layout, the rights to use it, and checks that perfpipe created it.

pub(crate) mod columns;
pub(crate) mod engine;
pub(crate) mod later;
pub(crate) mod layout;
pub(crate) mod migrate;
pub(crate) mod names;
pub(crate) mod ownership;
pub(crate) mod privileges;
pub(crate) mod statements;
pub(crate) mod version;
