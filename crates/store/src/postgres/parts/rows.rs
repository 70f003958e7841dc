//! The rows of the table `parts`, and the tables of samples that a merged run has of its parts.

use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::config::Placement;
use crate::connection::session::{Session, value};
use crate::parts::StoredPart;
use crate::postgres::copy::binary::whole;
use crate::postgres::copy::samples::COLUMNS;
use crate::postgres::locks;
use crate::postgres::samples::read::{SampleTables, Stripes};
use crate::postgres::samples::write::{attach, own_table};
use crate::postgres::schema::engine::ServerEngine;
use crate::postgres::schema::layout::{CREATE_PARTS, LaterTables, table_exists};
use crate::postgres::schema::names::{in_schema, run_text};
use crate::postgres::schema::rights;
use crate::postgres::transaction::{TransactionMode, begin};
use perfpipe_model::counts::part::PartRow;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::PartNumber;

/// The tables of parts.
pub(crate) const TABLES: &[&str] = &["parts", "partfiles"];

/// Returns how they are created.
pub(super) fn later() -> LaterTables {
    LaterTables {
        tables: TABLES,
        made: CREATE_PARTS.to_owned(),
        refusal: (
            "the database has had no parts of runs yet, and this role may not make the tables for them",
            "Let the schema's owner store a part once",
        ),
    }
}

/// A stored part.
pub(super) struct PartRecord {
    pub(super) number: u32,
    /// The table of its samples.
    pub(super) table: Option<String>,
    info: String,
    terms: String,
}

impl PartRecord {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            number: whole(value::<i32>(row, "part")?)?,
            table: value(row, "table_name")?,
            info: value(row, "info")?,
            terms: value(row, "terms")?,
        })
    }

    /// Reads what the row of a run would say.
    pub(super) fn info(&self) -> Result<RunInfo> {
        let info: RunInfo = read(&self.info)?;
        match info.fault() {
            None => Ok(info),
            Some(fault) => Err(Error::store("reading the row of a part", fault)),
        }
    }

    pub(super) fn part(&self) -> Result<StoredPart> {
        Ok(StoredPart { row: read(&self.terms)?, info: self.info()? })
    }

    /// The tables of its samples.
    pub(super) fn tables(&self) -> Option<SampleTables> {
        self.table.clone().map(|own| SampleTables { own, stripes: None })
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::store("reading the row of a part", error))
}

/// Returns true if there are tables of parts. They must be perfpipe's.
pub(super) async fn are_there(session: &Session, what: &str) -> Result<bool> {
    if !table_exists(session, what, "parts").await? {
        return Ok(false);
    }
    rights::check_ownership(session, TABLES, false).await?;
    Ok(true)
}

/// Returns the key, number and requests of each part of all runs.
pub(super) async fn list(session: &Session) -> Result<Vec<(RunKey, PartNumber, u64)>> {
    let what = "reading the parts of runs";
    begin(session, what, TransactionMode::Reading).await?;
    let mut found = Vec::new();
    if are_there(session, what).await? {
        let sql = "select framework, test, repeat, part, parts, requests from perfpipe.parts";
        for row in session.query(what, sql, &[]).await? {
            let count = |column| whole(value::<i32>(&row, column)?);
            let key = RunKey::new(value::<String>(&row, "framework")?, value::<String>(&row, "test")?);
            let number = PartNumber::new(count("part")?, count("parts")?)?;
            let requests = whole(value::<i64>(&row, "requests")?)?;
            found.push((key.with_repeat(count("repeat")?), number, requests));
        }
    }
    session.end(what).await?;
    Ok(found)
}

/// Returns the parts of a run, ascending by number; or only the one of a number.
pub(super) async fn of_run(
    session: &Session,
    what: &str,
    key: &RunKey,
    number: Option<u32>,
) -> Result<Vec<PartRecord>> {
    let number: Option<i32> = number.map(whole).transpose()?;
    let sql = "select part, table_name, info::text as info, terms::text as terms from perfpipe.parts \
               where run = $1 and ($2 is null or part = $2) order by part";
    let values = [(&run_text(key) as _, Type::TEXT), (&number as _, Type::INT4)];
    session.query(what, sql, &values).await?.iter().map(PartRecord::of).collect()
}

/// Inserts the row of a part, without a table of samples. Returns a number that no other one has had.
pub(super) async fn insert(session: &Session, what: &str, row: &PartRow, info: &RunInfo) -> Result<i64> {
    let json = |text: serde_json::Result<String>| text.map_err(|error| Error::store(what, error));
    let (terms, info_text) = (json(serde_json::to_string(row))?, json(serde_json::to_string(info))?);
    let (number, of) = (whole::<_, i32>(row.number.number())?, whole::<_, i32>(row.number.of())?);
    let (repeat, requests) = (whole::<_, i32>(info.key.repeat)?, whole::<_, i64>(info.requests())?);
    let sql = "insert into perfpipe.parts (run, part, parts, framework, test, repeat, requests, info, terms) values \
               ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9::text::jsonb) returning generation";
    let values = [
        (&run_text(&info.key) as _, Type::TEXT),
        (&number as _, Type::INT4),
        (&of as _, Type::INT4),
        (&info.key.framework as _, Type::TEXT),
        (&info.key.test as _, Type::TEXT),
        (&repeat as _, Type::INT4),
        (&requests as _, Type::INT8),
        (&info_text as _, Type::TEXT),
        (&terms as _, Type::TEXT),
    ];
    value(&session.query_one(what, sql, &values).await?, "generation")
}

