//! The table `runs`: a run's own row, written and read.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::{Error, Result};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::sample::texts::clean_text;

use super::connection::session::{Session, value};
use super::copy::seconds::{Names, whole};

/// A run's row, with what it says of the run's other rows.
pub(super) struct Stored {
    pub(super) number: i64,
    /// The table of its samples, where they are stored.
    pub(super) table: Option<String>,
    pub(super) info: RunInfo,
    labels: Vec<String>,
    injectors: Vec<String>,
}

impl Stored {
    /// The names that its cells point to.
    pub(super) fn names(&self) -> Names<'_> {
        Names { labels: &self.labels, injectors: &self.injectors }
    }

    /// The same, to be kept.
    pub(super) fn into_names(self) -> (RunInfo, Vec<String>, Vec<String>) {
        (self.info, self.labels, self.injectors)
    }
}

/// All runs, by test, then framework, then repeat, or why one can't be read.
pub(super) async fn all(session: &Session) -> Result<Vec<Result<Stored>>> {
    let sql = r#"select * from perfpipe.runs order by test collate "C", framework collate "C", repeat"#;
    Ok(session.query("reading the runs", sql, &[]).await?.iter().map(read).collect())
}

/// The run of a key.
pub(super) async fn find(session: &Session, key: &RunKey) -> Result<Option<Stored>> {
    let sql = "select * from perfpipe.runs where framework = $1 and test = $2 and repeat = $3";
    let repeat: i32 = whole(key.repeat)?;
    let values =
        [(&key.framework as _, Type::TEXT), (&key.test as _, Type::TEXT), (&repeat as _, Type::INT4)];
    let rows = session.query("reading the run's row", sql, &values).await?;
    rows.first().map(read).transpose()
}

/// The number of a run and the table of its samples, whatever else its row says.
pub(super) async fn locate(session: &Session, key: &RunKey) -> Result<Option<(i64, Option<String>)>> {
    let sql =
        "select run_id, table_name from perfpipe.runs where framework = $1 and test = $2 and repeat = $3";
    let repeat: i32 = whole(key.repeat)?;
    let values =
        [(&key.framework as _, Type::TEXT), (&key.test as _, Type::TEXT), (&repeat as _, Type::INT4)];
    let rows = session.query("looking for the run", sql, &values).await?;
    rows.first().map(|row| Ok((value(row, "run_id")?, value(row, "table_name")?))).transpose()
}

/// The repeats that are stored of a framework and a test, ascending.
pub(super) async fn repeats(session: &Session, framework: &str, test: &str) -> Result<Vec<u32>> {
    let sql = "select repeat from perfpipe.runs where framework = $1 and test = $2 order by repeat";
    let rows = session
        .query("reading the repeats of a run", sql, &[(&framework, Type::TEXT), (&test, Type::TEXT)])
        .await?;
    rows.iter().map(|row| whole(value::<i32>(row, "repeat")?)).collect()
}

/// Takes a run away, all but its samples; whatever refers to its number goes with it.
pub(super) async fn delete(session: &Session, number: i64) -> Result<()> {
    let sql = "delete from perfpipe.runs where run_id = $1";
    session.query("taking the old run away", sql, &[(&number, Type::INT8)]).await.map(drop)
}

/// Says which table holds the samples of a run.
pub(super) async fn name_table(session: &Session, number: i64, table: &str) -> Result<()> {
    let sql = "update perfpipe.runs set table_name = $2 where run_id = $1";
    session
        .query("naming the run's table", sql, &[(&number, Type::INT8), (&table, Type::TEXT)])
        .await
        .map(drop)
}

