//! What requests cost of the CPU, where the readings can tell.

use perfpipe_ingest::RunInfo;

use super::Timeline;
use crate::view::View;

/// The share of the seconds that must have a CPU reading: where more are without, the mean of the others may be that of
/// the ramp, and throughput, which is over all seconds, can't be set against it.
const COVERED: f64 = 0.8;

/// Percent that a whole machine has in exports that count it as one.
const WHOLE: f64 = 100.0;

/// Successes for each second that one core was busy; `None` where none was, as far as is known, where too few seconds
/// have a reading, and where readings of 1 at most, of which nothing was told, would be fractions of a machine.
pub(crate) fn requests_per_cpu_second(timeline: &Timeline) -> Option<f64> {
    let summary = &timeline.summary;
    let cores_busy = summary.cpu_mean? / 100.0;
    let is_fraction = !is_told(&timeline.info) && summary.cpu_max.is_some_and(|most| most <= 1.0);
    let comparable = cores_busy > 0.0 && summary.cpu_coverage >= COVERED && !is_fraction;
    comparable.then(|| summary.throughput / cores_busy)
}

/// Whether 100 % may be the whole machine as well as one core: nothing was told of it, and `most`, the largest reading,
/// is not above it.
///
/// ```
/// use perfpipe_analyze::{View, cpu_scale_in_doubt};
/// use perfpipe_ingest::{RunInfo, RunKey};
/// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 59_999);
/// assert!(cpu_scale_in_doubt(&info, Some(97.0)));
/// assert!(!cpu_scale_in_doubt(&info, Some(397.0)));
/// info.options.insert(View::CPU_SCALE.into(), "percent-of-core".into());
/// assert!(!cpu_scale_in_doubt(&info, Some(97.0)));
/// ```
pub fn cpu_scale_in_doubt(info: &RunInfo, most: Option<f64>) -> bool {
    !is_told(info) && most.is_some_and(|most| most > 0.0 && most <= WHOLE)
}

/// Whether it was told what the readings were measured in.
fn is_told(info: &RunInfo) -> bool {
    info.options.contains_key(View::CPU_SCALE)
}
