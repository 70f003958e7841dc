//! Connections to PostgreSQL: the server's address, the settings, and the verification of its certificate.

mod bounded;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod tls;
