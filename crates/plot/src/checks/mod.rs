//! Tests of whole pages: layout, and colours for all kinds of colour vision.

pub(crate) mod looks;
pub(crate) mod vision;
