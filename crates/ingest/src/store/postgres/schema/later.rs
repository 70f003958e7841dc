//! Tables that a database has only once they are needed: what is first to be stored in them creates them.

use tokio_postgres::error::SqlState;

use super::engine::Engine;
use super::names::LOCK;
use crate::connection::session::{Session, value};
use crate::error::{Error, ErrorKind, Result};
use crate::store::postgres::holders;

/// Tables that are created together.
pub(crate) struct LaterTables {
    /// Their names. Each has the run in its rows.
    pub(crate) tables: &'static [&'static str],
    /// The statements that create them.
    pub(crate) made: String,
    /// What is said to a role that may not create them, and what their schema's owner can do.
    pub(crate) refusal: (&'static str, &'static str),
}

impl LaterTables {
    /// Creates the tables if they do not exist, before others of the transaction are locked.
    pub(crate) async fn ensure(&self, session: &Session, what: &str, engine: Engine) -> Result<()> {
        let Some(first) = self.tables.first() else { return Ok(()) };
        if table_exists(session, what, first).await? {
            return Ok(());
        }
        holders::wait_for_lock(session, what, LOCK, "the lock on making the schema").await?;
        if table_exists(session, what, first).await? {
            return Ok(());
        }
        let sql =
            self.made.clone() + &self.tables.iter().map(|table| engine.by_run(table)).collect::<String>();
        let Err(error) = session.client().batch_execute(&sql).await else { return Ok(()) };
        Err(match session.code(&error).as_ref() {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                let (problem, remedy) = self.refusal;
                Error::refused(ErrorKind::Privileges, problem, format!("{remedy}, or run: {sql}."))
            }
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                holders::holder_of_tables(session, what, &["runs"], true).await
            }
            _ => session.error(what, &error),
        })
    }
}

/// Returns true if a table exists. The catalogue's rows are read, since `to_regclass` goes by what the session
/// remembers: having found no table once, it would not see that another session has made it meanwhile.
pub(crate) async fn table_exists(session: &Session, what: &str, table: &str) -> Result<bool> {
    let sql = format!(
        "select exists (select from pg_catalog.pg_class c \
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
         where n.nspname = 'perfpipe' and c.relname = '{table}') as there"
    );
    value(&session.query_one(what, &sql, &[]).await?, "there")
}
