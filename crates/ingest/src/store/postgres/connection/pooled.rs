//! What other clients leave on a session of the server that a pooler shares among them.

use crate::error::Result;

use super::session::{Session, value};
use crate::store::postgres::schema::names::quoted;

/// Statements of the names that this client gives to its own. Of its own none is left when a transaction begins.
const LEFT: &str = "select name from pg_catalog.pg_prepared_statements where name ~ '^s[0-9]+$'";

/// Takes away prepared statements in whose place this transaction's own have to come.
pub(crate) async fn clear(session: &Session) -> Result<()> {
    let what = "looking for what other clients of a pooler left";
    let mut sql = String::new();
    for row in session.query(what, LEFT, &[]).await? {
        sql += &format!("deallocate {};", quoted(value(&row, "name")?));
    }
    if sql.is_empty() { Ok(()) } else { session.run(what, &sql).await }
}
