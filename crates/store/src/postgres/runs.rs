//! Reads and writes the table `runs`, which has one row per run.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::texts::clean_text;

use super::copy::binary::whole;
use super::copy::seconds::NameLists;
use super::samples::read::{SampleTables, Stripes};
use super::schema::layout::{RowsOf, SchemaLayout};
use super::schema::names::{literal, run_text};
use crate::connection::session::{Session, Value, value};

/// A row of `runs`.
pub(super) struct StoredRow {
    /// A number that is unique among all runs, including replaced and dropped ones.
    pub(super) number: i64,
    /// The identification of its rows in the other tables.
    pub(super) rows: RowsOf,
    /// The tables of its samples, if they are stored.
    pub(super) tables: Option<SampleTables>,
    pub(super) info: RunInfo,
    labels: Vec<String>,
    injectors: Vec<String>,
}

impl StoredRow {
    /// Returns the names that its cells refer to.
    pub(super) fn names(&self) -> NameLists<'_> {
        NameLists { labels: &self.labels, injectors: &self.injectors }
    }

    /// Converts it into the metadata and the names that its cells refer to: labels and injectors.
    pub(super) fn into_names(self) -> (RunInfo, Vec<String>, Vec<String>) {
        (self.info, self.labels, self.injectors)
    }
}

/// Reads all runs, or those of a test, sorted by test, framework and repeat. The inner error is that of one run.
pub(super) async fn all(
    session: &Session,
    layout: SchemaLayout,
    test: Option<&str>,
) -> Result<Vec<Result<StoredRow>>> {
    let test = test.as_ref().map(|test| (test as _, Type::TEXT));
    let wanted = if test.is_some() { "where test = $1" } else { "" };
    let sql = format!("select * from perfpipe.runs {wanted}");
    let mut rows = session.query("reading the runs", &sql, test.as_slice()).await?;
    // The server would sort rows of this width on the disk where they are many.
    rows.sort_by_cached_key(sort_key);
    Ok(rows.iter().map(|row| read(layout, row)).collect())
}

/// The place of a run in lists: its test, framework and repeat.
fn sort_key(row: &Row) -> (String, String, i32) {
    let text = |column| value(row, column).unwrap_or_default();
    (text("test"), text("framework"), value(row, "repeat").unwrap_or_default())
}

/// Reads the keys of all runs, sorted as by [`all`].
pub(super) async fn keys(session: &Session) -> Result<Vec<RunKey>> {
    let sql = "select framework, test, repeat from perfpipe.runs";
    let mut rows = session.query("reading the keys of the runs", sql, &[]).await?;
    rows.sort_by_cached_key(sort_key);
    rows.iter().map(key).collect()
}

fn key(row: &Row) -> Result<RunKey> {
    Ok(RunKey {
        framework: value(row, "framework")?,
        test: value(row, "test")?,
        repeat: whole(value::<i32>(row, "repeat")?)?,
    })
}

/// Reads the run of a key.
pub(super) async fn find(session: &Session, layout: SchemaLayout, key: &RunKey) -> Result<Option<StoredRow>> {
    let rows =
        of_key(session, layout, "reading the run's row", "select * from perfpipe.runs", key, "").await?;
    rows.first().map(|row| read(layout, row)).transpose()
}

/// Runs a statement on the row of a key: `statement`, the condition on the key, and `after`.
async fn of_key(
    session: &Session,
    layout: SchemaLayout,
    what: &str,
    statement: &str,
    key: &RunKey,
    after: &str,
) -> Result<Vec<Row>> {
    match layout {
        SchemaLayout::Numbered => {
            let sql = format!("{statement} where framework = $1 and test = $2 and repeat = $3 {after}");
            let repeat: i32 = whole(key.repeat)?;
            let values =
                [(&key.framework as _, Type::TEXT), (&key.test as _, Type::TEXT), (&repeat as _, Type::INT4)];
            session.query(what, &sql, &values).await
        }
        SchemaLayout::Keyed => {
            let sql = format!("{statement} where run = $1 {after}");
            session.query(what, &sql, &[(&run_text(key), Type::TEXT)]).await
        }
    }
}

