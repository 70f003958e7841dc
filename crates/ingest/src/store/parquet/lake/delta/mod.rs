//! Tables of Delta Lake over files that perfpipe writes: what a commit says, and the tables' columns.
//!
//! A commit is a file of JSON lines, `_delta_log/VERSION.json`, that is created only if it does not exist yet. So of
//! several writers one wins, and the others look at what it did before they try the next version.

mod action;
mod columns;
mod log;
mod path;

pub(super) use self::action::{Add, now_ms, unique_id};
pub(super) use self::columns::Table;
pub(super) use self::log::{Log, Snapshot};
pub(super) use self::path::{path_of, row_of};
