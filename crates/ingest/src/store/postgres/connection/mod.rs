//! Connections: where the server is, how it is reached, and how it is trusted.

pub(crate) mod certificate;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod keepalive;
pub(crate) mod passfile;
pub(crate) mod pooled;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod tls;
pub(crate) mod verifier;