/// Returns the stored repeats of a framework and a test, ascending.
pub(super) async fn repeats(session: &Session, framework: &str, test: &str) -> Result<Vec<u32>> {
    let sql = "select repeat from perfpipe.runs where framework = $1 and test = $2 order by repeat";
    let rows = session
        .query("reading the repeats of a run", sql, &[(&framework, Type::TEXT), (&test, Type::TEXT)])
        .await?;
    rows.iter().map(|row| whole(value::<i32>(row, "repeat")?)).collect()
}

/// The remaining part of a run whose row was deleted.
pub(super) struct DeletedRow {
    /// The tables of its samples, if they are stored.
    pub(super) tables: Option<SampleTables>,
}

/// Deletes the row of a key, whatever else it contains, and the run's rows in the other tables. The samples remain.
pub(super) async fn delete_run_row(
    session: &Session,
    layout: SchemaLayout,
    key: &RunKey,
) -> Result<Option<DeletedRow>> {
    let (what, after) = ("taking the old run away", "returning *");
    let rows = of_key(session, layout, what, "delete from perfpipe.runs", key, after).await?;
    rows.first().map(|row| Ok(DeletedRow { tables: tables(row)? })).transpose()
}

/// Records the tables that hold the samples of a run.
pub(super) async fn name_tables(
    session: &Session,
    layout: SchemaLayout,
    key: &RunKey,
    tables: &SampleTables,
) -> Result<()> {
    let what = "naming the run's table";
    let mut statement = format!("update perfpipe.runs set table_name = {}", literal(&tables.own));
    if let Some(stripes) = &tables.stripes {
        statement += &format!(", stripes = {}::pg_catalog.jsonb", literal(&json(what, stripes)?.to_string()));
    }
    of_key(session, layout, what, &statement, key, "").await.map(drop)
}

/// The columns of `runs` in all layouts, in the order in which they are written.
const COLUMNS: &str = "framework, test, repeat, t0_ms, last_ms, last_end_ms, transactions_end_ms, seconds, successes, \
     failures, transactions, rejects, samples_stored, inferred, sources, options, cpu_offset, cpu_lookback, labels, \
     injectors, tool_version, ingested_at, damage, resolution_us";

/// The placeholders of their values.
const VALUES: &str = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, \
     $22, $23, $24";

/// Returns the statement that inserts a row.
fn insertion(layout: SchemaLayout) -> String {
    let (columns, values) = match layout {
        // The server generates the other columns.
        SchemaLayout::Numbered => ("", ""),
        SchemaLayout::Keyed => {
            (", run, t0, requests", ", $25, pg_catalog.to_timestamp($4 / 1000.0), $9 + $10")
        }
    };
    let number = layout.number_column();
    format!("insert into perfpipe.runs ({COLUMNS}{columns}) values ({VALUES}{values}) returning {number}")
}

