//! The counts of a run so far, which all threads add to.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::counting::block::BlockTally;
use crate::counting::totals::Totals;
use crate::operations::options::IngestOptions;
use crate::source::growing::Control;
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::measures::Measures;
use perfpipe_model::run::options::{CpuScale, RunOptions};
use perfpipe_model::sample::ends::Ends;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::series::cpu::{CpuJoin, TimeSeries};

/// The counts of a run so far.
pub(super) struct Live {
    pub(super) control: Arc<Control>,
    key: RunKey,
    memory: usize,
    noted: RunOptions,
    counts: Mutex<LiveCounts>,
    cpu: Mutex<LiveCpu>,
}

/// The CPU readings so far.
#[derive(Default)]
struct LiveCpu {
    series: TimeSeries,
    join: CpuJoin,
    /// The unit in which they were, if it is known.
    scale: Option<CpuScale>,
    /// The number of times that readings came.
    reads: u64,
}

struct LiveCounts {
    /// The pass that these are the counts of.
    pass: u64,
    /// `None` before the first record.
    clock: Option<Clock>,
    totals: Totals,
    logs: Vec<LogProgress>,
    latest_ms: Option<i64>,
    ends: Ends,
    measures: Measures,
    resolution: Resolution,
    rejects: u64,
    changed: BTreeSet<u32>,
    failed: Option<Error>,
}

