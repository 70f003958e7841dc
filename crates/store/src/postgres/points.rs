//! The table `points`, which the first write of points creates.

use std::collections::BTreeSet;

use tokio_postgres::types::Type;

use super::PostgresStore;
use super::copy::binary::whole;
use super::schema::names::LOCK;
use super::schema::{layout, rights};
use super::transaction::{self, TransactionMode, begin};
use crate::connection::session::{Session, value};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::points::{Point, PointKey};

/// Creates the table. The columns beside the key are for queries; the whole point is in `point`.
const MADE: &str = "create table if not exists perfpipe.points (tool text not null, framework text not null, \
     test text not null, concurrency integer, workers integer, repeat integer not null, requests bigint, \
     successes bigint, throughput double precision, answers_per_second double precision, aborted text, \
     point jsonb not null)";

/// The condition on the key.
const OF_KEY: &str = "tool = $1 and framework = $2 and test = $3 and concurrency is not distinct from $4 \
     and workers is not distinct from $5 and repeat = $6";

/// Selects the rows that another program than perfpipe changed: the columns of the key, or the counts, are not those
/// of the point.
const UNLIKE: &str = "select pg_catalog.format('%s %s by %s', framework, test, tool) as point from perfpipe.points \
     where (tool, framework, test) is distinct from \
           (point->'key'->>'tool', point->'key'->>'framework', point->'key'->>'test') \
        or concurrency::text is distinct from point->'key'->>'concurrency' \
        or workers::text is distinct from point->'key'->>'workers' \
        or repeat::text is distinct from point->'key'->>'repeat' \
        or requests::text is distinct from point->'figures'->>'requests' \
        or successes::text is distinct from point->'figures'->>'successes' order by 1";

const TABLE: [&str; 1] = ["points"];

impl PostgresStore {
    /// Stores points, all or none of them. Each replaces an earlier one of its key.
    ///
    /// # Errors
    /// If the role lacks the rights, or the server fails.
    pub async fn put_points(&self, points: &[Point]) -> Result<()> {
        let session = self.session().await?;
        let engine = rights::check_write(&session).await?;
        layout::ensure(&session, engine).await?;
        let what = "storing points";
        begin(&session, what, TransactionMode::Writing).await?;
        if !exists(&session, what).await? {
            transaction::wait_for_lock(&session, what, LOCK, "the lock on making the schema").await?;
            session.run(what, &(MADE.to_owned() + &engine.on_one_node("points"))).await?;
        }
        lock_table(&session, what).await?;
        for point in points {
            delete(&session, what, &point.key).await?;
            insert(&session, what, point).await?;
        }
        session.commit(what, "the points may be stored").await?;
        self.put_back(session);
        Ok(())
    }

    /// Returns the stored points.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn points(&self) -> Result<Vec<Point>> {
        let session = self.session().await?;
        let what = "reading points";
        begin(&session, what, TransactionMode::Reading).await?;
        let mut points = Vec::new();
        if exists(&session, what).await? {
            rights::check_ownership(&session, &TABLE, false).await?;
            for row in session.query(what, "select point::text as point from perfpipe.points", &[]).await? {
                let text: String = value(&row, "point")?;
                points.push(serde_json::from_str(&text).map_err(|problem| Error::store(what, problem))?);
            }
        }
        session.end(what).await?;
        self.put_back(session);
        Ok(points)
    }

    /// Returns the keys of rows whose columns differ from the point in them, as they are printed.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn unlike_points(&self) -> Result<Vec<String>> {
        let session = self.session().await?;
        let what = "reading points";
        begin(&session, what, TransactionMode::Reading).await?;
        let mut unlike = Vec::new();
        if exists(&session, what).await? {
            rights::check_ownership(&session, &TABLE, false).await?;
            for row in session.query(what, UNLIKE, &[]).await? {
                unlike.push(value(&row, "point")?);
            }
        }
        session.end(what).await?;
        self.put_back(session);
        Ok(unlike)
    }

    /// Removes points; returns how many there were.
    ///
    /// # Errors
    /// If the role lacks the rights, or the server fails.
    pub async fn drop_points(&self, keys: &BTreeSet<PointKey>) -> Result<usize> {
        let session = self.session().await?;
        let what = "dropping points";
        begin(&session, what, TransactionMode::Writing).await?;
        let mut dropped = 0;
        if exists(&session, what).await? {
            lock_table(&session, what).await?;
            for key in keys {
                dropped += delete(&session, what, key).await?;
            }
        }
        session.commit(what, "the points may be dropped").await?;
        self.put_back(session);
        Ok(dropped)
    }
}

/// Returns true if the table exists.
async fn exists(session: &Session, what: &str) -> Result<bool> {
    let sql = "select pg_catalog.to_regclass('perfpipe.points') is not null as there";
    value(&session.query_one(what, sql, &[]).await?, "there")
}

/// Locks the table against other writers until the transaction ends, and checks that it is perfpipe's.
async fn lock_table(session: &Session, what: &str) -> Result<()> {
    rights::check_ownership(session, &TABLE, true).await?;
    session.run(what, "lock table perfpipe.points in share row exclusive mode").await
}

/// The numbers of a key as the table has them: concurrency, workers, repeat.
fn numbers(key: &PointKey) -> Result<(Option<i32>, Option<i32>, i32)> {
    Ok((key.concurrency.map(whole).transpose()?, key.workers.map(whole).transpose()?, whole(key.repeat)?))
}

async fn delete(session: &Session, what: &str, key: &PointKey) -> Result<usize> {
    let (concurrency, workers, repeat) = numbers(key)?;
    let sql = format!("delete from perfpipe.points where {OF_KEY} returning 1 as gone");
    let values = [
        (&key.tool as _, Type::TEXT),
        (&key.framework as _, Type::TEXT),
        (&key.test as _, Type::TEXT),
        (&concurrency as _, Type::INT4),
        (&workers as _, Type::INT4),
        (&repeat as _, Type::INT4),
    ];
    Ok(session.query(what, &sql, &values).await?.len())
}

async fn insert(session: &Session, what: &str, point: &Point) -> Result<()> {
    let (concurrency, workers, repeat) = numbers(&point.key)?;
    let Point { key, figures } = point;
    let (requests, successes) = (
        figures.requests.map(whole::<u64, i64>).transpose()?,
        figures.successes.map(whole::<u64, i64>).transpose()?,
    );
    let (throughput, rate) = (figures.throughput(), figures.answers_per_second);
    let text = serde_json::to_string(point).map_err(|problem| Error::store(what, problem))?;
    let sql =
        "insert into perfpipe.points values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text::jsonb)";
    let values = [
        (&key.tool as _, Type::TEXT),
        (&key.framework as _, Type::TEXT),
        (&key.test as _, Type::TEXT),
        (&concurrency as _, Type::INT4),
        (&workers as _, Type::INT4),
        (&repeat as _, Type::INT4),
        (&requests as _, Type::INT8),
        (&successes as _, Type::INT8),
        (&throughput as _, Type::FLOAT8),
        (&rate as _, Type::FLOAT8),
        (&figures.aborted as _, Type::TEXT),
        (&text as _, Type::TEXT),
    ];
    session.query(what, sql, &values).await.map(drop)
}
