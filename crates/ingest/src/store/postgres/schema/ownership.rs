//! Checks that perfpipe created the tables. Anyone who may create a schema could have created this one, with code in it
//! that runs with the rights of its users.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::{Error, ErrorKind, Result};

use super::names::in_schema;
use crate::connection::session::{Session, value};

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
    let told = |text: &str| {
        text.replace("{name}", &name).replace("{table}", &in_schema(&name)).replace("{detail}", &detail)
    };
    Ok(Error::refused(ErrorKind::SchemaForeign, told(problem), told(remedy)))
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