impl Live {
    pub(super) fn new(logs: usize, options: &IngestOptions, control: Arc<Control>) -> Self {
        let name = |name: &Option<String>, other: &str| name.clone().unwrap_or_else(|| other.to_owned());
        let memory = options.sizes.memory;
        Self {
            control,
            key: RunKey::new(name(&options.framework, "run"), name(&options.test, "watched")),
            memory,
            noted: options.noted.clone(),
            counts: Mutex::new(LiveCounts {
                pass: 0,
                clock: None,
                totals: Totals::new(memory, None),
                logs: (0..logs).map(|_| LogProgress::default()).collect(),
                latest_ms: None,
                ends: Ends::default(),
                measures: Measures::default(),
                resolution: Resolution::default(),
                rejects: 0,
                changed: BTreeSet::new(),
                failed: None,
            }),
            cpu: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, LiveCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts, if they are those of this pass or a log began another one, which makes them empty.
    fn of_pass(&self, pass: u64) -> Option<MutexGuard<'_, LiveCounts>> {
        let mut counts = self.lock();
        let now = self.control.pass.load(Ordering::Acquire);
        if counts.pass != now {
            counts.begin(now, None, self.memory);
        }
        (pass == now).then_some(counts)
    }

    /// Returns true if this pass goes on.
    pub(super) fn is_in(&self, pass: u64) -> bool {
        self.control.pass.load(Ordering::Acquire) == pass
    }

    /// Returns true if reading ends at what is there.
    pub(super) fn stops(&self) -> bool {
        self.control.stop.load(Ordering::Acquire)
    }

    /// The clock of the run. If it is not known, it is `found` by the first record; `None` if there is none.
    pub(super) fn clock(&self, pass: u64, found: impl FnOnce() -> Option<Clock>) -> Option<Clock> {
        let mut counts = self.of_pass(pass)?;
        counts.clock = counts.clock.or_else(found);
        counts.clock
    }

    /// Counts everything again, since a record is earlier than all before.
    pub(super) fn recount(&self, pass: u64, earliest_ms: i64) {
        let Some(mut counts) = self.of_pass(pass) else { return };
        let clock = counts.clock.map(|clock| Clock { origin: earliest_ms.min(clock.origin), ..clock });
        counts.begin(pass + 1, clock, self.memory);
        self.control.pass.store(pass + 1, Ordering::Release);
    }

    /// Adds to the number of rejected records.
    pub(super) fn reject(&self, pass: u64, rejects: u64) {
        if let Some(mut counts) = self.of_pass(pass).filter(|_| rejects > 0) {
            counts.rejects += rejects;
        }
    }

    /// Adds the counts of a block of the log with this number.
    ///
    /// # Errors
    /// When a temporary file can't be written or read.
    pub(super) fn add(&self, pass: u64, log: usize, parsed: &Parsed, tally: &BlockTally) -> Result<()> {
        let Some(mut counts) = self.of_pass(pass) else { return Ok(()) };
        let end = parsed.ends.requests.max(parsed.ends.transactions).or(parsed.latest_ms);
        let Some(end) = end else { return Ok(()) };
        if let Some(log) = counts.logs.get_mut(log) {
            log.took(end);
        }
        counts.resolution = parsed.batch.resolution;
        counts.latest_ms = counts.latest_ms.max(parsed.latest_ms);
        counts.ends.merge(parsed.ends);
        counts.measures = counts.measures.merged(Measures::of(&parsed.batch));
        counts.changed.extend(tally.cells().map(|(key, _)| key.second));
        counts.totals.add(tally)
    }

    /// Notes that a log has ended.
    pub(super) fn ended(&self, log: usize) {
        if let Some(log) = self.lock().logs.get_mut(log) {
            log.ended = true;
        }
    }

    /// Notes that a log can't be followed.
    pub(super) fn fail(&self, error: Error) {
        self.lock().failed.get_or_insert(error);
    }

    /// The numbers of the logs of which no record was read.
    pub(super) fn unheard(&self) -> impl Iterator<Item = usize> + use<> {
        let heard: Vec<bool> = self.lock().logs.iter().map(LogProgress::is_heard).collect();
        (0..).zip(heard).filter(|(_, heard)| !heard).map(|(log, _)| log)
    }

    fn cpu(&self) -> MutexGuard<'_, LiveCpu> {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the seconds to these CPU readings, in the place of those before.
    pub(super) fn know_cpu(&self, series: &TimeSeries, join: CpuJoin, scale: Option<CpuScale>) {
        let mut cpu = self.cpu();
        let reads = cpu.reads + u64::from(cpu.series != *series);
        *cpu = LiveCpu { series: series.clone(), join, scale, reads };
    }

    /// The time of the complete seconds, epoch ms, both inclusive; `None` if none is complete.
    pub(super) fn time(&self) -> Option<(i64, i64)> {
        let counts = self.lock();
        let (clock, complete) = counts.clock.zip(Some(counts.complete()).filter(|complete| *complete > 0))?;
        Some((clock.origin, clock.origin + i64::from(complete) * 1000 - 1))
    }

    /// Returns how far the run has come.
    pub(super) fn look(&self) -> Result<Look> {
        let mut counts = self.lock();
        if let Some(error) = counts.failed.take() {
            return Err(error);
        }
        let Totals { successes, failures, transactions, .. } = counts.totals;
        Ok(Look {
            complete: counts.complete(),
            changed: std::mem::take(&mut counts.changed),
            recounts: counts.pass,
            records: successes + failures + transactions,
            rejects: counts.rejects,
            cpu_reads: self.cpu().reads,
            silent: counts.logs.iter().filter_map(LogProgress::silent).min(),
            unheard: Vec::new(),
            ended: counts.has_ended(),
        })
    }

    /// The complete seconds from `first` on as a run.
    pub(super) fn run(&self, first: u32) -> Result<Option<StoredRun>> {
        let counts = self.lock();
        let Some((clock, last)) = counts.clock.zip(counts.complete().checked_sub(1)) else { return Ok(None) };
        let totals = &counts.totals;
        let cells = totals.cells_between(first.min(last), last);
        let cells = CellTable::from_ascending(totals.labels(), totals.injectors(), cells)?;
        let mut run = StoredRun::new(counts.info(self.key.clone(), clock.origin, last), cells);
        run.info.options.clone_from(&self.noted);
        run.info.options.measures = Some(counts.measures);
        let cpu = self.cpu();
        let from = clock.origin.div_euclid(1000) + i64::from(first) - cpu.join.offset;
        run.cpu = cpu.series.since(from - i64::from(cpu.join.lookback));
        run.info.options.note_scale(cpu.scale);
        (run.info.cpu_offset, run.info.cpu_lookback) = (cpu.join.offset, cpu.join.lookback);
        run.errors = totals.errors_between(first.min(last), last).collect::<Result<_>>()?;
        run.labels = totals.label_counts();
        Ok(Some(run))
    }
}

impl LiveCounts {
    /// Empties the counts for another pass.
    fn begin(&mut self, pass: u64, clock: Option<Clock>, memory: usize) {
        (self.pass, self.clock, self.totals) = (pass, clock, Totals::new(memory, None));
        self.logs.iter_mut().for_each(LogProgress::forget);
        (self.latest_ms, self.ends, self.rejects) = (None, Ends::default(), 0);
        self.measures = Measures::default();
        self.changed.clear();
    }

    fn has_ended(&self) -> bool {
        self.logs.iter().all(|log| log.ended)
    }

    /// The number of complete seconds.
    fn complete(&self) -> u32 {
        let Some((clock, latest)) = self.clock.zip(self.latest_ms) else { return 0 };
        let all = u32::try_from((latest - clock.origin).div_euclid(1000) + 1).unwrap_or_default();
        if self.has_ended() { all } else { complete(&self.logs, clock.origin).min(all) }
    }

