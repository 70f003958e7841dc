//! Drops the tables that a killed writer left.
//!
//! They are named by the number of the writer's transaction, which the server knows to be open or not, even after a
//! crash. No lock of a session is needed, which a pooler would not keep.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::connection::session::{Session, value};
use crate::error::Result;
use crate::store::postgres::schema::names::in_schema;
use crate::store::postgres::schema::ownership;
use crate::store::postgres::transaction::{Mode, begin, waiting};

/// The time to wait for somebody who looks at such a table.
const WAIT: Duration = Duration::from_secs(1);

/// Selects the tables of writers that are gone. A number from this transaction's on belongs to a younger writer, or to
/// the server that a dump was taken of. Numbers that the server has forgotten are old.
const FIND: &str = "
  with mine as materialized (select pg_catalog.txid_current() as number)
  select c.relname::text as name
  from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    cross join mine
  where n.nspname = 'perfpipe' and c.relkind = 'r'
    and case
      when c.relname::text !~ '^loading [0-9]{1,18} [0-9]{1,9}$' then false
      when not pg_catalog.pg_has_role(c.relowner, 'usage') then false
      when pg_catalog.split_part(c.relname::text, ' ', 2)::bigint >= mine.number then false
      else coalesce(pg_catalog.txid_status(pg_catalog.split_part(c.relname::text, ' ', 2)::bigint), 'forgotten')
        <> 'in progress'
    end
  order by 1";

/// Drops what killed writers left, outside any transaction. Tables of roles that this one is no member of remain, and
/// so do those that somebody is reading; a later call drops them.
pub(crate) async fn sweep_leftovers(session: &Session) -> Result<()> {
    let what = "looking for what a killed ingest left";
    begin(session, what, Mode::Writing).await?;
    let found = session.query(what, FIND, &[]).await?;
    let names = found.iter().map(|row| value::<String>(row, "name")).collect::<Result<Vec<_>>>()?;
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        ownership::check_ownership(session, &names, true).await?;
    }
    session.end(what).await?;
    for name in names {
        drop_table(session, &name).await?;
    }
    Ok(())
}

/// Drops a table unless it is in use or gone. A writer that committed after all has given it another name.
async fn drop_table(session: &Session, name: &str) -> Result<()> {
    let what = "dropping what a killed ingest left";
    begin(session, what, Mode::Writing).await?;
    let table = in_schema(name);
    session.run(what, &waiting(WAIT)).await?;
    let sql = format!("lock table {table} in access exclusive mode; drop table {table}");
    match session.client().batch_execute(&sql).await {
        Ok(()) => session.run(what, "commit").await,
        Err(error) => match session.code(&error).as_ref() {
            Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::UNDEFINED_TABLE) => session.end(what).await,
            _ => Err(session.error(what, &error)),
        },
    }
}
