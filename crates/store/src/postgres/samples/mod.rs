//! The tables of a run's samples: its own one and, where the samples came on several connections, the tables that hold
//! the other stripes of them.
//!
//! A transaction can't span connections. Each connection copies to a new table in a transaction of its own, which
//! commits shortly before the run's transaction makes these tables children of the run's own one. So `select` from the
//! run's own table returns all samples or none. What a killed writer leaves are tables that nobody reads; see
//! [`write::sweep_leftovers`].

pub(super) mod read;
pub(super) mod write;