/// Writes a run's row, as yet without a table of samples, and returns its number.
pub(super) async fn insert(session: &Session, info: &RunInfo, names: Names<'_>) -> Result<i64> {
    let what = "storing the run's row";
    let ingested_at: Timestamp = info.ingested_at.parse().map_err(|e: jiff::Error| Error::store(what, e))?;
    let row = session
        .query_one(
        what,
        "insert into perfpipe.runs (framework, test, repeat, t0_ms, last_ms, last_end_ms, transactions_end_ms, seconds, successes, failures, \
         transactions, rejects, samples_stored, inferred, sources, options, cpu_offset, cpu_lookback, labels, \
         injectors, tool_version, ingested_at, damage) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
         $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) returning run_id",
        &[
            (&info.key.framework, Type::TEXT),
            (&info.key.test, Type::TEXT),
            (&whole::<_, i32>(info.key.repeat)?, Type::INT4),
            (&info.t0_ms, Type::INT8),
            (&info.last_ms, Type::INT8),
            (&info.last_end_ms, Type::INT8),
            (&info.transactions_end_ms, Type::INT8),
            (&whole::<_, i32>(info.seconds)?, Type::INT4),
            (&whole::<_, i64>(info.successes)?, Type::INT8),
            (&whole::<_, i64>(info.failures)?, Type::INT8),
            (&whole::<_, i64>(info.transactions)?, Type::INT8),
            (&whole::<_, i64>(info.rejects)?, Type::INT8),
            (&info.samples_stored, Type::BOOL),
            (&info.inferred, Type::BOOL),
            (&json(what, &info.sources)?, Type::JSONB),
            (&json(what, &info.options)?, Type::JSONB),
            (&info.cpu_offset, Type::INT8),
            (&whole::<_, i32>(info.cpu_lookback)?, Type::INT4),
            (&clean(names.labels), Type::TEXT_ARRAY),
            (&clean(names.injectors), Type::TEXT_ARRAY),
            (&info.tool_version, Type::TEXT),
            (&ingested_at, Type::TIMESTAMPTZ),
            (&json(what, &info.damage)?, Type::JSONB),
        ],
    )
    .await?;
    value(&row, "run_id")
}

/// Reads a row; one that can't be read is named.
fn read(row: &Row) -> Result<Stored> {
    parse(row).map_err(|error| {
        let text = |column| value::<String>(row, column).unwrap_or_else(|_| "?".into());
        let run = format!("{}_{}", text("framework"), text("test"));
        let remedy = "Somebody has changed it: ingest the run again with --replace, or drop it.";
        Error::failed(format!("reading the row of the run {run}"), error.to_string(), remedy)
    })
}

fn parse(row: &Row) -> Result<Stored> {
    let info = RunInfo {
        key: RunKey {
            framework: value(row, "framework")?,
            test: value(row, "test")?,
            repeat: whole(value::<i32>(row, "repeat")?)?,
        },
        t0_ms: value(row, "t0_ms")?,
        last_ms: value(row, "last_ms")?,
        last_end_ms: later(row, "last_end_ms")?,
        transactions_end_ms: later(row, "transactions_end_ms")?,
        seconds: whole(value::<i32>(row, "seconds")?)?,
        successes: whole(value::<i64>(row, "successes")?)?,
        failures: whole(value::<i64>(row, "failures")?)?,
        transactions: whole(value::<i64>(row, "transactions")?)?,
        rejects: whole(value::<i64>(row, "rejects")?)?,
        samples_stored: value(row, "samples_stored")?,
        inferred: value(row, "inferred")?,
        sources: from_json(row, "sources")?,
        cpu_offset: value(row, "cpu_offset")?,
        cpu_lookback: whole(value::<i32>(row, "cpu_lookback")?)?,
        options: from_json(row, "options")?,
        tool_version: value(row, "tool_version")?,
        ingested_at: value::<Timestamp>(row, "ingested_at")?.to_string(),
        damage: from_json(row, "damage")?,
    };
    Ok(Stored {
        number: value(row, "run_id")?,
        table: value(row, "table_name")?,
        info,
        labels: value(row, "labels")?,
        injectors: value(row, "injectors")?,
    })
}

/// A value of a column that a schema made before it was thought of has not.
fn later(row: &Row, column: &str) -> Result<Option<i64>> {
    match row.columns().iter().any(|known| known.name() == column) {
        true => value(row, column),
        false => Ok(None),
    }
}

fn json(what: &str, item: &impl serde::Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(item).map_err(|e| Error::store(what, e))
}

fn from_json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    serde_json::from_value(value(row, column)?).map_err(|e| Error::store("reading the run's row", e))
}

fn clean(names: &[String]) -> Vec<String> {
    names.iter().map(|name| clean_text(name.as_bytes())).collect()
}
