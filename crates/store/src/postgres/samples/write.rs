//! Copies a run's samples, on further connections beside the writer's own where there are many of them.
//!
//! They are copied to new tables that have temporary names until the run is complete ([`LoadingTable`]). Tables that a
//! killed writer left are dropped ([`sweep_leftovers`]). They are named by the number of the writer's transaction, which the
//! server knows to be open or not, even after a crash. No lock of a session is needed, which a pooler would not keep.

use std::time::Duration;

use futures_util::future::try_join_all;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::read::{RowOrder, SampleTables, Stripes};
use crate::connection::config::{CopySpread, Placement, PostgresConfig};
use crate::connection::connect;
use crate::connection::session::{Session, value};
use crate::postgres::copy::CopyIn;
use crate::postgres::copy::binary::Rows;
use crate::postgres::copy::samples::{self, COLUMNS};
use crate::postgres::schema::engine::ServerEngine;
use crate::postgres::schema::names::{in_schema, quoted};
use crate::postgres::schema::{layout, rights};
use crate::postgres::transaction::{self, TransactionMode, begin, waiting};
use crate::postgres::{locks, runs};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::sample::resolution::Resolution;

/// The time in which a further connection must be ready. A pooler may have none to give until others end.
const PATIENCE: Duration = Duration::from_secs(3);

/// The tables that a run's samples are copied to.
pub(crate) struct SampleCopy {
    config: PostgresConfig,
    own: LoadingTable,
    /// The other tables, each on a connection and in a transaction of its own.
    others: Vec<(Session, LoadingTable)>,
    /// True once further connections were opened, or at least tried.
    spread: bool,
    /// The number of rows that were given so far.
    given: u64,
    /// The number of rows before the first stripe: 0, since further connections are opened before the first row.
    first: u64,
    /// The table of the present stripe, 0 for the run's own one, and the number of rows that still go to it.
    turn: usize,
    left: u64,
}

impl SampleCopy {
    /// Creates the run's own table in the writer's transaction.
    pub(crate) async fn begin(
        session: &Session,
        config: &PostgresConfig,
        engine: ServerEngine,
        placement: Placement,
    ) -> Result<Self> {
        let own = own_table(session, engine, placement).await?;
        // A distributed table can't have tables of other connections as children.
        let (others, spread) = (Vec::new(), engine == ServerEngine::Citus);
        Ok(Self { config: config.clone(), own, others, spread, given: 0, first: 0, turn: 0, left: 0 })
    }

    /// True if each row has the number of its sample and its second.
    pub(crate) fn have_lines(&self) -> bool {
        self.own.has_lines()
    }

    /// Copies rows, which must come in the order of the log.
    pub(crate) async fn write(&mut self, session: &Session, mut rows: Rows) -> Result<()> {
        let CopySpread { connections, stripe } = self.config.spread;
        if !self.spread && connections > 1 {
            self.spread(session, connections - 1, rows.wide).await?;
        }
        if self.have_lines() {
            rows = samples::numbered(rows, self.given);
        }
        self.given += rows.rows;
        if self.others.is_empty() {
            return self.own.write(session, rows).await;
        }
        while rows.rows > 0 {
            if self.left == 0 {
                self.turn = (self.turn + 1) % (self.others.len() + 1);
                self.left = stripe;
            }
            let part = rows.split_to(self.left);
            self.left -= part.rows;
            match self.turn.checked_sub(1).and_then(|other| self.others.get_mut(other)) {
                Some((session, loading)) => loading.write(session, part).await?,
                None => self.own.write(session, part).await?,
            }
        }
        Ok(())
    }

    /// Opens up to `wanted` further connections, and begins with the first stripe. A server or a pooler that has fewer
    /// to give is no error: the samples take longer then.
    async fn spread(&mut self, session: &Session, wanted: usize, wide: bool) -> Result<()> {
        self.spread = true;
        self.own.end_copy(session).await?;
        let loader = LoadingTransaction::register(session).await?;
        for number in 1..=wanted {
            let opening = loader.open(&self.config, session.patience(), number, wide);
            match tokio::time::timeout(PATIENCE, opening).await {
                Ok(Ok(Some(other))) => self.others.push(other),
                _ => break,
            }
        }
        (self.first, self.turn, self.left) = (self.given, 0, self.config.spread.stripe);
        Ok(())
    }

