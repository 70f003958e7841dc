//! Cleans up what other clients left in a server session that a connection pooler shares.

use crate::error::Result;

use crate::connection::session::{Session, value};
use crate::store::postgres::schema::names::quoted;

/// Selects prepared statements with the names that this client uses. Its own ones are gone when a transaction begins.
const LEFT: &str = "select name from pg_catalog.pg_prepared_statements where name ~ '^s[0-9]+$'";

/// Deallocates prepared statements whose names this transaction needs.
pub(crate) async fn clear_pooled(session: &Session) -> Result<()> {
    let what = "looking for what other clients of a pooler left";
    let mut sql = String::new();
    for row in session.query(what, LEFT, &[]).await? {
        sql += &format!("deallocate {};", quoted(value(&row, "name")?));
    }
    if sql.is_empty() { Ok(()) } else { session.run(what, &sql).await }
}
