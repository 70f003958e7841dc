//! Where runs are kept.

use std::path::PathBuf;

use clap::Args;

/// Where runs are kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Folder of the embedded store [default: perfpipe-data]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "database")]
    pub(crate) store: Option<PathBuf>,
    /// Postgres database in the folder's place, as postgres://user@host/name; PG* variables and .pgpass fill in
    /// what it leaves out
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
}
