//! Whether the role may write, asked before a long load rather than found out at its end.

use crate::error::{Error, Result};

use super::name::{SCHEMA, quoted};
use super::session::{Session, value};

/// Where the grants are found that a role may lack.
pub(super) const GRANTS: &str = "Use a role that has the grant: the README's section \"Roles\" has those of one that ingests and of one that reads.";

const SQL: &str = "
  select current_user::text as role, current_database()::text as database, n.oid is not null as made,
    current_setting('transaction_read_only')::boolean as read_only, pg_is_in_recovery() as standby,
    case
      when n.oid is null then has_database_privilege(current_database(), 'create')
      else has_schema_privilege(n.oid, 'usage') and has_schema_privilege(n.oid, 'create')
        and (r.oid is null or has_table_privilege(r.oid, 'insert') and has_table_privilege(r.oid, 'delete'))
    end as allowed
  from (values (1)) as one
    left join pg_namespace n on n.nspname = 'perfpipe'
    left join pg_class r on r.relnamespace = n.oid and r.relname = 'runs'";

/// Refuses where nothing can be written: to a standby, a database that is only read, or without the grants.
pub(super) async fn check_write(session: &Session) -> Result<()> {
    let row = session.query_one("asking what the role may do", SQL, &[]).await?;
    let (role, database): (String, String) = (value(&row, "role")?, value(&row, "database")?);
    if value(&row, "read_only")? {
        return Err(only_read(&database, value(&row, "standby")?));
    }
    if value(&row, "allowed")? {
        return Ok(());
    }
    Err(match value(&row, "made")? {
        true => Error::refused(format!("the role {role} may not write to the schema {SCHEMA}"), GRANTS),
        false => Error::refused(
            format!("the role {role} may not make the schema {SCHEMA} in the database {database}"),
            format!(
                "Have the database's owner run: create schema {SCHEMA} authorization {}; see the README's section \
                 \"Roles\".",
                quoted(&role)
            ),
        ),
    })
}

fn only_read(database: &str, standby: bool) -> Error {
    match standby {
        true => Error::refused(
            format!("the database {database} can only be read: its server is a standby"),
            "Name the primary server, or all servers and target_session_attrs=primary.",
        ),
        false => Error::refused(
            format!("the database {database} can only be read: default_transaction_read_only is on"),
            "Use a role and a database for which it is off, or set PGOPTIONS='-c default_transaction_read_only=off'.",
        ),
    }
}