/// Names the table of a part's samples.
pub(super) async fn name_table(
    session: &Session,
    what: &str,
    (key, number): (&RunKey, u32),
    table: &str,
) -> Result<()> {
    let sql = "update perfpipe.parts set table_name = $3 where run = $1 and part = $2";
    let values = [
        (&run_text(key) as _, Type::TEXT),
        (&whole::<_, i32>(number)? as _, Type::INT4),
        (&table as _, Type::TEXT),
    ];
    session.query(what, sql, &values).await.map(drop)
}

/// Deletes the rows of parts of a run, or of all its parts. The tables of their samples remain.
pub(super) async fn delete(
    session: &Session,
    what: &str,
    key: &RunKey,
    numbers: Option<&[u32]>,
) -> Result<()> {
    let sql = "delete from perfpipe.parts where run = $1 and ($2 is null or part = any ($2))";
    let whole = |numbers: &[u32]| numbers.iter().map(|number| whole::<_, i32>(*number)).collect();
    let numbers: Option<Vec<i32>> = numbers.map(whole).transpose()?;
    let values = [(&run_text(key) as _, Type::TEXT), (&numbers as _, Type::INT4_ARRAY)];
    session.query(what, sql, &values).await.map(drop)
}

/// Returns the number that [`insert`] returned for the part that is stored; `None` if there is none.
pub(crate) async fn generation(
    session: &Session,
    what: &str,
    key: &RunKey,
    number: u32,
) -> Result<Option<i64>> {
    if !are_there(session, what).await? {
        return Ok(None);
    }
    let sql = "select generation from perfpipe.parts where run = $1 and part = $2";
    let values = [(&run_text(key) as _, Type::TEXT), (&whole::<_, i32>(number)? as _, Type::INT4)];
    let rows = session.query(what, sql, &values).await?;
    rows.first().map(|row| value(row, "generation")).transpose()
}

/// The action that error messages name.
const MERGING: &str = "merging the samples of the parts";

/// The tables of the parts' samples, in the order of the parts; none if the samples are not stored.
pub(crate) struct MergedParts {
    pub(crate) tables: Vec<String>,
}

impl MergedParts {
    /// Makes the tables those of the run, and removes the parts, within the transaction that stores the run.
    pub(crate) async fn join(
        &self,
        session: &Session,
        key: &RunKey,
        engine: ServerEngine,
    ) -> Result<Option<SampleTables>> {
        delete(session, MERGING, key, None).await?;
        match (self.tables.as_slice(), engine) {
            ([], _) => Ok(None),
            ([first, others @ ..], ServerEngine::Postgres) => {
                chain_tables(session, key, first, others).await.map(Some)
            }
            (tables, ServerEngine::Citus) => copy_tables(session, key, tables, engine).await.map(Some),
        }
    }
}

/// Makes the table of the first part the run's own one, and the others its children.
async fn chain_tables(
    session: &Session,
    key: &RunKey,
    first: &str,
    others: &[String],
) -> Result<SampleTables> {
    let own = locks::rename(session, key, first, "").await?;
    let mut tables = Vec::with_capacity(others.len());
    for (number, other) in (2..).zip(others) {
        let table = locks::rename(session, key, other, &format!("_piece{number}")).await?;
        attach(session, &own, &table).await?;
        tables.push(table);
    }
    let stripes = (!tables.is_empty()).then_some(Stripes::Chained { then: tables });
    Ok(SampleTables { own, stripes })
}

/// Copies the rows of all tables to one, on a cluster, where a table can have no children.
async fn copy_tables(
    session: &Session,
    key: &RunKey,
    tables: &[String],
    engine: ServerEngine,
) -> Result<SampleTables> {
    let mut loading = own_table(session, engine, Placement::default()).await?;
    if are_wide(session, tables).await? {
        loading.widen(session).await?;
    }
    let to = in_schema(&loading.table);
    for table in tables {
        let sql = format!("insert into {to} ({COLUMNS}) select {COLUMNS} from {}", in_schema(table));
        session.run(MERGING, &sql).await?;
    }
    loading.index(session).await?;
    for table in tables {
        locks::drop_tables(session, &SampleTables { own: table.clone(), stripes: None }).await?;
    }
    Ok(SampleTables { own: locks::rename(session, key, &loading.table, "").await?, stripes: None })
}

/// Returns true if times of requests are 64 bits wide in a table.
async fn are_wide(session: &Session, tables: &[String]) -> Result<bool> {
    let sql = "select exists (select from pg_catalog.pg_attribute a \
               join pg_catalog.pg_class c on c.oid = a.attrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
               where n.nspname = 'perfpipe' and c.relname::text = any ($1) and a.attname = 'elapsed' \
               and a.atttypid = 'int8'::pg_catalog.regtype) as wide";
    value(&session.query_one(MERGING, sql, &[(&tables as _, Type::TEXT_ARRAY)]).await?, "wide")
}
