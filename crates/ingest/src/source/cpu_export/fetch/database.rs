//! Asks Zabbix's own PostgreSQL database for the history of an item, by windows.

use std::future::Future;

use crc32fast::Hasher;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::access::Access;
use super::address::{Asked, One};
use super::answered::{Answered, Nearest, Part, SHIFTED, answer, no_readings, of as told_of, only_trends};
use super::item::{self, CORES, Item, choose};
use crate::connection::config::PostgresConfig;
use crate::connection::connect;
use crate::connection::session::{Session, Value, sentence};
use crate::error::{Error, ErrorKind, Place};
use crate::run::fault::Fault;
use crate::source::SourceOptions;
use crate::source::cpu_export::monitor::Found;
use crate::source::cpu_export::row::Reading;

/// The seconds of history that are asked for at once.
const WINDOW: i64 = 20_000;

/// The items of a host; `%` stands for what they are chosen by.
const ITEMS: &str = "select i.itemid, i.key_::text as key_, h.host::text as host, i.value_type::text as kind \
                     from items i join hosts h on h.hostid = i.hostid where %";

/// What a database answered, and what was read of it.
pub(super) struct Read {
    pub(super) answered: Answered,
    /// The number of bytes of all readings, and their CRC-32.
    pub(super) size: (u64, u32),
}

/// Reads the history of an item from `first` to `last`, epoch seconds.
pub(super) async fn read(
    (url, asked): (&str, &Asked),
    access: &Access,
    window: (i64, i64),
    options: &SourceOptions,
    place: &Place,
) -> Result<Read, Error> {
    let environment = |name: &str| access.environment.get(name).map(|value| value.text().to_owned());
    let config = PostgresConfig::resolve(url, &environment)?;
    let reading = async {
        let tables = Tables { session: connect::open(&config).await? };
        let read = tables.readings(asked, window, options).await;
        let mut read = read.map_err(|fault| fault.at(place.clone()))?;
        read.answered.notes.extend(config.notes().iter().cloned());
        Ok(read)
    };
    within(access, reading, place).await
}

/// Ends a conversation that takes too long.
async fn within(
    access: &Access,
    reading: impl Future<Output = Result<Read, Error>>,
    place: &Place,
) -> Result<Read, Error> {
    match tokio::time::timeout(access.timeout, reading).await {
        Ok(read) => read,
        Err(_) => {
            let problem = format!("there is no whole answer within {} s", access.timeout.as_secs_f64());
            let remedy = "Try again, or allow more time.";
            Err(Fault::new(ErrorKind::SourceUnreachable, problem, remedy).at(place.clone()))
        }
    }
}

/// The tables of Zabbix.
struct Tables {
    session: Session,
}

impl Tables {
    async fn readings(
        &self,
        asked: &Asked,
        window: (i64, i64),
        options: &SourceOptions,
    ) -> Result<Read, Fault> {
        let (each, mut size) = (asked.each(), (0, Hasher::new()));
        let mut parts = Vec::with_capacity(each.len());
        for item in &each {
            let part = self.part(*item, window, options, &mut size).await;
            parts.push(part.map_err(|fault| told_of(*item, each.len(), fault))?);
        }
        let (bytes, crc) = size;
        Ok(Read { answered: Answered { parts, notes: Vec::new() }, size: (bytes, crc.finalize()) })
    }

    /// Reads the history of one item, and counts it among what was read.
    async fn part(
        &self,
        asked: One<'_>,
        (first, last): (i64, i64),
        options: &SourceOptions,
        size: &mut (u64, Hasher),
    ) -> Result<Part, Fault> {
        let item = self.item(asked).await?;
        let (history, trends) =
            if item.is_whole() { ("history_uint", "trends_uint") } else { ("history", "trends") };
        let mut found = Found::default();
        let mut from = first;
        while from <= last {
            let till = last.min(from + WINDOW - 1);
            for row in self.history(history, &item, (from, till)).await? {
                let reading = reading(&row)?;
                digest(&reading, size);
                found.readings.push(reading);
            }
            from = till + 1;
        }
        if found.readings.is_empty() {
            return Err(self.nothing((history, trends), &item, (first, last)).await?);
        }
        let scale = match item.needs_cores(options) {
            true => Some(item.scale(self.cores(&item).await?)?),
            false => item.told_scale(options),
        };
        Ok(Part { name: item.name(asked), found, scale })
    }