    /// Ends the present COPY of the writer's own connection, since no other statement is possible during it.
    pub(crate) async fn end_own_copy(&mut self, session: &Session) -> Result<()> {
        self.own.end_copy(session).await
    }

    /// Ends the copying, and checks that all counted samples were stored.
    pub(crate) async fn finish(mut self, session: &Session, info: &RunInfo) -> Result<CopiedSamples> {
        self.own.end_copy(session).await?;
        try_join_all(self.others.iter_mut().map(|(session, loading)| loading.end_copy(session))).await?;
        let others: u64 = self.others.iter().map(|(_, loading)| loading.rows).sum();
        let (counted, stored) = (info.requests() + info.transactions, self.own.rows + others);
        if stored != counted {
            let problem = format!("{counted} samples were counted, and {stored} were stored");
            return Err(Error::store("storing the samples", problem));
        }
        // Tables whose turn did not come vanish with their transactions.
        self.others.retain(|(_, loading)| loading.rows > 0);
        let Self { own, others, first, config, .. } = self;
        Ok(CopiedSamples { own, others, first, stripe: config.spread.stripe })
    }
}

/// Creates the run's own table in the writer's transaction.
pub(crate) async fn own_table(
    session: &Session,
    engine: ServerEngine,
    placement: Placement,
) -> Result<LoadingTable> {
    let what = "making a table for the samples";
    let row = session.query_one(what, "select pg_catalog.pg_backend_pid() as process", &[]).await?;
    // Run tables have an underscore in their names, and no other open transaction has this process number.
    LoadingTable::begin(session, format!("loading {}", value::<i32>(&row, "process")?), engine, placement)
        .await
}

/// The transaction of the writer, as its further connections know it.
struct LoadingTransaction {
    /// Its number on the server, by which it is known later whether it is still open.
    number: i64,
    /// The name of a lock that it holds.
    lock: String,
}

impl LoadingTransaction {
    async fn register(session: &Session) -> Result<Self> {
        let sql = "select pg_catalog.txid_current() as number, pg_catalog.clock_timestamp()::text as clock";
        let row = session.query_one(COPYING, sql, &[]).await?;
        let (number, clock): (i64, String) = (value(&row, "number")?, value(&row, "clock")?);
        let lock = format!("perfpipe loading {number} {clock}");
        locks::try_lock(session, COPYING, &lock).await?;
        Ok(Self { number, lock })
    }

    /// Opens a connection, and creates the table of this number on it. Returns `None` if it does not lead to the
    /// writer's server, as may be where a name or a balancer stands for several.
    async fn open(
        &self,
        config: &PostgresConfig,
        patience: Duration,
        number: usize,
        wide: bool,
    ) -> Result<Option<(Session, LoadingTable)>> {
        let session = connect::open(config).await?.with_patience(patience);
        begin(&session, COPYING, TransactionMode::Writing).await?;
        transaction::clear_pooled(&session).await?;
        if locks::try_lock(&session, COPYING, &self.lock).await? {
            return Ok(None);
        }
        let mut loading = LoadingTable::begin(
            &session,
            format!("loading {} {number}", self.number),
            ServerEngine::Postgres,
            Placement::default(),
        )
        .await?;
        if wide {
            loading.widen(&session).await?;
        }
        Ok(Some((session, loading)))
    }
}

/// Samples that were copied, and that nobody sees yet.
pub(crate) struct CopiedSamples {
    own: LoadingTable,
    others: Vec<(Session, LoadingTable)>,
    first: u64,
    stripe: u64,
}

impl CopiedSamples {
    /// Creates the index of the run's own table.
    pub(crate) async fn index_own(&self, session: &Session) -> Result<()> {
        self.own.index(session).await
    }

