//! The tables of Zabbix's database, which are looked at before they are read.

use std::collections::BTreeSet;
use std::pin::pin;

use futures_util::TryStreamExt;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::super::answered::answer;
use crate::connection::session::{Session, Value};
use crate::run::fault::Fault;

/// Begins a transaction that only reads. What rows are hidden is an error.
const BEGIN: &str = "begin isolation level read committed read only; set local row_security = off";

/// Makes every other name one of the catalogue.
const PINNED: &str = "set local search_path = pg_catalog, pg_temp; set local synchronize_seqscans = off";

/// The schemas among `$1` that have the tables of Zabbix, in the order of `$1`.
const SCHEMAS: &str = "select n.nspname::text as schema from pg_catalog.pg_namespace n \
     where n.nspname = any ($1) and 2 = (select count(*) from pg_catalog.pg_class c \
       where c.relnamespace = n.oid and c.relname in ('hosts', 'items')) \
     order by pg_catalog.array_position($1, n.nspname)";

/// What in some tables could run code of others.
const GUARD: &str = include_str!("guard.sql");

/// The columns that are read.
const COLUMNS: [&str; 9] = ["hostid", "host", "itemid", "name", "key_", "value_type", "clock", "ns", "value"];

/// The tables, within a transaction that only reads.
pub(super) struct Tables<'a> {
    session: &'a Session,
    /// The quoted name of their schema, and its name.
    schema: (String, String),
    /// The tables that can be read.
    sound: BTreeSet<String>,
}

impl<'a> Tables<'a> {
    /// Begins to read. The schema is the one of the search path that has the tables.
    pub(super) async fn open(session: &'a Session) -> Result<Self, Fault> {
        let failed = |error: tokio_postgres::Error| unreadable(&session.said(&error));
        let client = session.client();
        client.batch_execute(BEGIN).await.map_err(failed)?;
        let path = client.query_typed("select pg_catalog.current_schemas(false) as path", &[]);
        let path: Vec<String> = match path.await.map_err(failed)?.first() {
            Some(row) => of(row, "path")?,
            None => Vec::new(),
        };
        client.batch_execute(PINNED).await.map_err(failed)?;
        let found = client.query_typed(SCHEMAS, &[(&path, Type::NAME_ARRAY)]).await.map_err(failed)?;
        let found = found.iter().map(|row| of(row, "schema")).collect::<Result<Vec<String>, _>>()?;
        let schema = match found.as_slice() {
            [only] => (format!("\"{}\"", only.replace('"', "\"\"")), only.clone()),
            [] => return Err(unreadable("no schema of the search path has tables hosts and items")),
            several => return Err(ambiguous(several)),
        };
        Ok(Self { session, schema, sound: BTreeSet::new() })
    }

    /// Runs a query with few rows, in which braces stand around the names of tables.
    pub(super) async fn ask(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let mut rows = Vec::new();
        let query = self.qualified(sql).await?;
        self.stream(&query, values, |row| {
            rows.push(row);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Runs a query, and passes on its rows one at a time.
    pub(super) async fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut take: impl FnMut(&Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let query = self.qualified(sql).await?;
        self.stream(&query, values, |row| take(&row)).await
    }

    async fn stream(
        &self,
        query: &str,
        values: &[Value<'_>],
        mut take: impl FnMut(Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let failed = |error: tokio_postgres::Error| unreadable(&self.session.said(&error));
        let values = values.iter().map(|(value, kind)| (*value, kind.clone()));
        let rows = self.session.client().query_typed_raw(query, values).await.map_err(failed)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            take(row)?;
        }
        Ok(())
    }

    /// Returns a query with the names of tables as they are in their schema. Each table can be read.
    async fn qualified(&mut self, sql: &str) -> Result<String, Fault> {
        let mut query = String::new();
        let mut rest = sql;
        while let Some((before, (table, after))) =
            rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
        {
            self.check(table).await?;
            query += &format!("{before}{}.{table}", self.schema.0);
            rest = after;
        }
        Ok(query + rest)
    }

    /// Refuses a table that is none, or that runs code of others when it is read. It stays as it is until the end.
    async fn check(&mut self, table: &str) -> Result<(), Fault> {
        if self.sound.contains(table) {
            return Ok(());
        }
        let failed = |error: tokio_postgres::Error| unreadable(&self.session.said(&error));
        let client = self.session.client();
        let lock = format!("lock table {}.{table} in access share mode", self.schema.0);
        client.batch_execute(&lock).await.map_err(failed)?;
        let (tables, columns) = (vec![table], COLUMNS.to_vec());
        let values: [Value<'_>; 3] =
            [(&self.schema.1, Type::TEXT), (&tables, Type::TEXT_ARRAY), (&columns, Type::TEXT_ARRAY)];
        let found = client.query_typed(GUARD, &values).await.map_err(failed)?;
        if let Some(row) = found.first() {
            return Err(foreign(&of::<String>(row, "found")?));
        }
        self.sound.insert(table.to_owned());
        Ok(())
    }
}

/// Returns a value of a row.
pub(super) fn of<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Fault> {
    row.try_get(column).map_err(|error| unreadable(&error.to_string()))
}

/// The fault of tables that are not those of Zabbix, or may not be read.
pub(super) fn unreadable(why: &str) -> Fault {
    let remedy =
        "Name Zabbix's database, and a role that may read its tables hosts, items, history and trends.";
    Fault { remedy: remedy.to_owned(), ..answer(format!("can't be read as a database of Zabbix: {why}")) }
}

/// The fault of tables that would run code of others.
fn foreign(found: &str) -> Fault {
    let remedy = "Find out who made it. perfpipe reads plain tables only, so that no code of others runs with the rights \
                  of this role.";
    Fault { remedy: remedy.to_owned(), ..answer(format!("can't be read safely: {found}")) }
}

/// The fault of several schemas that have the tables of Zabbix, of which one may stand before the other by design.
fn ambiguous(schemas: &[String]) -> Fault {
    let problem = format!("has tables of Zabbix in several schemas: {}", schemas.join(", "));
    let remedy = "Name the right one in the URL: options=-csearch_path%3DSCHEMA.";
    Fault { remedy: remedy.to_owned(), ..answer(problem) }
}