    /// Finds the item.
    async fn item(&self, asked: One<'_>) -> Result<Item, Fault> {
        let rows = match asked {
            One::Id(id) => {
                let id = i64::try_from(id).unwrap_or(i64::MAX);
                self.ask(&ITEMS.replace('%', "i.itemid = $1"), &[(&id, Type::INT8)]).await?
            }
            One::Named { host, item } => {
                let mut rows = Vec::new();
                for by in ["key_", "name"] {
                    if rows.is_empty() {
                        let chosen =
                            ITEMS.replace('%', &format!("h.host = $1 and i.{by} = $2 order by i.itemid"));
                        rows = self.ask(&chosen, &[(&host, Type::TEXT), (&item, Type::TEXT)]).await?;
                    }
                }
                if rows.is_empty() {
                    let hosts =
                        self.ask("select 1 from hosts where host = $1", &[(&host, Type::TEXT)]).await?;
                    return Err(item::missing(host, item, !hosts.is_empty()));
                }
                rows
            }
        };
        let found = |row: &Row| {
            Ok(Item {
                id: of::<i64>(row, "itemid")?.to_string(),
                key: of(row, "key_")?,
                host: of(row, "host")?,
                kind: of(row, "kind")?,
                last_clock: None,
            })
        };
        item::only(rows.iter().map(found).collect::<Result<_, Fault>>()?)
    }

    async fn history(&self, table: &str, item: &Item, window: (i64, i64)) -> Result<Vec<Row>, Fault> {
        let sql = format!(
            "select clock::bigint as clock, ns, value::float8 as value from {table} \
             where itemid = $1 and clock between $2 and $3 order by clock, ns"
        );
        self.ask(&sql, &[(&number(item)?, Type::INT8), (&window.0, Type::INT8), (&window.1, Type::INT8)])
            .await
    }

    /// The fault of an item that has no readings of a time: perhaps they were deleted.
    async fn nothing(
        &self,
        (history, trends): (&str, &str),
        item: &Item,
        (first, last): (i64, i64),
    ) -> Result<Fault, Fault> {
        let (id, hour) = (number(item)?, first - 3600);
        let sql = format!("select 1 from {trends} where itemid = $1 and clock between $2 and $3 limit 1");
        let values: [Value<'_>; 3] = [(&id, Type::INT8), (&hour, Type::INT8), (&last, Type::INT8)];
        if !self.ask(&sql, &values).await?.is_empty() {
            return Ok(only_trends());
        }
        let sql = format!(
            "select (select max(clock) from {history} where itemid = $1 and clock < $2)::bigint as before, \
             (select min(clock) from {history} where itemid = $1 and clock between $3 and $4)::bigint as after"
        );
        let (next, end) = (last + 1, last + SHIFTED);
        let values: [Value<'_>; 4] =
            [(&id, Type::INT8), (&first, Type::INT8), (&next, Type::INT8), (&end, Type::INT8)];
        let rows = self.ask(&sql, &values).await?;
        let Some(row) = rows.first() else { return Ok(no_readings((first, last), Nearest::default())) };
        Ok(no_readings((first, last), Nearest { before: of(row, "before")?, after: of(row, "after")? }))
    }

    /// The number of the host's cores, if Zabbix reads it.
    async fn cores(&self, item: &Item) -> Result<Option<u32>, Fault> {
        let sql = "select v.value::bigint as cores from history_uint v join items i on i.itemid = v.itemid \
                   join hosts h on h.hostid = i.hostid where h.host = $1 and i.key_ like $2 \
                   order by v.clock desc limit 1";
        let key = format!("{CORES}%");
        let rows = self.ask(sql, &[(&item.host, Type::TEXT), (&key, Type::TEXT)]).await?;
        let cores = rows.first().map(|row| of::<i64>(row, "cores")).transpose()?;
        Ok(cores.and_then(|cores| u32::try_from(cores).ok()).filter(|cores| *cores > 0))
    }

    async fn ask(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let rows = self.session.client().query_typed(sql, values).await;
        rows.map_err(|error| unreadable(&sentence(&error)))
    }
}

/// The number of an item.
fn number(item: &Item) -> Result<i64, Fault> {
    item.id.parse().map_err(|_| choose(format!("{:?} is no number of an item", item.id)))
}

fn of<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Fault> {
    row.try_get(column).map_err(|error| unreadable(&error.to_string()))
}

/// The fault of tables that are not those of Zabbix, or may not be read.
fn unreadable(why: &str) -> Fault {
    let remedy =
        "Name Zabbix's database, and a role that may read its tables hosts, items, history and trends.";
    Fault { remedy: remedy.to_owned(), ..answer(format!("can't be read as a database of Zabbix: {why}")) }
}

fn reading(row: &Row) -> Result<Reading, Fault> {
    let (clock, value): (i64, f64) = (of(row, "clock")?, of(row, "value")?);
    let ns = u32::try_from(of::<i32>(row, "ns")?).ok().filter(|ns| *ns < 1_000_000_000).unwrap_or_default();
    match value.is_finite() {
        true => Ok(Reading { clock, ns, value, series: None }),
        false => Err(unreadable(&format!("the value at {clock} is not a finite number"))),
    }
}

/// Counts a reading among what was read.
fn digest(reading: &Reading, (bytes, crc): &mut (u64, Hasher)) {
    let parts = [&reading.clock.to_le_bytes()[..], &reading.ns.to_le_bytes(), &reading.value.to_le_bytes()];
    for part in parts {
        *bytes += part.len() as u64;
        crc.update(part);
    }
}
