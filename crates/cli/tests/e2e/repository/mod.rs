//! The source and its documentation.

mod docs;