    /// Creates the indexes of the other tables.
    pub(crate) async fn index_others(&self) -> Result<()> {
        try_join_all(self.others.iter().map(|(session, loading)| loading.index(session))).await.map(drop)
    }

    /// Gives all tables their final names, those of the key with this ending, and makes one of them. Readers see it once
    /// the writer's transaction commits.
    pub(crate) async fn join(self, session: &Session, key: &RunKey, ending: &str) -> Result<SampleTables> {
        let own = locks::rename(session, key, &self.own.table, ending).await?;
        try_join_all(self.others.iter().map(|(session, _)| session.run(COPYING, "commit"))).await?;
        let mut tables = Vec::with_capacity(self.others.len());
        for (number, (_, loading)) in (1..).zip(&self.others) {
            let table =
                locks::rename(session, key, &loading.table, &format!("{ending}_stripe{number}")).await?;
            attach(session, &own, &table).await?;
            tables.push(table);
        }
        let stripes = match tables.is_empty() {
            true => self.own.has_lines().then_some(Stripes::Sorted { by: RowOrder::Line }),
            false => Some(Stripes::Dealt { first: self.first, rows: self.stripe, tables }),
        };
        Ok(SampleTables { own, stripes })
    }
}

/// Makes a table a child of the run's own one, so that its rows are read with it.
pub(crate) async fn attach(session: &Session, own: &str, table: &str) -> Result<()> {
    let (own, table) = (in_schema(own), in_schema(table));
    let sql = format!(
        "alter table {table} inherit {own}; comment on table {table} is 'Some of the samples of a run, which are read \
         with its own table: the parent of this one.'"
    );
    session.run("joining the tables of the samples", &sql).await
}

/// The size in bytes after which a COPY is ended and the next one begun. A server that fails during a COPY reports it
/// only at the end, so this is the amount that may be sent in vain.
const STRETCH: usize = 64 << 20;

/// The action that error messages name.
const COPYING: &str = "copying samples to Postgres (the run is not stored)";

/// The table and the COPY in progress.
pub(crate) struct LoadingTable {
    pub(crate) table: String,
    copy: Option<CopyIn>,
    /// The number of bytes sent in the present COPY.
    sent: usize,
    /// The number of rows that ended COPYs stored.
    pub(super) rows: u64,
    /// True if times of requests are 64 bits wide.
    wide: bool,
    placement: Placement,
}

/// The columns, before all others, of samples that are dealt out by their second.
const LINE_COLUMNS: &str = "  line bigint not null,\n  second int not null,\n";

/// Their comments.
const ON_LINES: &str = "
  comment on column {table}.line is 'The number of the sample in the order of the log, from 0.';
  comment on column {table}.second is 'The second of t_ms, from 0. The rows are dealt out by it.';";

impl LoadingTable {
    /// Creates the table.
    async fn begin(
        session: &Session,
        table: String,
        engine: ServerEngine,
        placement: Placement,
    ) -> Result<Self> {
        let (lines, comments) = if placement.by_second { (LINE_COLUMNS, ON_LINES) } else { ("", "") };
        let using = if placement.columnar { " using columnar" } else { "" };
        let sql = include_str!("table.sql").to_owned() + comments;
        let sql =
            sql.replace("{table}", &in_schema(&table)).replace("{lines}", lines).replace("{using}", using);
        session.run("making a table for the samples", &(sql + &engine.place(&table, placement))).await?;
        Ok(Self { table, copy: None, sent: 0, rows: 0, wide: false, placement })
    }

    /// True if each row has the number of its sample and its second.
    fn has_lines(&self) -> bool {
        self.placement.by_second
    }

