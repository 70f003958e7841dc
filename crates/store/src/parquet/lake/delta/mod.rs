//! Tables of Delta Lake over files that perfpipe writes: what a commit says, and the tables' columns.
//!
//! A commit is a file of JSON lines, `_delta_log/VERSION.json`, that is created only if it does not exist yet. So of
//! several writers one wins, and the others look at what it did before they try the next version. After some commits, a
//! writer leaves a checkpoint, from which readers begin.

mod action;
mod checkpoint;
mod columns;
mod log;

pub(super) use self::action::{AddFile, KEPT, TableSnapshot, now_ms, path_of, row_of, unique_id};
pub(super) use self::columns::LakeTable;
pub(super) use self::log::TableLog;
