//! Where the samples of a new run lie on the nodes of a cluster.

use tokio_postgres::types::Type;

use crate::connection::placement::Placement;
use crate::connection::session::{Session, value};
use crate::error::{Error, ErrorKind, Result};
use crate::run::key::RunKey;
use crate::store::postgres::runs;
use crate::store::postgres::schema::engine::Engine;
use crate::store::postgres::schema::layout;
use crate::store::postgres::transaction::{Mode, begin};

use super::stripes::Stripes;

/// The action that error messages name.
const WHAT: &str = "asking where the samples lie";

/// Returns the place that was asked for, otherwise that of the samples of the run that is replaced. It asks in a
/// transaction of its own, before the writer's begins, which must hold no lock on `runs` during a long load.
///
/// # Errors
/// If a place was asked for that the server does not have.
pub(crate) async fn choose_placement(
    session: &Session,
    engine: Engine,
    told: Option<Placement>,
    key: Option<&RunKey>,
) -> Result<Placement> {
    match (engine, told, key) {
        (Engine::Postgres, Some(_), _) => Err(Error::refused(
            ErrorKind::NotACluster,
            "the database is not a Citus cluster, so samples can't be placed on its nodes",
            "Name the coordinator of a cluster, or leave the place out.",
        )),
        (Engine::Citus, Some(told), _) => {
            if told.columnar {
                begin(session, WHAT, Mode::Reading).await?;
                check_columnar(session).await?;
                session.end(WHAT).await?;
            }
            Ok(told)
        }
        (Engine::Citus, None, Some(key)) => stored_placement(session, key).await,
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

/// Returns the place of a stored run's samples. A run without any, or whose row can't be read, tells nothing.
async fn stored_placement(session: &Session, key: &RunKey) -> Result<Placement> {
    let Some(layout) = layout::open(session, WHAT, Mode::Reading, &["runs"]).await? else {
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