/// Inserts a run's row, without a table of samples, and returns the run's number.
pub(super) async fn insert(
    session: &Session,
    layout: SchemaLayout,
    info: &RunInfo,
    names: NameLists<'_>,
) -> Result<i64> {
    let what = "storing the run's row";
    let ingested_at: Timestamp = info.ingested_at.parse().map_err(|e: jiff::Error| Error::store(what, e))?;
    let repeat: i32 = whole(info.key.repeat)?;
    let seconds: i32 = whole(info.seconds)?;
    let resolution: i32 = whole(info.resolution.microseconds())?;
    let counts = [info.successes, info.failures, info.transactions, info.rejects];
    let [successes, failures, transactions, rejects] = counts.map(whole::<_, i64>);
    let (successes, failures, transactions, rejects) = (successes?, failures?, transactions?, rejects?);
    let (sources, options) = (json(what, &info.sources)?, json(what, &info.options)?);
    let (lookback, damage): (i32, _) = (whole(info.cpu_lookback)?, json(what, &info.damage)?);
    let (labels, injectors, run) = (clean(names.labels), clean(names.injectors), run_text(&info.key));
    let mut values: Vec<Value<'_>> = vec![
        (&info.key.framework, Type::TEXT),
        (&info.key.test, Type::TEXT),
        (&repeat, Type::INT4),
        (&info.t0_ms, Type::INT8),
        (&info.last_ms, Type::INT8),
        (&info.last_end_ms, Type::INT8),
        (&info.transactions_end_ms, Type::INT8),
        (&seconds, Type::INT4),
        (&successes, Type::INT8),
        (&failures, Type::INT8),
        (&transactions, Type::INT8),
        (&rejects, Type::INT8),
        (&info.samples_stored, Type::BOOL),
        (&info.inferred, Type::BOOL),
        (&sources, Type::JSONB),
        (&options, Type::JSONB),
        (&info.cpu_offset, Type::INT8),
        (&lookback, Type::INT4),
        (&labels, Type::TEXT_ARRAY),
        (&injectors, Type::TEXT_ARRAY),
        (&info.tool_version, Type::TEXT),
        (&ingested_at, Type::TIMESTAMPTZ),
        (&damage, Type::JSONB),
        (&resolution, Type::INT4),
    ];
    if layout == SchemaLayout::Keyed {
        values.push((&run, Type::TEXT));
    }
    let row = session.query_one(what, &insertion(layout), &values).await?;
    value(&row, layout.number_column())
}

/// Parses a row. The error names the run.
fn read(layout: SchemaLayout, row: &Row) -> Result<StoredRow> {
    parse(layout, row).map_err(|error| {
        let text = |column| value::<String>(row, column).unwrap_or_else(|_| "?".into());
        let run = format!("{}_{}", text("framework"), text("test"));
        let remedy = "The row was changed by hand: ingest the run again, replacing it, or drop it.";
        Error::failed(
            ErrorKind::RowUnreadable,
            format!("reading the row of the run {run}"),
            error.to_string(),
            remedy,
        )
    })
}

fn parse(layout: SchemaLayout, row: &Row) -> Result<StoredRow> {
    let info = RunInfo {
        key: key(row)?,
        t0_ms: value(row, "t0_ms")?,
        last_ms: value(row, "last_ms")?,
        last_end_ms: later(row, "last_end_ms")?,
        transactions_end_ms: later(row, "transactions_end_ms")?,
        resolution: resolution(row)?,
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
    if layout == SchemaLayout::Keyed && value::<&str>(row, "run")? != run_text(&info.key) {
        return Err(Error::store(
            "reading the run's row",
            "its column run does not match its framework, test and repeat",
        ));
    }
    if let Some(fault) = info.fault() {
        return Err(Error::store("reading the run's row", fault));
    }
    let number = value(row, layout.number_column())?;
    Ok(StoredRow {
        number,
        rows: layout.rows_of(&info.key, number),
        tables: tables(row)?,
        info,
        labels: value(row, "labels")?,
        injectors: value(row, "injectors")?,
    })
}

/// Returns the value of a column that older schemas lack.
fn later<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<Option<T>> {
    match row.columns().iter().any(|known| known.name() == column) {
        true => value(row, column),
        false => Ok(None),
    }
}

/// Reads the tables of a run's samples.
fn tables(row: &Row) -> Result<Option<SampleTables>> {
    let Some(own) = value(row, "table_name")? else { return Ok(None) };
    let stripes = later(row, "stripes")?.map(Stripes::parse).transpose()?;
    Ok(Some(SampleTables { own, stripes }))
}

/// Reads the unit of a run's times, which is null or absent for runs of earlier versions.
fn resolution(row: &Row) -> Result<Resolution> {
    match later::<i32>(row, "resolution_us")? {
        Some(microseconds) => whole::<_, u32>(microseconds)?.try_into(),
        None => Ok(Resolution::default()),
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
