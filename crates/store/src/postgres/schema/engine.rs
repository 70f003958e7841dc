//! The kind of server: PostgreSQL, or the coordinator of a Citus cluster, whose nodes hold the tables. Engines that only
//! look like PostgreSQL are refused.

use tokio_postgres::Row;

use crate::connection::config::Placement;
use crate::connection::session::{Session, value};
use crate::postgres::transaction::{TransactionMode, begin};
use perfpipe_model::error::{Error, ErrorKind, Result};

use super::names::{in_schema, literal};

/// The columns of a query that [`ServerEngine::of`] reads.
pub(super) const COLUMNS: &str = "pg_catalog.version() as engine, \
     exists (select from pg_catalog.pg_extension where extname = 'citus') as citus";

/// Engines that answer as PostgreSQL does without keeping its promises (locks, snapshots, transactions over tables), and
/// what their versions contain.
const OTHERS: [(&str, &str); 10] = [
    ("CockroachDB", "CockroachDB"),
    ("-YB-", "YugabyteDB"),
    ("Redshift", "Amazon Redshift"),
    ("Greenplum", "Greenplum"),
    ("Materialize", "Materialize"),
    ("RisingWave", "RisingWave"),
    ("CrateDB", "CrateDB"),
    ("QuestDB", "QuestDB"),
    ("openGauss", "openGauss"),
    ("Spanner", "Spanner"),
];

/// The nodes that can't be reached, and from where.
const UNWELL: &str = "
  select pg_catalog.format('%s:%s', to_nodename, to_nodeport) as node,
    pg_catalog.format('%s:%s', from_nodename, from_nodeport) as asked
  from pg_catalog.citus_check_cluster_node_health() where result is not true order by 1, 2 limit 1";

/// The time limits of a role or a database, which must not end a long load on a node.
const NO_LIMITS: [&str; 2] =
    ["set local statement_timeout = 0", "set local idle_in_transaction_session_timeout = 0"];

/// The statements that distribute the tables that all runs share.
const DISTRIBUTED: &str = include_str!("sql/citus.sql");

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEngine {
    /// A server of PostgreSQL.
    Postgres,
    /// The coordinator of a Citus cluster.
    Citus,
}

impl ServerEngine {
    /// Reads it from a row with [`COLUMNS`].
    pub(super) fn of(row: &Row) -> Result<Self> {
        if let Some(other) = other(value(row, "engine")?) {
            return Err(refusal(other));
        }
        Ok(if value(row, "citus")? { Self::Citus } else { Self::Postgres })
    }

    /// Looks whether every node of a cluster can be reached, before a load that would only find out at its end.
    pub(crate) async fn check_nodes(self, session: &Session) -> Result<()> {
        if self == Self::Postgres {
            return Ok(());
        }
        let what = "asking for the nodes of the cluster";
        // It belongs to a load, which limits for people must not end, and every node asks every other.
        begin(session, what, TransactionMode::Writing).await?;
        let unwell = session.query(what, UNWELL, &[]).await?.into_iter().next();
        session.end(what).await?;
        let Some(row) = unwell else { return Ok(()) };
        let (node, asked): (String, String) = (value(&row, "node")?, value(&row, "asked")?);
        Err(Error::refused(
            ErrorKind::Unreachable,
            format!("the node {node} of the Citus cluster can't be reached from {asked}"),
            "Start it, or take it out of the cluster (citus_remove_node); see citus_check_cluster_node_health().",
        ))
    }

    /// Disables the time limits for queries on the nodes in the present transaction.
    pub(crate) async fn without_limits_on_nodes(self, session: &Session, what: &str) -> Result<()> {
        for setting in NO_LIMITS.iter().filter(|_| self == Self::Citus) {
            session.run(what, setting).await?;
        }
        Ok(())
    }

    /// Makes the present transaction use one connection to each node, so that it can drop a table that it has read.
    pub(crate) async fn one_by_one(self, session: &Session, what: &str) -> Result<()> {
        match self {
            Self::Postgres => Ok(()),
            Self::Citus => session.run(what, "set local citus.multi_shard_modify_mode = 'sequential'").await,
        }
    }

    /// Asks the server, within a transaction.
    pub(crate) async fn ask(session: &Session, what: &str) -> Result<Self> {
        Self::of(&session.query_one(what, &format!("select {COLUMNS}"), &[]).await?)
    }

    /// Returns the statements that distribute the tables of the layout, which have just been made.
    pub(super) fn distribution(self) -> &'static str {
        match self {
            Self::Postgres => "",
            Self::Citus => DISTRIBUTED,
        }
    }

    /// Returns the statement that distributes a new table by the run of its rows, as the table `runs` is.
    pub(crate) fn by_run(self, table: &str) -> String {
        self.distribute(table, "'run', colocate_with => 'perfpipe.runs'")
    }

    /// Returns the statement that puts a new table of samples on the nodes.
    pub(crate) fn place(self, table: &str, placement: Placement) -> String {
        match placement.by_second {
            true => self.distribute(table, "'second', colocate_with => 'none'"),
            false => self.on_one_node(table),
        }
    }

    /// Returns the statement that puts a new table on one of the nodes.
    pub(crate) fn on_one_node(self, table: &str) -> String {
        self.distribute(table, "null, colocate_with => 'none'")
    }

    /// Returns the statement that removes the rows from the coordinator's disk that a distributed table had before.
    pub(super) fn without_former_rows(self, table: &str) -> String {
        match self {
            Self::Postgres => String::new(),
            Self::Citus => {
                let table = literal(&in_schema(table));
                format!("; select pg_catalog.truncate_local_data_after_distributing_table({table})")
            }
        }
    }

    fn distribute(self, table: &str, how: &str) -> String {
        match self {
            Self::Postgres => String::new(),
            Self::Citus => {
                let table = literal(&in_schema(table));
                format!("; select pg_catalog.create_distributed_table({table}, {how})")
            }
        }
    }
}

/// Returns the name of an engine that only looks like PostgreSQL, by what it says as its version.
fn other(version: &str) -> Option<&'static str> {
    OTHERS.into_iter().find(|(mark, _)| version.contains(mark)).map(|(_, name)| name)
}

fn refusal(name: &str) -> Error {
    Error::refused(
        ErrorKind::OtherEngine,
        format!("the server is {name}, which only looks like PostgreSQL: it does not keep a run whole"),
        "Use a server of PostgreSQL or a Citus cluster, or name no database to store runs in a folder.",
    )
}

/// Returns the error for a transaction that could not even begin: the engine's name, if it is another one.
pub(super) async fn or_other(session: &Session, error: Error) -> Error {
    let version =
        session.query_one("asking for the version", "select pg_catalog.version() as engine", &[]).await;
    let version = version.and_then(|row| value::<String>(&row, "engine"));
    version.ok().and_then(|version| other(&version)).map_or(error, refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_that_only_look_like_postgres_are_known_by_their_versions() {
        for (version, name) in [
            ("CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)", "CockroachDB"),
            ("PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang", "YugabyteDB"),
            ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.48805", "Amazon Redshift"),
            ("PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.99.0)", "Materialize"),
            ("PostgreSQL 12.12 (Greenplum Database 7.0.0 build dev)", "Greenplum"),
        ] {
            assert_eq!(other(version), Some(name));
        }
        for version in [
            "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc",
            "PostgreSQL 16.1 on aarch64-unknown-linux-gnu, compiled by aarch64-unknown-linux-gnu-gcc",
        ] {
            assert_eq!(other(version), None);
        }
    }
}
