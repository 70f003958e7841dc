//! How far an axis of response times reaches: as far as the seconds that matter. Otherwise a tail of a few slow requests
//! would flatten the whole chart.

use perfpipe_analyze::format::counted;
use perfpipe_analyze::{Second, Timeline};

use crate::layout::axis::{Steps, ValueAxis, ValueTicks};
use crate::text::number::response;

/// A second with less than this share of the requests of the median second does not set the axis.
const FEW: f64 = 0.1;
/// The axis is extended to values up to this many times the largest that sets it, since they flatten nothing.
const NEAR: f64 = 1.5;
/// The largest share of the seconds that may lie beyond the axis. More of them are no exception, and set it too.
const BEYOND: f64 = 0.05;
/// The number of seconds that may lie beyond the axis of any run.
const ALWAYS: f64 = 2.0;

/// The reach of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reach {
    /// The largest value on the axis, in ms.
    pub(crate) top: f64,
    /// The least value that is greater than 0, in ms.
    least: f64,
    /// The number of seconds beyond it.
    beyond: usize,
    /// The largest value of all, in ms.
    max: f64,
}

impl Reach {
    /// Finds the reach of an axis for all `values` of the runs' seconds, in ms; `None` if no second has any.
    pub(crate) fn of<V>(timelines: &[&Timeline], values: impl Fn(&Second) -> V) -> Option<Self>
    where
        V: IntoIterator<Item = f64>,
    {
        let measured = |timeline: &&Timeline| measured(timeline, &values);
        let runs: Vec<Vec<(u64, f64, f64)>> = timelines.iter().map(measured).collect();
        let values = || runs.iter().flatten().map(|(_, _, greatest)| *greatest);
        let least = runs.iter().flatten().map(|(_, least, _)| *least).filter(|least| *least > 0.0);
        let least = least.reduce(f64::min).unwrap_or(1.0);
        let max = values().reduce(f64::max)?;
        let near = runs.iter().filter_map(|run| greatest_usual(run)).reduce(f64::max)? * NEAR;
        let beyond = values().filter(|value| *value > near).count();
        if beyond as f64 > (values().count() as f64 * BEYOND).max(ALWAYS) {
            return Some(Self { top: max, least, beyond: 0, max });
        }
        let top = values().filter(|value| *value <= near).reduce(f64::max)?;
        Some(Self { top, least, beyond, max })
    }

    /// Returns a reach up to the largest value, for an axis on which it flattens nothing.
    fn to_the_end(self) -> Self {
        Self { top: self.max, beyond: 0, ..self }
    }

    /// Returns the reach on an axis that may be logarithmic.
    pub(crate) fn on(self, log_scale: bool) -> Self {
        if log_scale { self.to_the_end() } else { self }
    }

    /// Returns the axis, in a unit of so many ms and with about `count` steps.
    pub(crate) fn axis(&self, unit: f64, count: u32, log_scale: bool) -> ValueAxis {
        match log_scale {
            true => ValueAxis::log(self.least / unit, self.top / unit),
            false => ValueAxis::new(ValueTicks::up_to(self.top / unit, count, Steps::Any)),
        }
    }

    /// Says how many seconds lie beyond the axis, and how far.
    pub(crate) fn note(&self) -> Option<String> {
        let seconds = counted(self.beyond as u64, "second");
        let note = format!("▲ {seconds} with few requests beyond the axis, up to {}", response(self.max));
        (self.beyond > 0).then_some(note)
    }
}

/// Returns the number of requests, the least and the greatest value of each second that has one.
fn measured<V: IntoIterator<Item = f64>>(
    timeline: &Timeline,
    values: impl Fn(&Second) -> V,
) -> Vec<(u64, f64, f64)> {
    let requests = |second: &Second| match timeline.view.include_failures {
        true => second.successes.saturating_add(second.failures),
        false => second.successes,
    };
    let of = |second: &Second| {
        let values = values(second).into_iter().filter(|value| value.is_finite());
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            let (least, greatest) = ends.unwrap_or((value, value));
            Some((least.min(value), greatest.max(value)))
        });
        ends.map(|(least, greatest)| (requests(second), least, greatest))
    };
    timeline.seconds.iter().filter_map(of).collect()
}

/// Returns the largest value of the seconds that do not have few requests.
fn greatest_usual(seconds: &[(u64, f64, f64)]) -> Option<f64> {
    let mut requests: Vec<u64> = seconds.iter().map(|(requests, ..)| *requests).collect();
    requests.sort_unstable();
    let least = *requests.get(requests.len() / 2)? as f64 * FEW;
    let usual = seconds.iter().filter(|(requests, ..)| *requests as f64 >= least);
    usual.map(|(.., greatest)| *greatest).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support;

    /// A run of 100 seconds of 20 ms with 1,000 requests each, but for these: second, requests, time in ms.
    fn run(others: &[(usize, u64, f64)]) -> Timeline {
        let mut run = support::steady("go", 1000.0, 0.0, 100);
        for second in &mut run.seconds {
            (second.successes, second.percentiles) = (1000, [20.0; 4].into());
        }
        for (at, requests, time) in others {
            (run.seconds[*at].successes, run.seconds[*at].percentiles) = (*requests, [*time; 4].into());
        }
        run
    }

    fn reach(others: &[(usize, u64, f64)]) -> (f64, Option<String>) {
        let reach = Reach::of(&[&run(others)], |second| second.percentile(3)).unwrap();
        (reach.top, reach.note())
    }

    #[test]
    fn few_requests_do_not_set_the_axis() {
        assert_eq!(reach(&[]), (20.0, None));
        let note = "▲ 1 second with few requests beyond the axis, up to 249 ms";
        assert_eq!(reach(&[(99, 2, 249.0)]), (20.0, Some(note.to_owned())));
        let note = "▲ 2 seconds with few requests beyond the axis, up to 12.0 s";
        assert_eq!(reach(&[(0, 99, 12_000.0), (99, 2, 249.0)]), (20.0, Some(note.to_owned())));
    }

    #[test]
    fn everything_fits_a_logarithmic_axis() {
        let reach = Reach::of(&[&run(&[(99, 2, 249.0)])], |second| second.percentile(3)).unwrap().on(true);
        assert_eq!((reach.top, reach.note()), (249.0, None));
        let ends = |axis: ValueAxis| axis.ticks.first().zip(axis.ticks.last()).map(|(a, b)| (a.0, b.0));
        assert_eq!(ends(reach.axis(1.0, 6, true)), Some((10.0, 500.0)));
    }

    #[test]
    fn all_others_set_it() {
        // A tenth of the usual number of requests is not few.
        assert_eq!(reach(&[(50, 100, 249.0)]), (249.0, None));
        // What is near does not flatten anything.
        assert_eq!(reach(&[(99, 2, 29.0)]), (29.0, None));
        // Many seconds are no exception.
        let stalls: Vec<(usize, u64, f64)> = (0..6).map(|at| (at * 10, 5, 249.0)).collect();
        assert_eq!(reach(&stalls), (249.0, None));
    }

    #[test]
    fn few_of_one_run_are_not_few_of_another() {
        let mut small = run(&[(50, 1, 90.0)]);
        small.seconds.iter_mut().for_each(|second| second.successes = 1);
        let both = Reach::of(&[&run(&[(99, 2, 249.0)]), &small], |second| second.percentile(3)).unwrap();
        assert_eq!((both.top, both.beyond, both.max), (90.0, 1, 249.0));
    }
}