    /// Copies rows to the table.
    async fn write(&mut self, session: &Session, rows: Rows) -> Result<()> {
        self.sent += rows.bytes.len();
        if rows.wide {
            self.widen(session).await?;
        }
        let mut copy = match self.copy.take() {
            Some(copy) => copy,
            None => {
                let lines = if self.has_lines() { "line, second, " } else { "" };
                let columns = format!("{lines}{COLUMNS}");
                // Rows that are frozen now need not be rewritten by a vacuum later. Columns are not rewritten.
                let options = if self.placement.columnar { "" } else { ", freeze" };
                CopyIn::begin(session, COPYING, &in_schema(&self.table), &columns, options).await?
            }
        };
        copy.send(session, rows).await?;
        self.copy = Some(copy);
        if self.sent < STRETCH { Ok(()) } else { self.end_copy(session).await }
    }

    /// Makes the table's times 64 bits wide, before its first row.
    pub(crate) async fn widen(&mut self, session: &Session) -> Result<()> {
        if std::mem::replace(&mut self.wide, true) {
            return Ok(());
        }
        let columns =
            ["elapsed", "latency", "connect"].map(|name| format!("alter column {name} type bigint"));
        let sql = format!("alter table {} {}", in_schema(&self.table), columns.join(", "));
        session.run("making a table for the samples", &sql).await
    }

    /// Ends the present COPY, if there is one.
    async fn end_copy(&mut self, session: &Session) -> Result<()> {
        self.sent = 0;
        if let Some(copy) = self.copy.take() {
            self.rows += copy.finish(session).await?;
        }
        Ok(())
    }

    /// Creates a small index by time, since samples are nearly in its order, and by line. A table in columns knows the
    /// least and the greatest value of each part by itself, and takes none.
    pub(crate) async fn index(&self, session: &Session) -> Result<()> {
        if self.placement.columnar {
            return Ok(());
        }
        let columns = if self.has_lines() { "t_ms, line" } else { "t_ms" };
        let (index, table) = (quoted(&locks::index_of(&self.table)), in_schema(&self.table));
        let sql = format!("create index {index} on {table} using brin ({columns})");
        session.run("indexing the samples", &sql).await
    }
}

/// The comments on the times of a table, whose unit is not a ms.
const IN_UNIT: &str = "
  comment on column {table}.elapsed is 'The elapsed time of the request, in units of {unit} µs: divided by {per_ms}, ms.';
  comment on column {table}.latency is 'Time to first byte, in units of {unit} µs: divided by {per_ms}, ms.';
  comment on column {table}.connect is 'Time to connect, in units of {unit} µs: divided by {per_ms}, ms.';";

/// Names the unit of a run's times in the comments of its table.
pub(crate) async fn name_unit(session: &Session, table: &str, unit: Resolution) -> Result<()> {
    if !unit.is_fine() {
        return Ok(());
    }
    let sql = IN_UNIT.replace("{unit}", &unit.microseconds().to_string());
    let sql = sql.replace("{per_ms}", &unit.per_ms().to_string()).replace("{table}", &in_schema(table));
    session.run("naming the unit of the times", &sql).await
}

/// The time to wait for somebody who looks at such a table.
const WAIT: Duration = Duration::from_secs(1);

/// Selects the tables of writers that are gone. A number from this transaction's on belongs to a younger writer, or to
/// the server that a dump was taken of. Numbers that the server has forgotten are old.
const FIND: &str = "
  with mine as materialized (select pg_catalog.txid_current() as number)
  select c.relname::text as name
  from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    cross join mine
  where n.nspname = 'perfpipe' and c.relkind = 'r'
    and case
      when c.relname::text !~ '^loading [0-9]{1,18} [0-9]{1,9}$' then false
      when not pg_catalog.pg_has_role(c.relowner, 'usage') then false
      when pg_catalog.split_part(c.relname::text, ' ', 2)::bigint >= mine.number then false
      else coalesce(pg_catalog.txid_status(pg_catalog.split_part(c.relname::text, ' ', 2)::bigint), 'forgotten')
        <> 'in progress'
    end
  order by 1";

