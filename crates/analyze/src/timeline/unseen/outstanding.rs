//! Requests that were outstanding when the log ends: one that is cut at full load lacks them.

use std::collections::BTreeMap;

use perfpipe_model::StoredRun;
use perfpipe_model::counts::InjectorLoad;
use perfpipe_model::run::SourceKind;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::format::{counted, percent};
use crate::stats::histogram::totals;
use crate::timeline::cells::by_second;
use crate::timeline::load::reported;
use crate::view::phases::Span;

/// The largest number of seconds before the end that are looked at.
const LOOKED_AT: u32 = 600;

/// The least length of the level end, in mean elapsed times: the threads of a test that ends wait for their last answers
/// no longer than that, and are fewer with each.
const LENGTHS: f64 = 3.0;

/// The least number of threads of an injector: where one ends, the others log that they are fewer.
const THREADS: i64 = 2;

/// The least number of requests. Threads that wait before they send again may be counted until they would have sent, so
/// that the last answers of a test that ended have the same number of threads; but hardly ever five of them.
const FEWEST: f64 = 5.0;

/// The least share of all requests that is reported: half of what is beyond the 99th percentile.
const SHARE: f64 = 0.005;

/// Requests that had no answer yet when the log ended, all threads being active. Those of a long time are more likely to be
/// among them than others, so that the times of the run are too short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outstanding {
    /// Their estimated number.
    pub requests: f64,
    /// Their number as a share of all requests of the run, 0 to 1.
    pub share: f64,
}

impl Outstanding {
    /// Estimates the requests that were outstanding; `None` if the log does not end at full load, if they are too few to
    /// matter, or if that can't be known.
    ///
    /// JMeter writes a request when it has ended, with the number of active threads at that moment. A test that ends waits
    /// for the last answer of each thread, so that these numbers fall; a log that was cut has the same number up to its end.
    ///
    /// # Errors
    /// If the counts can't be read.
    pub(crate) fn of(run: &StoredRun) -> Result<Option<Self>> {
        let info = &run.info;
        let is_other_tools =
            info.sources.iter().any(|source| source.kind == SourceKind::Log && source.tool.is_some());
        let Some(last) = info.seconds.checked_sub(1).filter(|_| !is_other_tools) else { return Ok(None) };
        let Some((level, threads)) = level_end(run, last)? else { return Ok(None) };
        // Requests of the later half may be outstanding themselves.
        let half = Span { first: level.first, last: level.first + level.seconds() / 2 };
        let (mut samples, mut busy) = (0, 0.0);
        for cell in run.cells.between(half.first, half.last) {
            let (key, cell) = cell?;
            if !key.transaction {
                let (own, sum) = totals(&cell.elapsed);
                samples += own;
                busy += info.resolution.ms(sum as f64) / 1000.0;
            }
        }
        let requests = (busy / f64::from(half.seconds())).min(threads);
        let share = requests / info.requests() as f64;
        let is_long = f64::from(level.seconds()) >= 1.0 + LENGTHS * busy / samples as f64;
        Ok((is_long && requests >= FEWEST && share >= SHARE && share.is_finite())
            .then_some(Self { requests, share }))
    }

    /// Describes them as a clause: `the log ends at full load: about 10 requests were outstanding, 1.7 % of all`.
    pub fn describe(&self) -> String {
        let requests = self.requests.round().max(1.0) as u64;
        let verb = if requests == 1 { "was" } else { "were" };
        let (requests, share) = (counted(requests, "request"), percent(self.share));
        format!("the log ends at full load: about {requests} {verb} outstanding, {share} of all")
    }

    /// Says what they do to times, as a sentence without its full stop.
    pub(crate) fn remark(&self) -> String {
        format!("{}, so that times are too short if some are long", self.describe())
    }
}

/// Returns the seconds before the end in which each injector has the same number of threads in all of its requests, and the
/// number of all of them; `None` if the last two seconds are not like that.
fn level_end(run: &StoredRun, last: u32) -> Result<Option<(Span, f64)>> {
    let looked_at = Span { first: last.saturating_sub(LOOKED_AT - 1), last };
    let mut known: BTreeMap<u32, i64> = BTreeMap::new();
    let mut first = looked_at.first;
    let cells = run.cells.sums_between(looked_at.first, looked_at.last);
    let seconds = by_second(cells, looked_at).collect::<Result<Vec<_>>>()?;
    for (second, cells) in seconds.into_iter().rev() {
        if !reported(&cells).iter().all(|load| is_level(load, &mut known)) {
            first = second + 1;
            break;
        }
    }
    let threads: i64 = known.values().sum();
    let is_seen = known.values().all(|threads| *threads >= THREADS);
    let level = Span { first, last };
    Ok((first < last && threads > 0 && is_seen).then_some((level, threads as f64)))
}

/// Returns true if all requests of a second have the number of threads that is known of their injector.
fn is_level(load: &InjectorLoad, known: &mut BTreeMap<u32, i64>) -> bool {
    let Ok(samples @ 1..) = i64::try_from(load.samples) else { return true };
    let threads = *known.entry(load.injector).or_insert(load.threads / samples);
    load.threads == threads * samples
}
