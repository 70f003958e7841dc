//! Asks Zabbix's own PostgreSQL database for the history of an item, by windows.
//!
//! Anyone with the right to create objects there could create code that runs with the rights of this reader. So it only reads,
//! finds names in the catalogue alone, and looks at each table before it is read.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;

use crc32fast::Hasher;
use futures_util::TryStreamExt;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::access::Access;
use super::address::{AskedItems, One};
use super::answered::{
    Answered, AnsweredPart, Nearest, SHIFTED, answer, count, hidden, no_readings, of as naming_item,
    only_trends,
};
use super::zabbix::{CORES, ZabbixItem, choose, missing_item, only_item};
use crate::source::SourceOptions;
use crate::source::cpu_export::monitor::{FoundReadings, Stamped};
use perfpipe_model::error::{Error, ErrorKind, Place};
use perfpipe_model::run::damage::Fault;
use perfpipe_store::connection::config::PostgresConfig;
use perfpipe_store::connection::connect;
use perfpipe_store::connection::session::{Session, Value};

/// The seconds of history that are asked for at once.
const WINDOW: i64 = 20_000;

/// The items of a host; `%` stands for what they are chosen by.
const ITEMS: &str = "select i.itemid::bigint as itemid, pg_catalog.left(i.key_::text, 4096) as key_, \
                     pg_catalog.left(h.host::text, 4096) as host, pg_catalog.left(i.value_type::text, 4096) as kind \
                     from {items} i join {hosts} h on h.hostid::bigint = i.hostid::bigint \
                     where % order by 1 limit 100";

/// What a database answered, and what was read of it.
pub(super) struct DatabaseAnswer {
    pub(super) answered: Answered,
    /// The number of bytes of all readings, and their CRC-32.
    pub(super) size: (u64, u32),
}

/// Reads the history of an item from `first` to `last`, epoch seconds.
pub(super) async fn read(
    (url, asked): (&str, &AskedItems),
    access: &Access,
    window: (i64, i64),
    options: &SourceOptions,
    place: &Place,
) -> Result<DatabaseAnswer, Error> {
    let environment = |name: &str| access.environment.get(name).map(|value| value.text().to_owned());
    let config = PostgresConfig::resolve(url, &environment)?;
    let reading = async {
        let session = connect::open(&config).await?;
        let reading = async {
            let mut history = ItemHistory { tables: ZabbixTables::open(&session).await? };
            history.readings(asked, window, options).await
        };
        let secrets = config.secrets();
        let read = reading.await.map_err(|fault| hidden(fault, &secrets).at(place.clone()))?;
        let mut read = DatabaseAnswer { answered: read.answered.hiding(&secrets), ..read };
        read.answered.notes.extend(config.notes().iter().cloned());
        Ok(read)
    };
    within(access, reading, place).await
}

/// Ends a conversation that takes too long.
async fn within(
    access: &Access,
    reading: impl Future<Output = Result<DatabaseAnswer, Error>>,
    place: &Place,
) -> Result<DatabaseAnswer, Error> {
    match tokio::time::timeout(access.timeout, reading).await {
        Ok(read) => read,
        Err(_) => {
            let problem = format!("there is no whole answer within {} s", access.timeout.as_secs_f64());
            let remedy = "Try again, or allow more time.";
            Err(Fault::new(ErrorKind::SourceUnreachable, problem, remedy).at(place.clone()))
        }
    }
}

/// The history of items.
struct ItemHistory<'a> {
    tables: ZabbixTables<'a>,
}

