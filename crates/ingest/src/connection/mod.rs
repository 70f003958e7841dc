//! Connections to PostgreSQL: the server's address, the settings, and the verification of its certificate.

mod bounded;
pub(crate) mod certificate;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod keepalive;
pub(crate) mod passfile;
pub(crate) mod placement;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod tls;
pub(crate) mod verifier;
