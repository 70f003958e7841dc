//! A new table that samples are copied to. It has a temporary name until the run is complete.

use crate::connection::placement::Placement;
use crate::connection::session::Session;
use crate::error::Result;
use crate::sample::resolution::Resolution;
use crate::store::postgres::copy::CopyIn;
use crate::store::postgres::copy::encode::Rows;
use crate::store::postgres::copy::samples::COLUMNS;
use crate::store::postgres::locks;
use crate::store::postgres::schema::engine::Engine;
use crate::store::postgres::schema::names::{in_schema, quoted};

/// The size in bytes after which a COPY is ended and the next one begun. A server that fails during a COPY reports it
/// only at the end, so this is the amount that may be sent in vain.
const STRETCH: usize = 64 << 20;

/// The action that error messages name.
pub(super) const COPYING: &str = "copying samples to Postgres (the run is not stored)";

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
    pub(crate) async fn begin(
        session: &Session,
        table: String,
        engine: Engine,
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
    pub(super) fn has_lines(&self) -> bool {
        self.placement.by_second
    }

    /// Copies rows to the table.
    pub(super) async fn write(&mut self, session: &Session, rows: Rows) -> Result<()> {
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
    pub(super) async fn end_copy(&mut self, session: &Session) -> Result<()> {
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
