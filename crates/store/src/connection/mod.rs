//! Connections to PostgreSQL: the server's address, the settings, and the verification of its certificate.

mod bounded;
pub mod config;
pub mod connect;
pub mod session;
pub(crate) mod settings;
pub(crate) mod tls;
