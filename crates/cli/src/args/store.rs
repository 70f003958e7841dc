//! Flags that name the store.

use std::path::PathBuf;

use clap::Args;

/// Where runs are kept.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Folder of the embedded store, or of a bucket: s3://bucket/folder, gs://bucket/folder or az://container/folder,
    /// with keys from AWS_*, GOOGLE_* or AZURE_* variables [default: PERFPIPE_STORE, if set, else perfpipe-data]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "database")]
    pub(crate) store: Option<PathBuf>,
    /// Use a Postgres database instead: postgres://user@host/name; PG* variables and .pgpass supply what the URL
    /// omits [default: PERFPIPE_DATABASE_URL, if set]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) database: Option<String>,
}

/// Hides the flags of the store, which are global, from the help of a command that opens none.
#[derive(Debug, Args)]
pub(crate) struct NoStoreArgs {
    #[arg(long, hide = true, id = "store")]
    store: Option<PathBuf>,
    #[arg(long, hide = true, id = "database")]
    database: Option<String>,
}

impl NoStoreArgs {
    /// Returns the flag that was given nevertheless, before or after the command.
    pub(crate) fn given(&self, global: &StoreArgs) -> Option<&'static str> {
        let store = self.store.is_some() || global.store.is_some();
        let database = self.database.is_some() || global.database.is_some();
        if store { Some("--store") } else { database.then_some("--database") }
    }
}

/// The store of the run that others are compared with.
#[derive(Debug, Args)]
pub(crate) struct BaselineStoreArgs {
    /// Folder of the embedded store that holds the baseline [default: the store of the other runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) baseline_store: Option<PathBuf>,
}
