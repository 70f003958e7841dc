//! Combines the results of all blocks: totals, rejects with their lines, and the time span.

use std::collections::BTreeMap;

use crate::counting::block::BlockTally;
use crate::counting::totals::Totals;
use crate::source::log::last_part;
use perfpipe_formats::clock_steps::BlockClocks;
use perfpipe_formats::endpoint::Endpoints;
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::oddities::Oddities;
use perfpipe_formats::jtl::parsed::{Parsed, Swallowed};
use perfpipe_formats::jtl::rejects::{BlockRejects, LocalReject};
use perfpipe_formats::time_format::TimeFormat;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::run::options::intervals::Intervals;
use perfpipe_model::run::options::measures::Measures;
use perfpipe_model::run::reject_reason::{NO_RECORDS_REMEDY, RejectReason, USUALLY_ALLOWED};
use perfpipe_model::run::rejects::{Reject, RejectSpool};
use perfpipe_model::sample::ends::Ends;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::shorten::{LABEL_BYTES, TEXT_BYTES};

/// A log with fewer rejects is accepted, however few other records it has.
const FEW_REJECTS: u64 = 100;

/// With so many rejects for each accepted record, nearly all are rejects.
const MOSTLY: u64 = 9;

/// The number of rejects that are searched for the first one of a reason.
const FIRST_REJECTS: usize = 10_000;
/// The fewest records of another time that may be another run.
const FEW_FAR: u64 = 3;
/// The number of rejects by whose times their format is found.
const TIMES_LOOKED_AT: usize = 200;

/// A worker's results of one block, without its samples.
#[derive(Debug)]
pub(crate) struct BlockCounts {
    log: usize,
    pub(super) first_byte: u64,
    /// The number of bytes in the block.
    pub(super) length: u64,
    lines: u64,
    pub(super) rejects: BlockRejects,
    other_header: Option<(u64, u64)>,
    pub(super) earliest_ms: Option<i64>,
    latest_ms: Option<i64>,
    ends: Ends,
    resolution: Resolution,
    endpoints: Endpoints,
    swallowed: Vec<Swallowed>,
    clocks: BlockClocks,
    zone_assumed: bool,
    may_be_transactions: bool,
    outside: u64,
    /// The form of the block's records: rejects of converted ones have places of their own.
    form: Form,
    pub(crate) samples: u64,
    intervals: Option<Intervals>,
    measures: Measures,
    /// The number of samples with a shortened text.
    cut: u64,
    pub(crate) tally: BlockTally,
}

impl BlockCounts {
    /// Moves the results out of a parsed block of the log with this number. The tally is still empty.
    pub(crate) fn new(log: usize, block: &Block, parsed: &mut Parsed) -> Self {
        Self {
            log,
            first_byte: block.first_byte,
            length: block.bytes.len() as u64,
            lines: parsed.lines,
            rejects: std::mem::take(&mut parsed.rejects),
            other_header: parsed.other_header,
            earliest_ms: parsed.earliest_ms,
            latest_ms: parsed.latest_ms,
            ends: parsed.ends,
            resolution: parsed.batch.resolution,
            endpoints: std::mem::take(&mut parsed.endpoints),
            swallowed: std::mem::take(&mut parsed.swallowed),
            clocks: parsed.clocks.take(parsed.batch.injector.values()),
            zone_assumed: parsed.zone_assumed,
            may_be_transactions: parsed.may_be_transactions,
            outside: parsed.outside,
            form: parsed.form,
            samples: parsed.samples(),
            intervals: parsed.intervals(),
            measures: Measures::of(&parsed.batch),
            cut: parsed.cut_samples(),
            tally: BlockTally::default(),
        }
    }

    /// Returns true if there are rejects, which are reported with the bytes of the block.
    pub(crate) fn has_rejects(&self) -> bool {
        self.rejects.kept() + self.rejects.left_out() > 0
    }

    /// The result of a block that is a single record beyond the maximum length.
    pub(crate) fn oversized(log: usize, block: &Block, reason: RejectReason) -> Self {
        let mut parsed = Parsed { lines: block.skipped_lines, ..Parsed::default() };
        parsed.rejects.push((0, 0), block.bytes.len(), reason, None);
        Self::new(log, block, &mut parsed)
    }
}

