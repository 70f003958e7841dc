//! The source and its documentation.

mod docs;
mod github;
