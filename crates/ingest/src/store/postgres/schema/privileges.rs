//! Checks before a long load that the role may write.

use crate::connection::session::GRANTS;
use crate::error::{Error, ErrorKind, Result};

use super::engine::{self, Engine};
use super::names::{SCHEMA, quoted};
use crate::connection::session::{Session, value};
use crate::store::postgres::transaction::{Mode, begin};

/// Asks for the role's rights; `{engine}` stands for what is asked about the server beside them.
const PRIVILEGES: &str = "
  select {engine}, current_user::text as role, current_database()::text as database, n.oid is not null as made,
    pg_catalog.current_setting('default_transaction_read_only')::boolean or pg_catalog.pg_is_in_recovery() as read_only,
    pg_catalog.pg_is_in_recovery() as standby,
    case
      when n.oid is null then pg_catalog.has_database_privilege(current_database(), 'create')
      else pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_schema_privilege(n.oid, 'create')
        and (r.oid is null
          or pg_catalog.has_table_privilege(r.oid, 'insert') and pg_catalog.has_table_privilege(r.oid, 'delete'))
    end as allowed
  from (values (1)) as one
    left join pg_catalog.pg_namespace n on n.nspname = 'perfpipe'
    left join pg_catalog.pg_class r on r.relnamespace = n.oid and r.relname = 'runs'";

/// Fails if the role can't write: to a standby, to a read-only database, or without the grants. Returns the kind of
/// server.
pub(crate) async fn check_write(session: &Session) -> Result<Engine> {
    let what = "asking what the role may do";
    if let Err(error) = begin(session, what, Mode::Reading).await {
        return Err(engine::or_other(session, error).await);
    }
    let row = session.query_one(what, &PRIVILEGES.replace("{engine}", engine::COLUMNS), &[]).await?;
    session.end(what).await?;
    let (role, database): (String, String) = (value(&row, "role")?, value(&row, "database")?);
    if value(&row, "read_only")? {
        return Err(only_read(&database, value(&row, "standby")?));
    }
    if value(&row, "allowed")? {
        return Engine::of(&row);
    }
    Err(match value(&row, "made")? {
        true => Error::refused(
            ErrorKind::Privileges,
            format!("the role {role} may not write to the schema {SCHEMA}"),
            GRANTS,
        ),
        false => Error::refused(
            ErrorKind::Privileges,
            format!("the role {role} may not make the schema {SCHEMA} in the database {database}"),
            format!(
                "Have the database's owner run: create schema {SCHEMA} authorization {}; see \
                 docs/reference/roles.md.",
                quoted(&role)
            ),
        ),
    })
}

fn only_read(database: &str, standby: bool) -> Error {
    match standby {
        true => Error::refused(
            ErrorKind::ReadOnly,
            format!("the database {database} can only be read: its server is a standby"),
            "Name the primary server, or all servers and target_session_attrs=primary.",
        ),
        false => Error::refused(
            ErrorKind::ReadOnly,
            format!("the database {database} can only be read: default_transaction_read_only is on"),
            "Use a role and a database for which it is off, or set PGOPTIONS='-c default_transaction_read_only=off'.",
        ),
    }
}
