//! The statements that make the schema.

/// Those that create the tables of the newest layout.
pub(super) const MADE: &str = include_str!("sql/tables.sql");

/// Those that create its views, replacing those of an older layout.
pub(super) const VIEWS: &str = include_str!("sql/views.sql");

/// The comments on tables, views and columns.
pub(super) const COMMENTS: &str = include_str!("sql/comments.sql");
