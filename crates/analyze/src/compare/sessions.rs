//! The sessions of a side's repeats: those that were measured one soon after another, as on one day; and the noise of repeats
//! where sessions differ by more than the repeats within them.

use perfpipe_model::RunInfo;

use super::difference::OfMean;
use super::measured::Measured;
use super::repeats::RepeatMeans;
use crate::stats::{mean, sum_of_squares};

/// A run that begins later than this after the end of the one before begins another session, in ms.
const PAUSE: i64 = 3_600_000;

/// Returns the session of each run, numbered from 0.
pub(super) fn of_runs(runs: &[Measured]) -> Vec<usize> {
    let infos: Vec<&RunInfo> = runs.iter().map(Measured::info).collect();
    of_times(&infos.iter().map(|info| (info.t0_ms, 1000 * i64::from(info.seconds))).collect::<Vec<_>>())
}

/// Returns the session of each run, given its start and its duration in ms.
fn of_times(runs: &[(i64, i64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|at| runs.get(*at));
    let mut sessions = vec![0; runs.len()];
    let (mut session, mut end) = (0, None::<i64>);
    for at in order {
        let (Some((start, duration)), Some(own)) = (runs.get(at), sessions.get_mut(at)) else { continue };
        session += usize::from(end.is_some_and(|end| start.saturating_sub(end) > PAUSE));
        *own = session;
        end = end.max(Some(start.saturating_add(*duration)));
    }
    sessions
}

/// The repeats of a side, session by session.
#[derive(Debug)]
pub(super) struct BySession(Vec<Vec<f64>>);

impl BySession {
    /// Divides values into the sessions that [`of_runs`] returns for their runs.
    pub(super) fn new(values: &[f64], sessions: &[usize]) -> Self {
        let count = sessions.iter().max().map_or(0, |last| last + 1);
        let mut all = vec![Vec::new(); count];
        for (value, session) in values.iter().zip(sessions) {
            all.get_mut(*session).into_iter().for_each(|own| own.push(*value));
        }
        Self(all)
    }

    /// Compares with another side by the scatter of sessions and of the repeats within them (a nested analysis of variance;
    /// the components by the moments). A repeat scatters by itself with at least the variance `least`.
    ///
    /// Returns `None` if the sessions differ by no more than their repeats explain, or if nothing shows how much they differ:
    /// each side has one session, or each session one repeat.
    pub(super) fn means(&self, other: &Self, least: f64) -> Option<RepeatMeans> {
        let sides = [self, other];
        let within: f64 = sides.iter().flat_map(|side| &side.0).map(|session| sum_of_squares(session)).sum();
        let repeats: usize = sides.iter().flat_map(|side| &side.0).map(Vec::len).sum();
        let sessions: usize = sides.iter().map(|side| side.0.len()).sum();
        let (of_within, of_between) = (repeats.checked_sub(sessions)?, sessions.checked_sub(2)?);
        if of_within == 0 || of_between == 0 {
            return None;
        }
        let (of_within, degrees) = (of_within as f64, of_between as f64);
        let of_repeat = (within / of_within).max(least);
        let means = |side: &Self| side.0.iter().map(|session| mean(session)).collect::<Vec<f64>>();
        let between = sides.iter().map(|side| sum_of_squares(&means(side))).sum::<f64>() / degrees;
        // What the repeats alone would make the means of sessions scatter.
        let explained =
            sides.iter().map(|side| (side.0.len() as f64 - 1.0) * side.mean_of_inverse()).sum::<f64>();
        let of_session = between - of_repeat * explained / degrees;
        let with = |side: &Self| {
            let count = side.0.iter().map(Vec::len).sum::<usize>() as f64;
            let squared: f64 = side.0.iter().map(|session| (session.len() as f64 / count).powi(2)).sum();
            let mean = side.0.iter().flatten().sum::<f64>() / count;
            OfMean { mean, error: (of_session * squared + of_repeat / count).sqrt(), degrees }
        };
        let (a, b) = (with(self), with(other));
        let variance = of_session + of_repeat;
        (of_session > 0.0).then_some(RepeatMeans { a, b, degrees, by_least: false, variance })
    }

    /// Returns the mean of 1 ÷ n over the sessions of n repeats.
    fn mean_of_inverse(&self) -> f64 {
        mean(&self.0.iter().map(|session| 1.0 / session.len() as f64).collect::<Vec<f64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn runs_soon_after_one_another_are_a_session() {
        let starts = [0, 10, 70, 1440, 1500, 4000].map(|minute| (minute * MINUTE, 5 * MINUTE));
        assert_eq!(of_times(&starts), [0, 0, 0, 1, 1, 2]);
        let turned: Vec<(i64, i64)> = starts.iter().rev().copied().collect();
        assert_eq!(of_times(&turned), [2, 1, 1, 0, 0, 0]);
        // A long run and a short one within it.
        assert_eq!(of_times(&[(0, 300 * MINUTE), (10, MINUTE), (310 * MINUTE, MINUTE)]), [0, 0, 0]);
        assert_eq!(of_times(&[]), [0_usize; 0]);
    }

    fn side(sessions: &[&[f64]]) -> BySession {
        BySession(sessions.iter().map(|session| session.to_vec()).collect())
    }

    #[test]
    fn sessions_that_differ_are_the_noise() {
        let baseline = side(&[&[99.0, 101.0], &[109.0, 111.0], &[119.0, 121.0]]);
        let found = baseline.means(&side(&[&[130.0, 132.0]]), 0.0).unwrap();
        // Repeats have a variance of 2; session means one of 100, of which the repeats explain 1.
        let of_a = (99.0_f64 / 3.0 + 2.0 / 6.0).sqrt();
        assert!(
            (found.a.error - of_a).abs() < 1e-9 && (found.b.error - 100.0_f64.sqrt()).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!((found.a.mean, found.b.mean, found.degrees), (110.0, 131.0, 2.0));
    }

    #[test]
    fn sessions_that_are_alike_or_say_nothing_are_passed_over() {
        let similar = side(&[&[99.0, 101.0], &[100.0, 102.0]]);
        assert!(similar.means(&side(&[&[100.0, 101.0]]), 0.0).is_none());
        let single = side(&[&[99.0], &[109.0], &[119.0]]);
        assert!(single.means(&side(&[&[100.0]]), 0.0).is_none());
        let one = side(&[&[99.0, 101.0, 103.0]]);
        assert!(one.means(&side(&[&[100.0, 104.0]]), 0.0).is_none());
    }

    #[test]
    fn values_go_to_the_sessions_of_their_runs() {
        assert_eq!(BySession::new(&[1.0, 2.0, 3.0], &[1, 0, 1]).0, [vec![2.0], vec![1.0, 3.0]]);
    }
}