/// The collector's state of one log.
#[derive(Debug)]
pub(super) struct LogState {
    place: Place,
    /// The number of line feeds in the blocks so far.
    lines: u64,
    /// The number of samples in the blocks so far.
    samples: u64,
    /// The sum of the bytes received and sent in the blocks so far.
    bytes: u64,
    oddities: Oddities,
}

/// Why a record was rejected, and in which log, for logs that are read ahead of their turn.
#[derive(Debug)]
struct RejectWhy {
    log: usize,
    reason: RejectReason,
    value: Option<String>,
}

/// All results of a pass over the logs, except the samples.
pub(crate) struct Collected {
    pub(crate) totals: Totals,
    pub(crate) rejects: RejectSpool,
    /// The number of rejects for each reason.
    pub(crate) reject_counts: BTreeMap<RejectReason, u64>,
    pub(crate) endpoints: Endpoints,
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) notes: Vec<String>,
    /// The damage found, with the number of the log if it is in one.
    pub(crate) damage: Vec<(Option<usize>, Damage)>,
    pub(crate) earliest_ms: Option<i64>,
    pub(crate) latest_ms: Option<i64>,
    pub(crate) ends: Ends,
    /// How the run was counted, if a log has no requests.
    pub(crate) intervals: Option<Intervals>,
    /// The measures of all records.
    pub(crate) measures: Measures,
    /// The unit of the times of all logs; `None` before the first.
    pub(super) resolution: Option<Resolution>,
    /// The number of rejects up to the block that has the unit.
    rejects_before: u64,
    /// The number of samples with a shortened text.
    pub(super) cut: u64,
    pub(super) logs: Vec<LogState>,
    /// The number of the log whose blocks are being added.
    pub(super) counting: Option<usize>,
    /// The number of logs before those that blocks and damage are numbered among.
    pub(super) before: usize,
    pub(super) max_rejects: u64,
    /// Why the records so far were rejected, if these are the results of logs that are read ahead of their turn.
    whys: Option<Vec<RejectWhy>>,
    /// The sum of the bytes received and sent so far.
    pub(super) bytes: u64,
}

impl Collected {
    /// Creates empty results. More than `max_rejects` rejects are an error.
    pub(crate) fn new(max_rejects: u64, totals: Totals) -> Self {
        Self {
            totals,
            rejects: RejectSpool::default(),
            reject_counts: BTreeMap::new(),
            endpoints: Endpoints::default(),
            sources: Vec::new(),
            notes: Vec::new(),
            damage: Vec::new(),
            earliest_ms: None,
            latest_ms: None,
            ends: Ends::default(),
            intervals: None,
            measures: Measures::default(),
            resolution: None,
            rejects_before: 0,
            cut: 0,
            logs: Vec::new(),
            counting: None,
            before: 0,
            max_rejects,
            whys: None,
            bytes: 0,
        }
    }

    /// Begins the next log.
    pub(crate) fn begin_log(&mut self, place: Place) {
        self.logs.push(LogState { place, lines: 0, samples: 0, bytes: 0, oddities: Oddities::default() });
    }

