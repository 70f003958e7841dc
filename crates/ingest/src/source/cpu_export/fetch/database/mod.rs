//! Asks Zabbix's own PostgreSQL database for the history of an item, by windows.
//!
//! Whoever may make objects there could make code that runs with the rights of this reader. So it only reads, finds names
//! in the catalogue alone, and looks at each table before it is read.

mod tables;

use std::future::Future;

use crc32fast::Hasher;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use self::tables::{Tables, of, unreadable};
use super::access::Access;
use super::address::{Asked, One};
use super::answered::{
    Answered, Nearest, Part, SHIFTED, count, hidden, no_readings, of as told_of, only_trends,
};
use super::item::{self, CORES, Item, choose};
use crate::connection::config::PostgresConfig;
use crate::connection::connect;
use crate::connection::session::Value;
use crate::error::{Error, ErrorKind, Place};
use crate::run::fault::Fault;
use crate::source::SourceOptions;
use crate::source::cpu_export::monitor::{Found, Stamped};

/// The seconds of history that are asked for at once.
const WINDOW: i64 = 20_000;

/// The items of a host; `%` stands for what they are chosen by.
const ITEMS: &str = "select i.itemid::bigint as itemid, pg_catalog.left(i.key_::text, 4096) as key_, \
                     pg_catalog.left(h.host::text, 4096) as host, pg_catalog.left(i.value_type::text, 4096) as kind \
                     from {items} i join {hosts} h on h.hostid::bigint = i.hostid::bigint \
                     where % order by 1 limit 100";

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
        let session = connect::open(&config).await?;
        let reading = async {
            let mut history = History { tables: Tables::open(&session).await? };
            history.readings(asked, window, options).await
        };
        let secrets = config.secrets();
        let read = reading.await.map_err(|fault| hidden(fault, &secrets).at(place.clone()))?;
        let mut read = Read { answered: read.answered.hiding(&secrets), ..read };
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

/// The history of items.
struct History<'a> {
    tables: Tables<'a>,
}

impl History<'_> {
    async fn readings(
        &mut self,
        asked: &Asked,
        window: (i64, i64),
        options: &SourceOptions,
    ) -> Result<Read, Fault> {
        let (each, mut size) = (asked.each(), (0, Hasher::new()));
        let mut parts = Vec::with_capacity(each.len());
        for item in &each {
            let found = Found::beside(count(&parts));
            let part = self.part(*item, (window, found), options, &mut size).await;
            parts.push(part.map_err(|fault| told_of(*item, each.len(), fault))?);
        }
        let (bytes, crc) = size;
        Ok(Read { answered: Answered { parts, notes: Vec::new() }, size: (bytes, crc.finalize()) })
    }

    /// Reads the history of one item, and counts it among what was read.
    async fn part(
        &mut self,
        asked: One<'_>,
        ((first, last), mut found): ((i64, i64), Found),
        options: &SourceOptions,
        size: &mut (u64, Hasher),
    ) -> Result<Part, Fault> {
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
            false => item.told_scale(options),
        };
        Ok(Part { name: item.name(asked), found, scale })
    }

    /// Finds the item.
    async fn item(&mut self, asked: One<'_>) -> Result<Item, Fault> {
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

    /// Passes on the rows of a window.
    async fn history(
        &mut self,
        table: &str,
        item: &Item,
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
        item: &Item,
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
    async fn cores(&mut self, item: &Item) -> Result<Option<u32>, Fault> {
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
fn number(item: &Item) -> Result<i64, Fault> {
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
