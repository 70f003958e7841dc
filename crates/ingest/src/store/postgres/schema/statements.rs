//! The statements that make the schema.

/// Those that create the tables of the newest layout.
pub(super) const CREATE_TABLES: &str = include_str!("sql/tables.sql");

/// The index of the rows of `seconds` that perfpipe reads, which databases of an earlier version lack.
pub(super) const CREATE_PAGES: &str = include_str!("sql/pages.sql");

/// Those that create its views, replacing those of an older layout.
pub(super) const CREATE_VIEWS: &str = include_str!("sql/views.sql");

/// Those that create the tables of parts.
pub(crate) const CREATE_PARTS: &str = include_str!("sql/parts.sql");

/// The comments on tables, views and columns.
pub(super) const SET_COMMENTS: &str = include_str!("sql/comments.sql");
