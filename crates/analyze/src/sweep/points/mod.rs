//! Points of load tools and of stored runs: their table, and sweeps of a test by concurrency or by workers.

pub(crate) mod level;
pub(crate) mod scalability;
pub(crate) mod tables;

use perfpipe_model::StoredRun;
use perfpipe_model::points::{Bounds, Figures, Latencies, Point, PointKey};

pub use self::level::{Level, Outcomes, Spread, SweepBy, levels};
pub use self::scalability::{Fitted, Scalability};
pub use self::tables::{level_table, point_second_table, point_table};
use crate::error::Result;
use crate::timeline::Timeline;
use crate::timeline::summary::Summary;
use crate::view::View;
use crate::view::phases::Span;

/// The percentiles that a point has.
const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Returns a stored run as a point: the figures of its hold, the part in which the load is level. `None` if it has none.
///
/// The tool is the one that wrote the log. The concurrency is the greatest load of the hold, rounded; latencies are those
/// of the successes. Requests with think time between them leave the mean below c/X.
///
/// # Errors
/// If the run's counts are inconsistent.
///
/// ```
/// use perfpipe_analyze::points::point_of_run;
/// use perfpipe_ingest::counts::CellTable;
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// let info = RunInfo::new(RunKey::new("go", "/hello"), 1_700_000_000_000, 1_700_000_002_400);
/// let run = StoredRun::new(info, CellTable::new(vec![], vec![], []));
/// assert_eq!(point_of_run(&run)?, None);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn point_of_run(run: &StoredRun) -> Result<Option<Point>> {
    let timeline = Timeline::new(run, &View::of(&run.info).with_percentiles(PERCENTILES.to_vec()))?;
    let Some(span) = timeline.phases.hold else { return Ok(None) };
    // Where all seconds are in the hold, the summary is its.
    let hold = timeline.hold.as_ref().unwrap_or(&timeline.summary);
    let load = load_of(&timeline, span);
    let of = &run.info.key;
    let mut key = PointKey::new(run.info.tool(), &of.framework, &of.test).with_repeat(of.repeat);
    key.concurrency = load;
    // An open loop sends requests whether answers come or not.
    let in_flight = load.filter(|_| key.tool != "vegeta");
    let mut figures = figures(hold, span, in_flight, &timeline.percentiles);
    figures.notes.extend(run.info.caveats());
    Ok(Some(Point::new(key, figures)))
}

/// The greatest load of the seconds of a span, as a whole number.
fn load_of(timeline: &Timeline, span: Span) -> Option<u32> {
    let seconds = timeline.seconds.iter().filter(|second| (span.first..=span.last).contains(&second.second));
    let greatest = seconds.filter_map(|second| second.load.get()).fold(0.0, f64::max);
    (0.5..f64::from(u32::MAX)).contains(&greatest).then(|| greatest.round() as u32)
}

fn figures(hold: &Summary, span: Span, in_flight: Option<u32>, percents: &[f64]) -> Figures {
    let pairs = percents.iter().zip(&hold.percentiles).filter_map(|(percent, ms)| Some((*percent, (*ms)?)));
    Figures {
        in_flight,
        duration: Some(hold.duration),
        requests: Some(hold.requests()),
        successes: Some(hold.successes),
        failures: Some(Bounds::exactly(hold.failures)),
        answers_per_second: Some(hold.requests() as f64 / hold.duration).filter(|rate| rate.is_finite()),
        bytes_per_second: hold.bytes_per_second(),
        latencies: Latencies::exact(hold.elapsed_mean, hold.elapsed_max, pairs.collect()),
        notes: vec![format!("the hold of a stored run, seconds {} to {}", span.first, span.last)],
        ..Figures::default()
    }
}