    /// Adds the results of a block with the given bytes. Blocks must come in the order of the log.
    ///
    /// # Errors
    /// When there are too many rejects, the sizes overflow, or a second header names other columns.
    pub(crate) fn add(&mut self, block: BlockCounts, bytes: &[u8]) -> Result<()> {
        let at = self.before + block.log;
        if self.counting.replace(at).is_some_and(|before| before != at) {
            self.totals.begin_log()?;
        }
        let Some(log) = self.logs.get_mut(at) else { return Ok(()) };
        let (place, first_line) = (log.place.clone(), log.lines + 1);
        log.lines += block.lines;
        log.samples += block.samples;
        log.oddities.add(&block.swallowed, block.clocks, first_line);
        log.oddities.zone_assumed |= block.zone_assumed;
        log.oddities.may_be_transactions |= block.may_be_transactions;
        log.oddities.outside += block.outside;
        if let Some((line, byte)) = block.other_header {
            return Err(Error::input(
                ErrorKind::SecondHeader,
                place.at(first_line + line, block.first_byte + byte),
                "a second header names other columns than the first",
                "Split the file there, and give the parts to perfpipe as two files.",
            ));
        }
        if let Some(swallowed) = block.swallowed.first().filter(|_| self.max_rejects == 0) {
            return Err(Error::Rejects {
                place: Box::new(place.at(first_line + swallowed.line, block.first_byte + swallowed.byte)),
                reason: RejectReason::SwallowedRecords { records: swallowed.records },
                value: None,
                rejects: 1,
                limit: 0,
            });
        }
        for reject in block.rejects.iter(bytes) {
            let original = block.form.original(reject.record, first_line + reject.line);
            let (line, byte, record) = match &original {
                Some(original) => (original.line, original.byte, &*original.record),
                None => (first_line + reject.line, block.first_byte + reject.byte, reject.record),
            };
            self.reject(at, &place, LocalReject { line, byte, record, ..reject })?;
        }
        if block.rejects.left_out() > 0 {
            // A worker leaves some out only if the kept ones already exceed the limit.
            return Err(Error::stopped("counting rejected records"));
        }
        self.set_resolution(block.resolution, block.samples, &place)?;
        self.earliest_ms = [self.earliest_ms, block.earliest_ms].into_iter().flatten().min();
        self.latest_ms = self.latest_ms.max(block.latest_ms);
        self.ends.merge(block.ends);
        self.intervals = self.intervals.into_iter().chain(block.intervals).reduce(Intervals::merged);
        self.measures = self.measures.merged(block.measures);
        self.cut += block.cut;
        self.endpoints.merge(&block.endpoints);
        self.add_bytes(at, block.tally.bytes())?;
        self.totals.add(&block.tally)
    }

    /// Returns true once a block was added.
    pub(super) fn has_blocks(&self) -> bool {
        self.counting.is_some()
    }

    /// The unit of the run's times.
    pub(crate) fn resolution(&self) -> Resolution {
        self.resolution.unwrap_or_default()
    }

    /// Sets the unit of a log with samples, which must be that of the others.
    fn set_resolution(&mut self, own: Resolution, samples: u64, place: &Place) -> Result<()> {
        if samples == 0 {
            return Ok(());
        }
        if self.resolution.is_none() {
            self.rejects_before = self.rejects.len();
        }
        let all = *self.resolution.get_or_insert(own);
        if all == own {
            return Ok(());
        }
        Err(Error::usage(
            ErrorKind::Resolution,
            format!("{place} has times in units of {own}, and another log of the run in units of {all}"),
            format!("Give all logs the coarser one as their resolution: {}.", all.max(own)),
        ))
    }

    /// The number of rejects of a block to keep: those still allowed, and one more to exceed the limit.
    pub(crate) fn reject_room(&self) -> u64 {
        self.max_rejects.saturating_sub(self.rejects.len()).saturating_add(1)
    }

    /// Adds the sizes of responses and requests of the log with this number, and fails before any sum of all can
    /// overflow.
    fn add_bytes(&mut self, log: usize, bytes: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        let log = self.logs.get_mut(log);
        let place = log.map(|log| {
            log.bytes = log.bytes.saturating_add(bytes);
            log.place.clone()
        });
        if self.bytes <= i64::MAX as u64 {
            return Ok(());
        }
        let problem =
            "its bytes and sentBytes add up to more than 9.2 EB, the largest sum that can be stored";
        let remedy = "No test transfers that much: check these columns, and remove them if they are wrong.";
        Err(Error::input(ErrorKind::SizeOverflow, place.unwrap_or_default(), problem, remedy))
    }

