//! Commands on the server's series beside its CPU.

mod compared;
mod inspected;
