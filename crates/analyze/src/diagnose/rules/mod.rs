//! The rules of a diagnosis, by what they are about.

pub(super) mod capacity;
pub(super) mod clocks;
pub(super) mod failures;
pub(super) mod injectors;
pub(super) mod littles_law;
pub(super) mod queue;
pub(super) mod shifts;
pub(super) mod slow_tail;
pub(super) mod stalls;
pub(super) mod warm_up;
