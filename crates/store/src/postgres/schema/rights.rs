//! Checks that perfpipe created the tables, and before a long load that the role may write. Anyone who may create a schema
//! could have created this one, with code in it that runs with the rights of its users.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::engine::{self, ServerEngine};
use super::names::{SCHEMA, in_schema, quoted};
use crate::connection::session::{GRANTS, Session, value};
use crate::postgres::transaction::{TransactionMode, begin};
use perfpipe_model::error::{Error, ErrorKind, Result};

const FOREIGN_OBJECTS: &str = include_str!("sql/guard.sql");

/// The problem and the remedy of a finding. They may contain `{name}` for the table, `{table}` for the table in SQL,
/// and `{detail}` for what was found.
type Words = (&'static str, &'static str);

/// Refuses tables that would run code of others, or show other rows than are stored. With `write`, the checks for
/// writing are made too.
pub(crate) async fn check_ownership(session: &Session, tables: &[&str], write: bool) -> Result<()> {
    let what = "looking at the schema perfpipe";
    let tables: Vec<String> = tables.iter().map(|name| (*name).to_owned()).collect();
    let values = [(&tables as _, Type::TEXT_ARRAY), (&write as _, Type::BOOL)];
    match session.query(what, FOREIGN_OBJECTS, &values).await?.first() {
        Some(found) => Err(foreign_object(found)?),
        None => Ok(()),
    }
}

fn foreign_object(found: &Row) -> Result<Error> {
    let (name, detail): (String, String) = (value(found, "name")?, value(found, "detail")?);
    let (problem, remedy) = object_words(value(found, "kind")?);
    let filled = |text: &str| {
        text.replace("{name}", &name).replace("{table}", &in_schema(&name)).replace("{detail}", &detail)
    };
    Ok(Error::refused(ErrorKind::SchemaForeign, filled(problem), filled(remedy)))
}

/// Returns the message for each kind of finding.
fn object_words(kind: &str) -> Words {
    const DROP: &str = "If nobody needs it, drop it, and find out who created it; or use another database.";
    match kind {
        "schema" => (
            "the schema perfpipe belongs to the role {detail}, whose code could run with your rights",
            "Use that role or a member of it (PGOPTIONS='-c role={detail}' sets it; see \
             docs/reference/roles.md), have a schema of your own made, or use another database.",
        ),
        "owner" => (
            "perfpipe.{name} belongs to the role {detail}, whose code could run with your rights",
            "Use that role or a member of it (PGOPTIONS='-c role={detail}' sets it; see \
             docs/reference/roles.md), or use another database.",
        ),
        "kind" => (
            "perfpipe.{name} is not what perfpipe made, but another kind of relation (relkind {detail})",
            "Use another database, or rename the schema and ingest the runs again.",
        ),
        "security" => (
            "row security is active on perfpipe.{name}, so not all of its rows can be seen",
            "Use a role that row security does not apply to (the table's owner, or one with bypassrls), or \
             switch it off: alter table {table} disable row level security.",
        ),
        "child" => {
            ("perfpipe.{name} has the child table {detail}, whose rows would be read with its own", DROP)
        }
        "type" => ("the column {detail} of perfpipe.{name} is of a type that is not Postgres's own", DROP),
        "other type" => (
            "the column {detail} of perfpipe.{name} has another type than perfpipe gave it",
            "Give it its own type again (alter table {table} alter column {detail} type …), or ingest the runs into \
             another database.",
        ),
        "code" => ("perfpipe.{name} has an index, default or constraint that calls the {detail}", DROP),
        "trigger" => (
            "perfpipe.{name} has the trigger {detail}, which would run with your rights",
            "If nobody needs it, drop it, and find out who created it: drop trigger {detail} on {table}.",
        ),
        "rule" => ("perfpipe.{name} has the rule {detail}, which changes what is written", DROP),
        "reference" => (
            "the table {detail} refers to perfpipe.{name}, and its triggers would run with your rights",
            DROP,
        ),
        _ => ("the event trigger {detail} calls a function of a role that you are not a member of", DROP),
    }
}

/// Asks for the role's rights; `{engine}` stands for what is asked about the server as well.
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
pub(crate) async fn check_write(session: &Session) -> Result<ServerEngine> {
    let what = "asking what the role may do";
    if let Err(error) = begin(session, what, TransactionMode::Reading).await {
        return Err(engine::or_other(session, error).await);
    }
    let row = session.query_one(what, &PRIVILEGES.replace("{engine}", engine::COLUMNS), &[]).await?;
    session.end(what).await?;
    let (role, database): (String, String) = (value(&row, "role")?, value(&row, "database")?);
    if value(&row, "read_only")? {
        return Err(only_read(&database, value(&row, "standby")?));
    }
    if value(&row, "allowed")? {
        return ServerEngine::of(&row);
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
