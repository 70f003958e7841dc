//! What belongs to a [`Sweep`](crate::Sweep): its steps, its knee, and the course of throughput where there is none.

pub(crate) mod by_load;
pub(crate) mod knee;
pub(crate) mod points;

pub use self::by_load::LoadStep;
pub use self::knee::Growth;
