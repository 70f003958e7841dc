//! Copies a run's samples, on further connections beside the writer's own where there are many of them.

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::connection::config::{CopySpread, PostgresConfig};
use crate::connection::connect;
use crate::connection::placement::Placement;
use crate::connection::session::{Session, value};
use crate::error::{Error, Result};
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::store::postgres::copy::encode::Rows;
use crate::store::postgres::copy::samples;
use crate::store::postgres::locks;
use crate::store::postgres::pooled;
use crate::store::postgres::schema::engine::Engine;
use crate::store::postgres::schema::names::in_schema;
use crate::store::postgres::transaction::{Mode, begin};

use super::loading::{COPYING, LoadingTable};
use super::stripes::{RowOrder, SampleTables, Stripes};

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
    /// The table of the present stripe, 0 for the run's own one, and the number of rows that it still takes.
    turn: usize,
    left: u64,
}

impl SampleCopy {
    /// Creates the run's own table in the writer's transaction.
    pub(crate) async fn begin(
        session: &Session,
        config: &PostgresConfig,
        engine: Engine,
        placement: Placement,
    ) -> Result<Self> {
        let own = own_table(session, engine, placement).await?;
        // A distributed table can't have tables of other connections as children.
        let (others, spread) = (Vec::new(), engine == Engine::Citus);
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
    engine: Engine,
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
    /// Its number on the server, which tells later whether it is still open.
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
        begin(&session, COPYING, Mode::Writing).await?;
        pooled::clear_pooled(&session).await?;
        if locks::try_lock(&session, COPYING, &self.lock).await? {
            return Ok(None);
        }
        let mut loading = LoadingTable::begin(
            &session,
            format!("loading {} {number}", self.number),
            Engine::Postgres,
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
