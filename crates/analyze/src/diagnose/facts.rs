//! Facts about a run that several rules need.

use perfpipe_model::StoredRun;

use super::rules::clocks::{self, Clocks};
use super::seconds::{RuleSecond, requests, span};
use crate::error::{Error, Result};
use crate::sweep::by_load::Sweep;
use crate::timeline::{TimelineFigures, load};
use crate::view::View;
use crate::view::phases::{Phase, Span};

/// The largest surprise of a slowest request that is as long as some are.
const ORDINARY: f64 = 2.0;

/// The least scatter of times that is assumed.
const LEAST_SCATTER: f64 = 0.5;

/// The load has come back if it is at least this share of the hold's load.
const BACK: f64 = 0.8;

/// A run with the facts computed from it.
pub(super) struct Facts<'a> {
    pub(super) run: &'a StoredRun,
    pub(super) view: View,
    /// The seconds with means over failures too, and with their 50th and 90th percentiles.
    timeline: TimelineFigures<RuleSecond>,
    /// The injectors' clocks. If one differs, only the seconds of the others are analysed.
    pub(super) clocks: Clocks,
    /// True if the load follows the requests, as where each request has a thread of its own while it is served. Such a
    /// load has no phases and explains nothing.
    pub(super) load_follows: bool,
    /// The sweep over the load; `None` if the log does not have the load.
    pub(super) sweep: Option<Sweep>,
    /// The number of the server's cores, if known.
    pub(super) cores: Option<u32>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(run: &'a StoredRun, view: &'a View, cores: Option<u32>) -> Result<Self> {
        let seconds = |view: &View| {
            let view = View { include_failures: true, percentiles: vec![50.0, 90.0], ..view.clone() };
            TimelineFigures::new(run, &view, |row| Some(RuleSecond::of(row)))
        };
        let (mut view, mut timeline) = (view.clone(), seconds(view)?);
        let clocks = clocks::find(run, &timeline.rows)?;
        if let Some(others) = clocks.others {
            (view.from, view.to, view.phase) = (Some(others.first), Some(others.last), None);
            timeline = seconds(&view)?;
        }
        let sweep = match Sweep::new(run, &view) {
            Ok(sweep) => Some(sweep),
            Err(Error::NoLoad { .. }) => None,
            Err(error) => return Err(error),
        };
        let loads: Vec<f64> = timeline.rows.iter().filter_map(RuleSecond::load).collect();
        let load_follows = load::turns(&loads);
        Ok(Self { run, view, timeline, clocks, load_follows, sweep, cores })
    }

    /// Returns true if the log distinguishes injectors.
    pub(super) fn distinguishes_injectors(&self) -> bool {
        load::names_injectors(self.run)
    }

    /// Returns all seconds of the view.
    pub(super) fn all(&self) -> &[RuleSecond] {
        &self.timeline.rows
    }

    /// Returns the seconds of the view in which no threads end: all but the tail and the run's last second. If the load
    /// comes back in the tail after a silence, the tail counts up to there, since threads had not ended before.
    pub(super) fn body(&self) -> &[RuleSecond] {
        let last = self.run.info.seconds.saturating_sub(1);
        let asked = self.view.phase == Some(Phase::Tail);
        let tail = self.timeline.phases.tail.filter(|_| !asked && !self.load_follows);
        let end = tail.map_or(last, |tail| self.end_of_silence(tail).max(tail.first).min(last));
        let body = self.all().partition_point(|row| row.second < end);
        self.all().get(..body).filter(|body| !body.is_empty()).unwrap_or(self.all())
    }

    /// Returns the second after the last one in the tail that has the load of the hold again, after a silence; 0 if
    /// none.
    fn end_of_silence(&self, tail: Span) -> u32 {
        let level = self.all().iter().rev().find(|row| row.second < tail.first && row.load().is_some());
        let least = level.and_then(|row| row.load()).map_or(f64::INFINITY, |load| BACK * load);
        let rows = self.all().iter().filter(|row| tail.holds(row.second));
        let after_silence = rows.skip_while(|row| requests(row) > 0.0);
        let back = after_silence.filter(|row| row.load().is_some_and(|load| load >= least));
        back.last().map_or(0, |row| row.second.saturating_add(1))
    }

    /// Returns the scatter of times: the standard deviation of their logarithms, from the 90th percentile and the
    /// median.
    pub(super) fn scatter(&self) -> f64 {
        let summary = &self.timeline.summary;
        let at = |at: usize| summary.percentiles.get(at).copied().flatten();
        let times = at(0).zip(at(1)).filter(|(half, most)| *half > 0.0 && most > half);
        times.map_or(LEAST_SCATTER, |(half, most)| ((most / half).ln() / 1.2816).max(LEAST_SCATTER))
    }

    /// Returns the slowest requests of the seconds, without those of a span.
    pub(super) fn slowest(&self, without: Option<Span>) -> Slowest {
        let others = self.all().iter().filter(|row| without.is_none_or(|span| !span.holds(row.second)));
        Slowest::of(others.map(|row| row.elapsed_max))
    }

    /// Returns true if a request that is as long as some are in this run takes such a share of the time of a change, so that
    /// those queued after it waited, or that its client sent no other.
    pub(super) fn is_of_one_request(&self, change: Span, share: f64) -> bool {
        let length = change.seconds();
        let from = change.first.saturating_sub(length);
        let near = self.body().iter().filter(|row| (from..=change.last).contains(&row.second));
        let slowest = near.map(|row| row.elapsed_max).fold(0.0, f64::max);
        slowest >= share * 1000.0 * f64::from(length)
            && self.slowest(Some(change)).surprise(slowest) < ORDINARY
    }

    /// Returns the part of the run's hold that is in [`Self::body`].
    pub(super) fn hold(&self) -> Option<Span> {
        self.timeline.phases.hold.filter(|_| !self.load_follows)?.shared(span(self.body())?)
    }

    /// Returns the seconds of the hold, or the whole body if there is no hold.
    pub(super) fn steady(&self) -> &[RuleSecond] {
        let Some(hold) = self.hold() else { return self.body() };
        let body = self.body();
        let first = body.partition_point(|row| row.second < hold.first);
        let end = body.partition_point(|row| row.second <= hold.last);
        body.get(first..end).filter(|held| !held.is_empty()).unwrap_or(body)
    }
}

/// The slowest request of each of some seconds, in ms, in ascending order. Requests that queue wait for each other, so that a
/// second's slowest request represents all of them.
pub(super) struct Slowest(Vec<f64>);

impl Slowest {
    fn of(seconds: impl Iterator<Item = f64>) -> Self {
        let mut slowest: Vec<f64> = seconds.filter(|slowest| *slowest > 0.0).collect();
        slowest.sort_by(f64::total_cmp);
        Self(slowest)
    }

    /// Returns −ln of the expected number of seconds whose slowest request takes so many ms. Beyond those seen, they are assumed
    /// to be as those of a Pareto distribution, whose exponent the upper quantiles show.
    pub(super) fn surprise(&self, elapsed: f64) -> f64 {
        let at = |share: f64| self.0.get((self.0.len() as f64 * share) as usize);
        let Some((high, higher)) = at(0.75).zip(at(0.9)) else { return f64::INFINITY };
        // From one to the other, the share that is beyond falls from 25 to 10 percent.
        let scale = (higher / high).ln().max(f64::MIN_POSITIVE) / 2.5_f64.ln();
        (elapsed / higher).ln() / scale - (0.1 * self.0.len() as f64).ln()
    }
}
