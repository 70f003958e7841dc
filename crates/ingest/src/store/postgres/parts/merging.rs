//! The samples of a run that is merged of its parts.

use tokio_postgres::types::Type;

use crate::connection::placement::Placement;
use crate::connection::session::{Session, value};
use crate::error::Result;
use crate::run::key::RunKey;
use crate::store::postgres::copy::samples::COLUMNS;
use crate::store::postgres::locks;
use crate::store::postgres::samples::spread::{attach, own_table};
use crate::store::postgres::samples::stripes::{SampleTables, Stripes};
use crate::store::postgres::schema::engine::Engine;
use crate::store::postgres::schema::names::in_schema;

use super::rows;

/// The action that error messages name.
const MERGING: &str = "merging the samples of the parts";

/// The tables of the parts' samples, in the order of the parts; none if the samples are not stored.
pub(in crate::store::postgres) struct MergedParts {
    pub(in crate::store::postgres) tables: Vec<String>,
}

impl MergedParts {
    /// Makes the tables those of the run, and removes the parts, within the transaction that stores the run.
    pub(in crate::store::postgres) async fn join(
        &self,
        session: &Session,
        key: &RunKey,
        engine: Engine,
    ) -> Result<Option<SampleTables>> {
        rows::delete(session, MERGING, key, None).await?;
        match (self.tables.as_slice(), engine) {
            ([], _) => Ok(None),
            ([first, others @ ..], Engine::Postgres) => {
                chain_tables(session, key, first, others).await.map(Some)
            }
            (tables, Engine::Citus) => copy_tables(session, key, tables, engine).await.map(Some),
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
    engine: Engine,
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