impl ItemHistory<'_> {
    async fn readings(
        &mut self,
        asked: &AskedItems,
        window: (i64, i64),
        options: &SourceOptions,
    ) -> Result<DatabaseAnswer, Fault> {
        let (each, mut size) = (asked.each(), (0, Hasher::new()));
        let mut parts = Vec::with_capacity(each.len());
        for item in &each {
            let found = FoundReadings::beside(count(&parts));
            let part = self.part(*item, (window, found), options, &mut size).await;
            parts.push(part.map_err(|fault| naming_item(*item, each.len(), fault))?);
        }
        let (bytes, crc) = size;
        Ok(DatabaseAnswer { answered: Answered { parts, notes: Vec::new() }, size: (bytes, crc.finalize()) })
    }

    /// Reads the history of one item, and counts it among what was read.
    async fn part(
        &mut self,
        asked: One<'_>,
        ((first, last), mut found): ((i64, i64), FoundReadings),
        options: &SourceOptions,
        size: &mut (u64, Hasher),
    ) -> Result<AnsweredPart, Fault> {
        let item = self.item(asked).await?;
        let (history, trends) =
            if item.is_whole() { ("history_uint", "trends_uint") } else { ("history", "trends") };
        let mut from = first;
        while from <= last {
            let till = last.min(from + WINDOW - 1);
            let take = |row: &Row| {
                let reading = reading(row)?;
                digest(reading, size);
                found.only(reading)
            };
            self.history(history, &item, (from, till), take).await?;
            from = till + 1;
        }
        if found.len() == 0 {
            return Err(self.nothing((history, trends), &item, (first, last)).await?);
        }
        let scale = match item.needs_cores(options) {
            true => Some(item.scale(self.cores(&item).await?)?),
            false => item.known_scale(options),
        };
        Ok(AnsweredPart { name: item.name(asked), found, scale })
    }

    /// Finds the item.
    async fn item(&mut self, asked: One<'_>) -> Result<ZabbixItem, Fault> {
        let rows = match asked {
            One::Id(id) => {
                let id = i64::try_from(id).unwrap_or(i64::MAX);
                self.tables.ask(&ITEMS.replace('%', "i.itemid::bigint = $1"), &[(&id, Type::INT8)]).await?
            }
            One::Named { host, item } => {
                let mut rows = Vec::new();
                for by in ["key_", "name"] {
                    if rows.is_empty() {
                        let chosen = ITEMS.replace('%', &format!("h.host::text = $1 and i.{by}::text = $2"));
                        let values: [Value<'_>; 2] = [(&host, Type::TEXT), (&item, Type::TEXT)];
                        rows = self.tables.ask(&chosen, &values).await?;
                    }
                }
                if rows.is_empty() {
                    let there = "select 1 from {hosts} where host::text = $1 limit 1";
                    let hosts = self.tables.ask(there, &[(&host, Type::TEXT)]).await?;
                    return Err(missing_item(host, item, !hosts.is_empty()));
                }
                rows
            }
        };
        let found = |row: &Row| {
            Ok(ZabbixItem {
                id: of::<i64>(row, "itemid")?.to_string(),
                key: of(row, "key_")?,
                host: of(row, "host")?,
                kind: of(row, "kind")?,
                last_clock: None,
            })
        };
        only_item(rows.iter().map(found).collect::<Result<_, Fault>>()?)
    }

    /// Passes on the rows of a window.
    async fn history(
        &mut self,
        table: &str,
        item: &ZabbixItem,
        (first, last): (i64, i64),
        take: impl FnMut(&Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let sql = format!(
            "select clock::bigint as clock, ns::int as ns, value::float8 as value from {{{table}}} \
             where itemid = $1 and clock between $2 and $3 order by clock, ns"
        );
        let id = number(item)?;
        self.tables.each(&sql, &[(&id, Type::INT8), (&first, Type::INT8), (&last, Type::INT8)], take).await
    }

    /// The fault of an item that has no readings of a time: perhaps they were deleted.
    async fn nothing(
        &mut self,
        (history, trends): (&str, &str),
        item: &ZabbixItem,
        (first, last): (i64, i64),
    ) -> Result<Fault, Fault> {
        let (id, hour) = (number(item)?, first - 3600);
        let sql = format!("select 1 from {{{trends}}} where itemid = $1 and clock between $2 and $3 limit 1");
        let values: [Value<'_>; 3] = [(&id, Type::INT8), (&hour, Type::INT8), (&last, Type::INT8)];
        if !self.tables.ask(&sql, &values).await?.is_empty() {
            return Ok(only_trends());
        }
        let sql = format!(
            "select (select max(clock) from {{{history}}} where itemid = $1 and clock < $2)::bigint as before, \
             (select min(clock) from {{{history}}} where itemid = $1 and clock between $3 and $4)::bigint as after"
        );
        let (next, end) = (last + 1, last + SHIFTED);
        let values: [Value<'_>; 4] =
            [(&id, Type::INT8), (&first, Type::INT8), (&next, Type::INT8), (&end, Type::INT8)];
        let rows = self.tables.ask(&sql, &values).await?;
        let Some(row) = rows.first() else { return Ok(no_readings((first, last), Nearest::default())) };
        Ok(no_readings((first, last), Nearest { before: of(row, "before")?, after: of(row, "after")? }))
    }

    /// The number of the host's cores, if Zabbix reads it.
    async fn cores(&mut self, item: &ZabbixItem) -> Result<Option<u32>, Fault> {
        let sql = "select v.value::bigint as cores from {history_uint} v join {items} i on i.itemid = v.itemid \
                   join {hosts} h on h.hostid = i.hostid where h.host::text = $1 and i.key_::text like $2 \
                   order by v.clock desc limit 1";
        let key = format!("{CORES}%");
        let rows = self.tables.ask(sql, &[(&item.host, Type::TEXT), (&key, Type::TEXT)]).await?;
        let cores = rows.first().map(|row| of::<i64>(row, "cores")).transpose()?;
        Ok(cores.and_then(|cores| u32::try_from(cores).ok()).filter(|cores| *cores > 0))
    }
}

/// The number of an item.
fn number(item: &ZabbixItem) -> Result<i64, Fault> {
    item.id.parse().map_err(|_| choose(format!("{:?} is not the number of an item", item.id)))
}

fn reading(row: &Row) -> Result<Stamped, Fault> {
    let (clock, value): (i64, f64) = (of(row, "clock")?, of(row, "value")?);
    let ns = u32::try_from(of::<i32>(row, "ns")?).ok().filter(|ns| *ns < 1_000_000_000).unwrap_or_default();
    match value.is_finite() {
        true => Ok((clock, ns, value)),
        false => Err(unreadable(&format!("the value at {clock} is not a finite number"))),
    }
}

/// Counts a reading among what was read.
fn digest((clock, ns, value): Stamped, (bytes, crc): &mut (u64, Hasher)) {
    for part in [&clock.to_le_bytes()[..], &ns.to_le_bytes(), &value.to_le_bytes()] {
        *bytes += part.len() as u64;
        crc.update(part);
    }
}

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
struct ZabbixTables<'a> {
    session: &'a Session,
    /// The quoted name of their schema, and its name.
    schema: (String, String),
    /// The tables that can be read.
    sound: BTreeSet<String>,
}

impl<'a> ZabbixTables<'a> {
    /// Begins to read. The schema is the one of the search path that has the tables.
    async fn open(session: &'a Session) -> Result<Self, Fault> {
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

    /// Runs a query with few rows, in which the names of tables are in braces.
    async fn ask(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
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
    async fn each(
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
fn of<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Fault> {
    row.try_get(column).map_err(|error| unreadable(&error.to_string()))
}

/// The fault of tables that are not those of Zabbix, or may not be read.
fn unreadable(why: &str) -> Fault {
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

/// The fault of several schemas that have the tables of Zabbix, of which one may come before the other by design.
fn ambiguous(schemas: &[String]) -> Fault {
    let problem = format!("has tables of Zabbix in several schemas: {}", schemas.join(", "));
    let remedy = "Name the right one in the URL: options=-csearch_path%3DSCHEMA.";
    Fault { remedy: remedy.to_owned(), ..answer(problem) }
}
