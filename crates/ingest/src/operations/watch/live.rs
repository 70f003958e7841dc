//! The counts of a run so far, which all threads add to.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::heard::{Heard, complete};
use super::look::Look;
use crate::counts::block::Tally;
use crate::counts::stored_run::StoredRun;
use crate::counts::table::CellTable;
use crate::counts::totals::Totals;
use crate::error::{Error, Result};
use crate::formats::jtl::parsed::{Clock, Parsed};
use crate::operations::options::IngestOptions;
use crate::run::info::RunInfo;
use crate::run::key::RunKey;
use crate::run::options::RunOptions;
use crate::run::options::cpu_scale::CpuScale;
use crate::run::options::measures::Measures;
use crate::sample::ends::Ends;
use crate::sample::resolution::Resolution;
use crate::series::cpu::{CpuJoin, TimeSeries};
use crate::source::growing::Control;

/// The counts of a run so far.
pub(super) struct Live {
    pub(super) control: Arc<Control>,
    key: RunKey,
    memory: usize,
    noted: RunOptions,
    counts: Mutex<Counts>,
    cpu: Mutex<Cpu>,
}

/// The CPU readings so far.
#[derive(Default)]
struct Cpu {
    series: TimeSeries,
    join: CpuJoin,
    /// The unit in which they were, if it is told.
    scale: Option<CpuScale>,
    /// The number of times that readings came.
    reads: u64,
}

struct Counts {
    /// The pass that these are the counts of.
    pass: u64,
    /// `None` before the first record.
    clock: Option<Clock>,
    totals: Totals,
    logs: Vec<Heard>,
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
            counts: Mutex::new(Counts {
                pass: 0,
                clock: None,
                totals: Totals::new(memory, None),
                logs: (0..logs).map(|_| Heard::default()).collect(),
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

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts, if they are those of this pass or a log began another one, which makes them empty.
    fn of_pass(&self, pass: u64) -> Option<MutexGuard<'_, Counts>> {
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
    pub(super) fn add(&self, pass: u64, log: usize, parsed: &Parsed, tally: &Tally) -> Result<()> {
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

    /// Takes note that a log has ended.
    pub(super) fn ended(&self, log: usize) {
        if let Some(log) = self.lock().logs.get_mut(log) {
            log.ended = true;
        }
    }

    /// Takes note that a log can't be followed.
    pub(super) fn fail(&self, error: Error) {
        self.lock().failed.get_or_insert(error);
    }

    /// The numbers of the logs of which no record was read.
    pub(super) fn unheard(&self) -> impl Iterator<Item = usize> + use<> {
        let heard: Vec<bool> = self.lock().logs.iter().map(Heard::is_heard).collect();
        (0..).zip(heard).filter(|(_, heard)| !heard).map(|(log, _)| log)
    }

    fn cpu(&self) -> MutexGuard<'_, Cpu> {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the seconds to these CPU readings, in the place of those before.
    pub(super) fn know_cpu(&self, series: &TimeSeries, join: CpuJoin, scale: Option<CpuScale>) {
        let mut cpu = self.cpu();
        let reads = cpu.reads + u64::from(cpu.series != *series);
        *cpu = Cpu { series: series.clone(), join, scale, reads };
    }

    /// The time of the complete seconds, epoch ms, both inclusive; `None` if none is complete.
    pub(super) fn time(&self) -> Option<(i64, i64)> {
        let counts = self.lock();
        let (clock, complete) = counts.clock.zip(Some(counts.complete()).filter(|complete| *complete > 0))?;
        Some((clock.origin, clock.origin + i64::from(complete) * 1000 - 1))
    }

    /// Tells how far the run has come.
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
            silent: counts.logs.iter().filter_map(Heard::silent).min(),
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

impl Counts {
    /// Empties the counts for another pass.
    fn begin(&mut self, pass: u64, clock: Option<Clock>, memory: usize) {
        (self.pass, self.clock, self.totals) = (pass, clock, Totals::new(memory, None));
        self.logs.iter_mut().for_each(Heard::forget);
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
