//! CPU cost of requests, where the readings allow it.

use perfpipe_ingest::RunInfo;

use super::Timeline;

/// The least share of the seconds with a CPU reading. With fewer, the mean may be that of the ramp, while throughput is
/// over all seconds, so the two can't be related.
const COVERED: f64 = 0.8;

/// The percentage that stands for the whole machine in some exports.
const WHOLE: f64 = 100.0;

/// Returns successes per second of one busy core. `None` if the CPU is zero or unknown, if too few seconds have a
/// reading, or if the readings are at most 1 and their scale was not given, since they might be fractions of a machine.
pub(crate) fn requests_per_cpu_second(timeline: &Timeline) -> Option<f64> {
    let summary = &timeline.summary;
    let cores_busy = summary.cpu_mean? / 100.0;
    let is_fraction = !is_scale_given(&timeline.info) && summary.cpu_max.is_some_and(|most| most <= 1.0);
    let comparable = cores_busy > 0.0 && summary.cpu_coverage >= COVERED && !is_fraction;
    comparable.then(|| summary.throughput / cores_busy)
}

/// Returns true if 100 % may be the whole machine as well as one core: the scale was not given, and `most`, the largest
/// reading in percent, is not above 100.
///
/// ```
/// use perfpipe_analyze::cpu_scale_in_doubt;
/// use perfpipe_ingest::series::CpuScale;
/// use perfpipe_ingest::{RunInfo, RunKey};
/// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 59_999);
/// assert!(cpu_scale_in_doubt(&info, Some(97.0)));
/// assert!(!cpu_scale_in_doubt(&info, Some(397.0)));
/// info.options.cpu_scale = Some(CpuScale::PercentOfCore);
/// assert!(!cpu_scale_in_doubt(&info, Some(97.0)));
/// ```
pub fn cpu_scale_in_doubt(info: &RunInfo, most: Option<f64>) -> bool {
    !is_scale_given(info) && most.is_some_and(|most| most > 0.0 && most <= WHOLE)
}

/// Returns true if the scale of the readings was given at ingest.
fn is_scale_given(info: &RunInfo) -> bool {
    info.options.tells_cpu_scale()
}
