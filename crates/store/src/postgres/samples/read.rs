//! Reads a run's samples in the order of the log, also from several tables ([`Stripes`]).

use std::error::Error as StdError;
use std::pin::pin;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::connection::session::{Session, sentence};
use crate::postgres::copy::CopyOut;
use crate::postgres::copy::binary::RowFields;
use crate::postgres::copy::samples::COLUMNS;
use crate::postgres::schema::names::in_schema;
use perfpipe_model::error::{Error, Result};

/// The maximum number of rows that the server is asked for at once, since it gathers them before it sends any.
const AT_ONCE: u64 = 8192;

/// The number of rows that a cluster is asked for at once, since its coordinator gathers and sorts them.
const SORTED: u64 = 1 << 17;

/// A function that receives a row.
type Each<'a> = &'a mut (dyn FnMut(&mut RowFields<'_>) -> Result<()> + Send);

/// Passes every row to `each`, within a transaction. The run has `count` of them.
pub(crate) async fn each_sample(
    session: &Session,
    what: &str,
    tables: &SampleTables,
    count: u64,
    each: Each<'_>,
) -> Result<()> {
    match &tables.stripes {
        Some(Stripes::Dealt { first, rows, .. }) => {
            each_striped(session, what, tables, (*first, *rows), each).await
        }
        Some(Stripes::Chained { .. }) => {
            for table in tables.names() {
                each_of_table(session, what, &format!("only {}", in_schema(table)), each).await?;
            }
            Ok(())
        }
        Some(Stripes::Sorted { .. }) => {
            each_sorted(session, what, &in_schema(&tables.own), count, each).await
        }
        None => each_of_table(session, what, &in_schema(&tables.own), each).await,
    }
}

/// Reads all rows of a table.
async fn each_of_table(session: &Session, what: &str, table: &str, each: Each<'_>) -> Result<()> {
    let query = format!("select {COLUMNS} from {table}");
    CopyOut::begin(session, what, &query).await?.each(each).await
}

/// Reads a table that is dealt out over nodes, in the order of its lines.
async fn each_sorted(session: &Session, what: &str, table: &str, count: u64, each: Each<'_>) -> Result<()> {
    let mut from = 0;
    while from < count {
        let to = from + SORTED;
        let query =
            format!("select {COLUMNS} from {table} where line >= {from} and line < {to} order by line");
        CopyOut::begin(session, what, &query).await?.each(&mut *each).await?;
        from = to;
    }
    Ok(())
}

/// Reads all tables side by side, a stripe of each in turn. COPY could read only one after another.
async fn each_striped(
    session: &Session,
    what: &str,
    tables: &SampleTables,
    (first, rows): (u64, u64),
    each: Each<'_>,
) -> Result<()> {
    let mut cursors = Vec::new();
    for (number, table) in tables.names().into_iter().enumerate() {
        let cursor = RowCursor { session, what, name: format!("stripes_{number}") };
        cursor.open(&format!("select {COLUMNS} from only {}", in_schema(table))).await?;
        cursors.push(cursor);
    }
    if let Some(own) = cursors.first() {
        own.fetch(first, each).await?;
    }
    let mut ended = false;
    while !ended {
        for cursor in &cursors {
            let found = cursor.fetch(rows, each).await?;
            if ended && found > 0 {
                return Err(Error::store(what, "the run's tables have other samples than perfpipe stored"));
            }
            ended |= found < rows;
        }
    }
    Ok(())
}

/// A cursor of the present transaction.
struct RowCursor<'a> {
    session: &'a Session,
    what: &'a str,
    name: String,
}

impl RowCursor<'_> {
    async fn open(&self, query: &str) -> Result<()> {
        self.session.run(self.what, &format!("declare {} no scroll cursor for {query}", self.name)).await
    }

    /// Passes up to `count` rows to a function. Returns their number, which is less only at the end.
    async fn fetch(&self, count: u64, each: Each<'_>) -> Result<u64> {
        let mut fetched = 0;
        while fetched < count {
            let asked = AT_ONCE.min(count - fetched);
            let found = self.fetch_once(asked, each).await?;
            fetched += found;
            if found < asked {
                break;
            }
        }
        Ok(fetched)
    }

    async fn fetch_once(&self, count: u64, each: Each<'_>) -> Result<u64> {
        let failed = |error| self.session.error(self.what, &error);
        let sql = format!("fetch {count} from {}", self.name);
        let none: [(i32, Type); 0] = [];
        let mut rows = pin!(self.session.client().query_typed_raw(&sql, none).await.map_err(failed)?);
        let (mut found, mut buffer) = (0, Vec::new());
        while let Some(row) = rows.next().await {
            put_fields(&row.map_err(failed)?, &mut buffer)?;
            each(&mut RowFields::new(&buffer))?;
            found += 1;
        }
        Ok(found)
    }
}

/// Sets the buffer to a row's fields as COPY sends them.
fn put_fields(row: &Row, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.clear();
    for column in 0..row.len() {
        let field: Option<RawField<'_>> =
            row.try_get(column).map_err(|e| Error::store("reading from Postgres", sentence(&e)))?;
        let length = field.as_ref().map_or(Ok(-1), |field| i32::try_from(field.0.len()));
        let length = length.map_err(|e| Error::store("reading from Postgres", e))?;
        buffer.extend_from_slice(&length.to_be_bytes());
        buffer.extend_from_slice(field.map_or(&[], |field| field.0));
    }
    Ok(())
}

/// The bytes of a field as they were sent.
struct RawField<'a>(&'a [u8]);

impl<'a> FromSql<'a> for RawField<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The place of each sample. Each table keeps its own in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Stripes {
    /// The first samples are in the run's own table. Those after them are dealt out in stripes: one for the run's own
    /// table, one for each of the others, and so on.
    Dealt {
        /// The number of samples before the first stripe.
        first: u64,
        /// The number of samples in a stripe. The last one may be shorter.
        rows: u64,
        /// The tables other than the run's own one.
        tables: Vec<String>,
    },
    /// The samples in the run's own table come first, then those of each other table.
    Chained {
        /// The tables after the run's own one.
        then: Vec<String>,
    },
    /// All samples are in the run's own table, and a column of it has their order.
    Sorted {
        /// The column.
        by: RowOrder,
    },
}

/// The column that has the order of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowOrder {
    /// The number of the sample in the log, from 0.
    #[serde(rename = "line")]
    Line,
}

impl Stripes {
    /// Parses the value of a run's row.
    pub(crate) fn parse(text: serde_json::Value) -> Result<Self> {
        let bad = |problem: String| Error::store("reading how the run's samples are striped", problem);
        let stripes: Self = serde_json::from_value(text).map_err(|error| bad(error.to_string()))?;
        match stripes {
            Self::Dealt { rows: 0, .. } => Err(bad("its stripes have no rows".into())),
            stripes => Ok(stripes),
        }
    }

    /// Returns the tables other than the run's own one.
    fn others(&self) -> &[String] {
        match self {
            Self::Dealt { tables, .. } => tables,
            Self::Chained { then } => then,
            Self::Sorted { .. } => &[],
        }
    }
}

/// A run's own table and those of its other stripes, if there are any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleTables {
    pub(crate) own: String,
    pub(crate) stripes: Option<Stripes>,
}

impl SampleTables {
    /// Returns the names of all tables, the run's own one first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let others = self.stripes.iter().flat_map(Stripes::others);
        std::iter::once(&self.own).chain(others).map(String::as_str).collect()
    }
}
