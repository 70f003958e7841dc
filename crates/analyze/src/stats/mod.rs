//! Statistics of counts: exact histograms, percentiles, and Student's t.

pub(crate) mod change_points;
pub(crate) mod distribution;
pub(crate) mod histogram;
pub(crate) mod maybe;
pub(crate) mod percentile;
pub(crate) mod stretch;
pub(crate) mod student;
