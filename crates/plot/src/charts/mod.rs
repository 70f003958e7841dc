//! The charts of a run over time.

pub(crate) mod chart;
pub(crate) mod load;
pub(crate) mod reach;
pub(crate) mod requests;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod series;