    /// The metadata of the run up to this second.
    fn info(&self, key: RunKey, t0_ms: i64, last: u32) -> RunInfo {
        let mut info = RunInfo::new(key, t0_ms, t0_ms + i64::from(last) * 1000 + 999);
        if let (true, Some(latest)) = (self.has_ended(), self.latest_ms) {
            info.last_ms = latest;
            (info.last_end_ms, info.transactions_end_ms) = (self.ends.requests, self.ends.transactions);
        }
        info.resolution = self.resolution;
        let Totals { successes, failures, transactions, .. } = self.totals;
        (info.successes, info.failures, info.transactions) = (successes, failures, transactions);
        info.rejects = self.rejects;
        info
    }
}

/// A second is complete when a record was read that ended this many ms after it: requests are logged when they end.
const SETTLED_MS: i64 = 1000;

/// A log of which nothing was read for this long holds up no second, as long as others go on.
const SILENT: Duration = Duration::from_secs(3);

/// A log that jumps further than this, in ms, is believed only once its next block does so too: a single clock may be mad.
const JUMP_MS: i64 = 600_000;

/// How far a log has come.
#[derive(Debug, Default)]
struct LogProgress {
    /// The latest end of a record, epoch ms.
    end_ms: Option<i64>,
    /// When the last record was read.
    at: Option<Instant>,
    /// True if the last block jumped too far.
    jumped: bool,
    /// True once nothing more comes.
    ended: bool,
}

impl LogProgress {
    /// Notes a block with records, of which the last ended at `end_ms`.
    fn took(&mut self, end_ms: i64) {
        self.at = Some(Instant::now());
        let jumps = self.end_ms.is_some_and(|known| end_ms - known > JUMP_MS);
        if jumps && !self.jumped {
            self.jumped = true;
            return;
        }
        self.jumped = false;
        self.end_ms = self.end_ms.max(Some(end_ms));
    }

    /// Begins again.
    fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns true if a record was read.
    fn is_heard(&self) -> bool {
        self.at.is_some()
    }

    /// The time since the last record was read.
    fn silent(&self) -> Option<Duration> {
        self.at.map(|at| at.elapsed())
    }

    fn goes_on(&self) -> bool {
        !self.ended && self.silent().is_some_and(|silent| silent < SILENT)
    }
}

/// The number of complete seconds since `t0_ms`. The slowest of the logs that go on decides, or else the one that has come
/// furthest.
fn complete(logs: &[LogProgress], t0_ms: i64) -> u32 {
    let going = logs.iter().filter(|log| log.goes_on()).filter_map(|log| log.end_ms).min();
    let end = going.or_else(|| logs.iter().filter_map(|log| log.end_ms).max());
    let seconds = end.map(|end| end.saturating_sub(t0_ms).saturating_sub(SETTLED_MS).div_euclid(1000));
    u32::try_from(seconds.unwrap_or_default().max(0)).unwrap_or(u32::MAX)
}

/// How far a test has come, by its logs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Look {
    /// The number of complete seconds: a record that ended a second after them was read of every log that goes on. Once all
    /// logs have ended, it is the number of all seconds.
    pub complete: u32,
    /// The seconds in which requests were counted since the last look, ascending.
    pub changed: BTreeSet<u32>,
    /// The number of times that all seconds were counted again: because a record came that is earlier than all before, or
    /// because a log was started again.
    pub recounts: u64,
    /// The number of requests and transactions so far.
    pub records: u64,
    /// The number of rejected records so far.
    pub rejects: u64,
    /// The number of times that CPU readings came.
    pub cpu_reads: u64,
    /// The time since the last record was read; `None` before the first.
    pub silent: Option<Duration>,
    /// The logs of which nothing was read so far.
    pub unheard: Vec<PathBuf>,
    /// True once all logs have ended.
    pub ended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(ends: &[i64]) -> LogProgress {
        let mut heard = LogProgress::default();
        ends.iter().for_each(|end| heard.took(*end));
        heard
    }

    #[test]
    fn second_is_complete_a_second_later_by_the_slowest_log_that_goes_on() {
        assert_eq!(complete(&[], 0), 0);
        assert_eq!(complete(&[heard(&[1_999])], 0), 0);
        assert_eq!(complete(&[heard(&[2_000])], 0), 1);
        assert_eq!(complete(&[heard(&[9_000]), heard(&[5_500])], 0), 4);
        let ended = LogProgress { ended: true, ..heard(&[5_500]) };
        assert_eq!(complete(&[heard(&[9_000]), ended], 0), 8);
        assert_eq!(complete(&[heard(&[9_000]), LogProgress::default()], 0), 8);
        assert_eq!(complete(&[heard(&[500])], 9_000), 0);
    }

    #[test]
    fn log_that_ended_first_counts_once_none_goes_on() {
        let ended = |end| LogProgress { ended: true, ..heard(&[end]) };
        assert_eq!(complete(&[ended(9_000), ended(5_500)], 0), 8);
    }

    #[test]
    fn single_mad_clock_is_not_believed() {
        assert_eq!(heard(&[1_000, 90_000_000]).end_ms, Some(1_000));
        assert_eq!(heard(&[1_000, 90_000_000, 2_000]).end_ms, Some(2_000));
        assert_eq!(heard(&[1_000, 90_000_000, 90_000_500]).end_ms, Some(90_000_500));
    }
}
