//! What only a PostgreSQL store has: roles, layouts, limits of the server.

mod citus;
mod grafana;
pub(crate) mod migrate;
mod missing_rows;
mod passwords;
mod placement;
mod pooler;
mod roles;
mod server_limits;
mod sql;
pub(crate) mod untrusted_roles;
