//! The duration of a run, and its last second if that is cut.

use perfpipe_model::RunInfo;
use serde::{Deserialize, Serialize};

use crate::view::View;
use crate::view::phases::Span;

/// The duration of a run: from its first start, t0, to its last end, the largest timeStamp + elapsed of all requests,
/// failures included, and of transactions with [`View::transactions`].
///
/// Throughput is over this duration, so a run that ends 40 ms into its last second does not count it as a whole one.
/// Second n is *whole* if the last end − t0 is at least 1000·(n + 1) ms, otherwise *cut*. Only the last second can be
/// cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunDuration {
    /// The duration in seconds, at least 1 ms.
    pub seconds: f64,
    /// True if the last end is not known; the run is then assumed to last to the end of its last second.
    pub estimated: bool,
    /// The wait for the last answer: the time from the last start to the last end, in seconds; `None` if the last end
    /// is not known.
    pub wait: Option<f64>,
    /// The last second, and the part of it that the run lasted, 0 to 1.
    last: (u32, f64),
}

/// The wait for the last answer, in seconds, above which it is reported: a request that hangs makes a run longer.
pub(crate) const LONG_WAIT: f64 = 5.0;

impl RunDuration {
    /// Returns the duration of a run for a view.
    ///
    /// ```
    /// use perfpipe_analyze::{RunDuration, View};
    /// use perfpipe_ingest::{RunInfo, RunKey};
    ///
    /// // The last request began at 10.019 s, and was answered after 21 ms.
    /// let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 10_019);
    /// info.last_end_ms = Some(10_040);
    /// let duration = RunDuration::of(&info, &View::default());
    /// assert_eq!((duration.seconds, duration.cut()), (10.04, Some(10)));
    /// ```
    pub fn of(info: &RunInfo, view: &View) -> Self {
        let last = info.seconds.saturating_sub(1);
        let transactions = info.transactions_end_ms.filter(|_| view.transactions);
        let Some(end) = info.last_end_ms.max(transactions) else {
            let seconds = f64::from(info.seconds.max(1));
            return Self { seconds, estimated: true, wait: None, last: (last, 1.0) };
        };
        let seconds = |ms: i64| ms.max(0) as f64 / 1000.0;
        let lasted = end.saturating_sub(info.t0_ms);
        let part = seconds(lasted.saturating_sub(i64::from(last) * 1000)).min(1.0);
        Self {
            seconds: seconds(lasted.max(1)),
            estimated: false,
            wait: Some(seconds(end.saturating_sub(info.last_ms))),
            last: (last, part),
        }
    }

    /// Returns the last second if it is cut.
    pub fn cut(&self) -> Option<u32> {
        let (last, part) = self.last;
        (part < 1.0).then_some(last)
    }

    /// Returns the wait for the last answer in seconds, if it is long enough to be reported beside the throughput.
    pub fn long_wait(&self) -> Option<f64> {
        self.wait.filter(|wait| *wait > LONG_WAIT)
    }

    /// Returns the total duration of some seconds, in seconds; the last one of the run counts only in part if it is
    /// cut.
    pub(crate) fn of_span(&self, span: Span) -> f64 {
        let short = self.cut().filter(|cut| span.holds(*cut)).map_or(0.0, |_| 1.0 - self.last.1);
        (f64::from(span.seconds()) - short).max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::RunKey;

    use super::*;

    fn of(last_ms: i64, last_end_ms: Option<i64>) -> RunDuration {
        let mut info = RunInfo::new(RunKey::new("a", "b"), 500, 500 + last_ms);
        info.last_end_ms = last_end_ms;
        RunDuration::of(&info, &View::default())
    }

    #[test]
    fn cut_second_counts_as_far_as_it_goes() {
        let duration = of(10_010, Some(10_520));
        assert_eq!((duration.seconds, duration.cut(), duration.wait), (10.02, Some(10), Some(0.01)));
        assert!((duration.of_span(Span { first: 8, last: 10 }) - 2.02).abs() < 1e-9);
        assert_eq!(duration.of_span(Span { first: 8, last: 9 }), 2.0);
    }

    #[test]
    fn wait_for_the_last_answer_makes_the_run_longer_and_no_second() {
        let duration = of(10_010, Some(40_510));
        assert_eq!((duration.seconds, duration.cut(), duration.long_wait()), (40.01, None, Some(30.0)));
        assert_eq!(duration.of_span(Span { first: 0, last: 10 }), 11.0);
    }

    #[test]
    fn end_that_is_not_known_is_that_of_the_last_second() {
        let duration = of(10_010, None);
        assert_eq!((duration.seconds, duration.estimated, duration.cut()), (11.0, true, None));
        assert_eq!(of(0, Some(500)).seconds, 0.001, "a run of one request that took no time");
    }
}