    /// Removes and returns the notes on the logs, followed by those on oddities and shortened texts.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let odd = self.logs.iter().flat_map(|log| log.oddities.notes(&log.place));
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(odd);
        notes.extend(self.intervals.iter().flat_map(Intervals::notes));
        notes.extend(self.note_of_cuts());
        notes.extend(self.note_of_far());
        notes
    }

    /// The note on records of other times, which may be another run, if there are any.
    fn note_of_far(&mut self) -> Option<String> {
        let is_far = |(reason, count): (&RejectReason, &u64)| {
            (matches!(reason, RejectReason::FarTime { .. }) && *count >= FEW_FAR).then_some(*count)
        };
        let far = self.reject_counts.iter().find_map(is_far)?;
        let mut rejects = self.rejects.iter().ok()?.flatten();
        let first = rejects.find(|reject| reject.code.as_deref() == Some("far-time"))?;
        Some(format!(
            "{}, line {}: {far} of the rejected records are of another time, the first of which begins there; if they are \
             another run, take that alone (IngestOptions::only)",
            first.file, first.line
        ))
    }

    /// Returns true if each log has dates that name no zone.
    pub(crate) fn assumes_zone(&self) -> bool {
        !self.logs.is_empty() && self.logs.iter().all(|log| log.oddities.zone_assumed)
    }

    /// The number of samples in all blocks.
    pub(crate) fn samples(&self) -> u64 {
        self.logs.iter().map(|log| log.samples).sum()
    }

    /// The note on shortened texts, if there are any.
    fn note_of_cuts(&self) -> Option<String> {
        let records = if self.cut == 1 { "record has" } else { "records have" };
        let note = format!(
            "{} {records} a text that is too long to be kept whole: labels are cut to {} KiB, others to {} KiB, and \
             end in … and a hash of the whole",
            self.cut,
            LABEL_BYTES >> 10,
            TEXT_BYTES >> 10,
        );
        (self.cut > 0).then_some(note)
    }

    /// Removes and returns all damage, with the part that could be read. `before` is the damage found before the pass.
    pub(crate) fn take_damage(&mut self, before: &[Damage]) -> Vec<Damage> {
        let before = before.iter().map(|damage| (None, damage.clone()));
        let found: Vec<_> = before.chain(std::mem::take(&mut self.damage)).collect();
        let is_unexplained = |damage: &Damage| {
            damage.member.is_some() || !found.iter().any(|(_, other)| other.explains(damage))
        };
        let reported = found.iter().filter(|(_, damage)| is_unexplained(damage));
        reported.map(|(log, damage)| self.measured(*log, damage.clone())).collect()
    }

    /// Completes damage with the figures of what could be read, and removes folders from its file name.
    fn measured(&self, log: Option<usize>, mut damage: Damage) -> Damage {
        match log.and_then(|log| self.logs.get(log)) {
            Some(log) => damage.records = log.samples,
            // The zip itself is damaged: its figures are those of the logs in it.
            None if damage.member.is_none() && damage.bytes == 0 => {
                let logs = self.logs.iter().zip(&self.sources).filter(|(log, _)| damage.is_in(&log.place));
                let (records, bytes) = logs.fold((0, 0), |(records, bytes), (log, source)| {
                    (records + log.samples, bytes + source.bytes)
                });
                (damage.records, damage.bytes) = (records, bytes);
            }
            None => {}
        }
        damage.file = last_part(&damage.file).to_owned();
        damage
    }

    /// Adds a reject of the log with this number. Its line and byte are those of the log.
    fn reject(&mut self, log: usize, place: &Place, reject: LocalReject<'_>) -> Result<()> {
        let LocalReject { line, byte, reason, value, record } = reject;
        let file = place.file.file_name().unwrap_or(place.file.as_os_str());
        let reject = Reject {
            file: file.to_string_lossy().into_owned(),
            member: place.member.clone(),
            line,
            byte,
            code: Some(reason.code().to_owned()),
            reason: reason.with_value(value.as_deref()),
            record: String::from_utf8_lossy(record).into_owned(),
        };
        self.push_reject(RejectWhy { log, reason, value }, place, &reject)
    }

    /// Returns true if nearly all records were rejected, so that the few others are no run. A user who allows more rejects than
    /// usual has looked at them.
    pub(crate) fn is_mostly_rejected(&self) -> bool {
        let rejects = self.rejects.len();
        let accepted: u64 = self.logs.iter().map(|log| log.samples).sum();
        let is_usual = self.max_rejects <= USUALLY_ALLOWED;
        accepted == 0 || (is_usual && rejects >= FEW_REJECTS && rejects / MOSTLY >= accepted)
    }

    /// Returns the error for a log of which nearly all records were rejected, with the most frequent reason, the first record
    /// and the remedy for that reason. Of one that is not `whole`, only the beginning was read.
    pub(crate) fn mostly_rejected(&mut self, place: Place, whole: bool) -> Error {
        let rejects = self.rejects.len();
        let accepted: u64 = self.logs.iter().map(|log| log.samples).sum();
        let all = rejects + accepted;
        let mut problem = match (accepted, whole) {
            (0, true) => format!("it has no valid record (rejected: {rejects})"),
            (0, false) => format!("all of its first {rejects} records are rejected"),
            (_, true) => format!("nearly all of its {all} records are rejected: {rejects}"),
            (_, false) => format!("nearly all of its first {all} records are rejected: {rejects}"),
        };
        // The reason of most rejects, else that of the first.
        let most = self.reject_counts.iter().find(|(_, count)| 2 * **count > rejects).map(|(most, _)| *most);
        let is_it = |reject: &Reject| most.is_none_or(|most| reject.code.as_deref() == Some(most.code()));
        let first = self.rejects.iter().ok();
        let first = first.and_then(|mut all| all.by_ref().flatten().take(FIRST_REJECTS).find(is_it));
        let value = first.as_ref().map_or("", |first| first.reason.as_str());
        let mut remedy = most.map_or_else(|| NO_RECORDS_REMEDY.to_owned(), |reason| reason.remedy(value));
        if let Some(RejectReason::NotATime { .. }) = most {
            remedy = self.format_of_times().unwrap_or(remedy);
        }
        if let Some(first) = &first {
            problem.push_str(&format!("; on line {}: {}", first.line, first.reason));
        }
        if !whole {
            remedy.push_str(" If what follows is the run, raise IngestOptions::max_rejects.");
        }
        Error::input(ErrorKind::NoValidRecord, place, problem, remedy)
    }

    /// Returns the remedy for times of another format, if a common one fits the first rejected records.
    fn format_of_times(&mut self) -> Option<String> {
        let rejects = self.rejects.iter().ok()?.flatten().take(TIMES_LOOKED_AT);
        let value = |reject: Reject| {
            let (_, value) = reject.reason.split_once(": `")?;
            Some(value.trim_end_matches('`').to_owned())
        };
        let times: Vec<String> = rejects.filter_map(value).collect();
        TimeFormat::remedy(&times.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Adds a reject, if the limit allows one more.
    fn push_reject(&mut self, why: RejectWhy, place: &Place, reject: &Reject) -> Result<()> {
        if let RejectReason::SeveralSamples { .. } = why.reason {
            return Err(Error::input(
                ErrorKind::StatisticalSamples,
                place.clone().at(reject.line, reject.byte),
                why.reason.to_string(),
                "Percentiles can't be computed from sums. Have JMeter send every sample: set mode=StrippedBatch, and run the \
                 test again.",
            ));
        }
        if self.rejects.len() >= self.max_rejects {
            if self.is_mostly_rejected() {
                return Err(self.mostly_rejected(place.clone(), false));
            }
            return Err(Error::Rejects {
                place: Box::new(place.clone().at(reject.line, reject.byte)),
                reason: why.reason,
                value: why.value,
                rejects: self.rejects.len() + 1,
                limit: self.max_rejects,
            });
        }
        *self.reject_counts.entry(why.reason).or_default() += 1;
        self.rejects.push(reject)?;
        if let Some(whys) = &mut self.whys {
            whys.push(why);
        }
        Ok(())
    }
}

/// The number of rejects that are kept of logs that are read ahead of their turn.
const REJECTS_AHEAD: u64 = 10_000;

impl Collected {
    /// Creates empty results of logs that are read ahead of their turn.
    pub(super) fn ahead(max_rejects: u64, totals: Totals) -> Self {
        Self { whys: Some(Vec::new()), ..Self::new(max_rejects, totals) }
    }

    /// Begins to collect other logs, among which blocks and damage are numbered.
    pub(super) fn begin_lane(&mut self) {
        self.before = self.logs.len();
    }

    /// Returns true if a block can be collected ahead of its turn. Otherwise it depends on the blocks before what
    /// becomes of it.
    pub(super) fn has_room(&self, block: &BlockCounts) -> bool {
        let rejects = self.rejects.len() + block.rejects.kept();
        block.rejects.left_out() == 0 && rejects <= REJECTS_AHEAD && self.totals.has_room(&block.tally)
    }

    /// Returns true if results of later logs can be added ahead of their turn.
    pub(super) fn has_room_for(&self, later: &Self) -> bool {
        let one_unit = self.resolution.is_none_or(|own| later.resolution.is_none_or(|other| own == other));
        let rejects = self.rejects.len() + later.rejects.len();
        one_unit
            && rejects <= self.max_rejects.min(REJECTS_AHEAD)
            && self.bytes.saturating_add(later.bytes) <= i64::MAX as u64
            && self.totals.has_room_for(&later.totals)
    }

    /// Adds the separate results of the logs that come next.
    ///
    /// # Errors
    /// As for [`add`](Self::add), and when a temporary file can't be read.
    pub(super) fn absorb(&mut self, mut later: Self) -> Result<()> {
        self.absorb_rejects(&mut later)?;
        let first = self.logs.len();
        let bytes: Vec<u64> = later.logs.iter_mut().map(|log| std::mem::take(&mut log.bytes)).collect();
        self.logs.append(&mut later.logs);
        self.before = first + later.before;
        for (log, bytes) in (first..).zip(bytes) {
            self.add_bytes(log, bytes)?;
        }
        self.sources.append(&mut later.sources);
        self.notes.append(&mut later.notes);
        let damage = std::mem::take(&mut later.damage).into_iter();
        self.damage.extend(damage.map(|(log, damage)| (log.map(|log| first + log), damage)));
        self.earliest_ms = [self.earliest_ms, later.earliest_ms].into_iter().flatten().min();
        self.latest_ms = self.latest_ms.max(later.latest_ms);
        self.ends.merge(later.ends);
        self.intervals = self.intervals.into_iter().chain(later.intervals).reduce(Intervals::merged);
        self.measures = self.measures.merged(later.measures);
        self.cut += later.cut;
        self.endpoints.merge(&later.endpoints);
        self.totals.absorb(later.totals)
    }

    /// Adds the rejects and the unit of later logs in the order in which they were found, since the first that is one
    /// too many, or differs, is reported.
    fn absorb_rejects(&mut self, later: &mut Self) -> Result<()> {
        let first = self.logs.len();
        let of_samples = later.logs.iter().find(|log| log.samples > 0);
        let mut unit = later.resolution.zip(of_samples.map(|log| log.place.clone()));
        let whys = later.whys.take().unwrap_or_default();
        for (number, (reject, why)) in (0..).zip(later.rejects.iter()?.zip(whys)) {
            if let Some((unit, place)) = unit.take_if(|_| number == later.rejects_before) {
                self.set_resolution(unit, 1, &place)?;
            }
            let place = later.logs.get(why.log).map(|log| log.place.clone()).unwrap_or_default();
            self.push_reject(RejectWhy { log: first + why.log, ..why }, &place, &reject?)?;
        }
        match unit {
            Some((unit, place)) => self.set_resolution(unit, 1, &place),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::block::LocalKey;
    use perfpipe_model::counts::Cell;
    use perfpipe_model::sample::pool::PooledBuffer;

    /// A block with one cell that has these sums of bytes.
    fn block(bytes: i64, sent_bytes: i64) -> BlockCounts {
        let key = LocalKey { second: 0, label: 0, success: true, transaction: false };
        let cell = Cell { bytes, sent_bytes, ..Cell::default() };
        let tally = BlockTally::of(vec![(key, cell)], ["a"]);
        let bytes = PooledBuffer::default();
        let block = Block { bytes, first_byte: 0, oversized: None, skipped_lines: 0, cut: false };
        BlockCounts { tally, ..BlockCounts::new(0, &block, &mut Parsed::default()) }
    }

    #[test]
    fn bytes_that_no_sum_can_hold_are_an_error() {
        for (before, last, refused) in [(0, i64::MAX, false), (1, i64::MAX, true), (i64::MIN + 1, 1, true)] {
            let mut collected = Collected::new(0, Totals::default());
            collected.begin_log(Place::file("a.csv"));
            collected.add(block(before, 0), &[]).unwrap();
            let error = collected.add(block(0, last), &[]).err();
            assert_eq!(error.is_some(), refused, "{before} {last}");
            assert!(error.is_none_or(|error| error.kind() == ErrorKind::SizeOverflow));
        }
    }
}
