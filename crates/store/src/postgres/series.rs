//! The table `series`, which the first run with another series than the CPU creates.

use super::copy::{CopyOut, facts};
use super::schema::layout::{LaterTables, RowsOf, SchemaLayout, table_exists};
use super::schema::rights;
use crate::connection::session::Session;
use crate::series_rows::SeriesRows;
use perfpipe_model::error::Result;
use perfpipe_model::series::server::ServerSeries;

/// Its name.
pub(super) const TABLE: &str = "series";

/// Returns how the table is created.
pub(super) fn later(layout: SchemaLayout) -> LaterTables {
    let run = match layout {
        SchemaLayout::Numbered => "run_id bigint",
        SchemaLayout::Keyed => "run text collate \"C\"",
    };
    let column = run.split(' ').next().unwrap_or_default();
    let made = format!(
        "create table perfpipe.series ({run} not null references perfpipe.runs on delete cascade, \
         name text not null, unit text not null, clock bigint not null, value float8 not null, \
         primary key ({column}, name, clock)); \
         comment on table perfpipe.series is 'Readings of the server other than its CPU, by name.'; \
         comment on column perfpipe.series.unit is 'The unit of the values, as given at the ingest.'; \
         comment on column perfpipe.series.clock is 'Epoch second, as exported.'"
    );
    LaterTables {
        tables: &[TABLE],
        made,
        refusal: (
            "no run of the database has another series than the CPU yet, and this role may not make the table for them",
            "Let the schema's owner store a run with another series once",
        ),
    }
}

/// Reads the series of a run.
pub(super) async fn read(session: &Session, run: &RowsOf) -> Result<Vec<ServerSeries>> {
    let what = "reading a run";
    if !table_exists(session, what, TABLE).await? {
        return Ok(Vec::new());
    }
    rights::check_ownership(session, &[TABLE], false).await?;
    let query = format!("select {} from perfpipe.series where {}", facts::SERIES, run.condition());
    let mut rows = SeriesRows::default();
    CopyOut::begin(session, what, &query).await?.each(|row| facts::get_series(row, &mut rows)).await?;
    Ok(rows.finish())
}