/// Drops what killed writers left, outside any transaction. Tables of roles that this one is no member of remain, and
/// so do those that somebody is reading; a later call drops them.
pub(crate) async fn sweep_leftovers(session: &Session) -> Result<()> {
    let what = "looking for what a killed ingest left";
    begin(session, what, TransactionMode::Writing).await?;
    let found = session.query(what, FIND, &[]).await?;
    let names = found.iter().map(|row| value::<String>(row, "name")).collect::<Result<Vec<_>>>()?;
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        rights::check_ownership(session, &names, true).await?;
    }
    session.end(what).await?;
    for name in names {
        drop_table(session, &name).await?;
    }
    Ok(())
}

/// Drops a table unless it is in use or gone. A writer that committed after all has given it another name.
async fn drop_table(session: &Session, name: &str) -> Result<()> {
    let what = "dropping what a killed ingest left";
    begin(session, what, TransactionMode::Writing).await?;
    let table = in_schema(name);
    session.run(what, &waiting(WAIT)).await?;
    let sql = format!("lock table {table} in access exclusive mode; drop table {table}");
    match session.client().batch_execute(&sql).await {
        Ok(()) => session.run(what, "commit").await,
        Err(error) => match session.code(&error).as_ref() {
            Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::UNDEFINED_TABLE) => session.end(what).await,
            _ => Err(session.error(what, &error)),
        },
    }
}

/// The action that error messages name.
const WHAT: &str = "asking where the samples lie";

/// Returns the place that was asked for, otherwise that of the samples of the run that is replaced. It asks in a
/// transaction of its own, before the writer's begins, which must hold no lock on `runs` during a long load.
///
/// # Errors
/// If a place was asked for that the server does not have.
pub(crate) async fn choose_placement(
    session: &Session,
    engine: ServerEngine,
    requested: Option<Placement>,
    key: Option<&RunKey>,
) -> Result<Placement> {
    match (engine, requested, key) {
        (ServerEngine::Postgres, Some(_), _) => Err(Error::refused(
            ErrorKind::NotACluster,
            "the database is not a Citus cluster, so samples can't be placed on its nodes",
            "Name the coordinator of a cluster, or leave the place out.",
        )),
        (ServerEngine::Citus, Some(placement), _) => {
            if placement.columnar {
                begin(session, WHAT, TransactionMode::Reading).await?;
                check_columnar(session).await?;
                session.end(WHAT).await?;
            }
            Ok(placement)
        }
        (ServerEngine::Citus, None, Some(key)) => stored_placement(session, key).await,
        _ => Ok(Placement::default()),
    }
}

async fn check_columnar(session: &Session) -> Result<()> {
    let sql = "select exists (select from pg_catalog.pg_am where amname = 'columnar') as there";
    if value(&session.query_one(WHAT, sql, &[]).await?, "there")? {
        return Ok(());
    }
    Err(Error::refused(
        ErrorKind::NoColumnar,
        "the database can't store tables in columns: it lacks the extension citus_columnar",
        "Run in it, at the coordinator: create extension citus_columnar.",
    ))
}

/// Returns the place of a stored run's samples. A run without any, or whose row can't be read, has the default one.
async fn stored_placement(session: &Session, key: &RunKey) -> Result<Placement> {
    let Some(layout) = layout::open(session, WHAT, TransactionMode::Reading, &["runs"]).await? else {
        return Ok(Placement::default());
    };
    let stored = runs::find(session, layout, key).await.ok().flatten();
    let Some(tables) = stored.and_then(|stored| stored.tables) else {
        session.end(WHAT).await?;
        return Ok(Placement::default());
    };
    let sql = "select exists (select from pg_catalog.pg_class c \
               join pg_catalog.pg_namespace n on n.oid = c.relnamespace join pg_catalog.pg_am a on a.oid = c.relam \
               where n.nspname = 'perfpipe' and c.relname = $1::name and a.amname = 'columnar') as columnar";
    let row = session.query_one(WHAT, sql, &[(&tables.own, Type::TEXT)]).await?;
    session.end(WHAT).await?;
    let by_second = matches!(tables.stripes, Some(Stripes::Sorted { .. }));
    Ok(Placement { by_second, columnar: value(&row, "columnar")? })
}
