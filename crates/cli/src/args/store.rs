//! Flags that name the store.

use std::path::PathBuf;

use clap::Args;
use perfpipe_ingest::store::postgres::Placement;

use super::values::{Choice, choice};

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

/// How the samples of a run are sent to a database, and lie there.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Parts, clusters and speed")]
pub(crate) struct SendArgs {
    /// Maximum number of connections on which samples are sent to a database [default: 1]; with more, a large run is stored
    /// sooner, in as many tables, which SQL reads as one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) connections: Option<u16>,
    /// What a Citus cluster keeps on one node [default: as in the run that is replaced, otherwise the run]
    #[arg(long, value_name = "WHAT", value_parser = choice(Distributed::ALL), conflicts_with = "no_samples")]
    pub(crate) distribute: Option<Distributed>,
    /// Store samples in columns on a Citus cluster, in less space; its database needs the extension citus_columnar
    #[arg(long, conflicts_with = "no_samples")]
    pub(crate) columnar: bool,
}

impl SendArgs {
    /// Returns the place on a cluster, if one was given, and the flag.
    pub(crate) fn placement(&self) -> Option<(Placement, &'static str)> {
        let mut placement = Placement::default();
        placement.by_second = self.distribute == Some(Distributed::Second);
        placement.columnar = self.columnar;
        match (self.distribute, self.columnar) {
            (Some(_), _) => Some((placement, "--distribute")),
            (None, true) => Some((placement, "--columnar")),
            (None, false) => None,
        }
    }
}

/// What goes to one node of a cluster together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distributed {
    Run,
    Second,
}

impl Distributed {
    const ALL: &[Self] = &[Self::Run, Self::Second];
}

impl Choice for Distributed {
    fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Second => "second",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Run => "All samples of the run",
            Self::Second => "The samples of a second, for a run that is too large for one node",
        }
    }
}

/// Hides the flags of the store, which are global, from the help of a command that opens none.
#[derive(Debug, Args, Clone)]
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
