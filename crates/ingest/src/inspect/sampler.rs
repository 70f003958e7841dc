//! Reads the beginnings of the logs with the code of an ingest, and counts their records.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::columns::ColumnNames;
use super::cpu::{CpuInspection, SeriesInspection};
use super::found::Inspection;
use super::found::{first_rejects, reject_kinds};
use super::log::{InjectorsBy, LogInspection, TimeForm, scaled};
use crate::counting::counter::Counter;
use crate::counting::totals::Totals;
use crate::operations::ingest::Prepared;
use crate::operations::options::IngestOptions;
use crate::pipeline::collector::collected::{BlockCounts, Collected};
use crate::pipeline::plan::LogFeed;
use crate::source::LogSource;
use perfpipe_formats::jtl::blocks::Block;
use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};
use perfpipe_formats::jtl::parsed::{Clock, Parsed};
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_formats::jtl::records::record::Records;
use perfpipe_formats::number::parse_i64;
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::{Error, Place, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::run::key::Repeat;
use perfpipe_model::run::note::Note;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::sample::pool::NewBuffers;
use perfpipe_model::sample::texts::Texts;

/// The number of bytes at the end of a log that are read.
const TAIL: u64 = 1 << 20;

/// The facts about a log, or a pipe of logs, before it is read.
struct LogFacts {
    place: Place,
    packing: String,
    pipe: bool,
    packed_bytes: Option<u64>,
    unpacked_bytes: Option<u64>,
}

impl LogFacts {
    fn of(source: &LogSource) -> Self {
        Self {
            place: source.place().clone(),
            packing: source.packing(),
            pipe: !source.can_restart(),
            packed_bytes: source.packed_size(),
            unpacked_bytes: source.unpacked_size(),
        }
    }
}

/// A log that is being read.
struct SampledLog {
    place: Place,
    found: LogInspection,
    layout: Option<Arc<Layout>>,
    file: Option<Arc<str>>,
    /// The number of line feeds in the blocks so far.
    lines: u64,
    header_seen: bool,
    /// The number of packed bytes of all logs before this one.
    packed_before: u64,
}

/// Receives blocks like the pipeline of an ingest, but on one thread.
pub(super) struct Sampler {
    parser: Parser,
    counter: Counter,
    parsed: Parsed,
    buffers: NewBuffers,
    clock: Option<Clock>,
    /// The t0 with which an ingest would start, epoch ms.
    origin: Option<i64>,
    zone: TimeZone,
    layout: LayoutOptions,
    /// The maximum number of bytes to read of each log.
    limit: u64,
    sources: Vec<LogFacts>,
    samples: Vec<SampledLog>,
    collected: Collected,
    /// The number of packed bytes read so far.
    pub(super) packed: Arc<AtomicU64>,
    /// The error with which an ingest would stop here.
    pub(super) refusal: Option<Error>,
}

impl LogFeed for Sampler {
    type Buffers = NewBuffers;

    fn start(&mut self, clock: Clock) {
        // The numbering of seconds does not matter here, but none may be negative.
        let origin = clock.head.map_or(0, |head| head.saturating_sub_unsigned(clock.max_span_ms));
        self.origin = Some(clock.origin);
        self.clock = Some(Clock { origin, ..clock });
    }

    fn buffers(&mut self) -> &mut NewBuffers {
        &mut self.buffers
    }

    fn begin_log(&mut self, place: Place) -> bool {
        self.complete_last();
        self.collected.begin_log(place.clone());
        let found = self.unread_log(&place);
        let packed_before = self.packed.load(Ordering::Relaxed);
        self.samples.push(SampledLog {
            place,
            found,
            layout: None,
            file: None,
            lines: 0,
            header_seen: false,
            packed_before,
        });
        true
    }

    fn block(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> bool {
        match self.take(block, layout, file) {
            Ok(()) => true,
            Err(error) => {
                self.refusal = Some(error);
                false
            }
        }
    }

    fn end_log(&mut self, source: SourceFile) -> bool {
        if let Some(sample) = self.samples.last_mut() {
            sample.found.whole = true;
            sample.found.sample_bytes = source.bytes;
            sample.found.end_seen = true;
        }
        self.collected.sources.push(source);
        true
    }

    fn damage(&mut self, damage: Damage, of_log: bool) -> bool {
        let log = self.samples.len().checked_sub(1).filter(|_| of_log);
        self.collected.damage.push((log, damage));
        true
    }

    fn notes(&mut self, notes: Vec<String>) -> bool {
        self.collected.notes.extend(notes);
        true
    }
}

impl Sampler {
    pub(super) fn new(parser: Parser, options: &IngestOptions, prepared: &Prepared, limit: u64) -> Self {
        let logs = prepared.logs.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            parser,
            counter: Counter::default(),
            parsed: Parsed::default(),
            buffers: NewBuffers,
            clock: None,
            origin: None,
            zone: options.source.time_zone.clone(),
            layout: options.source.layout.clone(),
            limit,
            sources: logs.iter().map(LogFacts::of).collect(),
            samples: Vec::new(),
            collected: Collected::new(options.max_rejects, Totals::new(options.sizes.memory, None)),
            packed: Arc::default(),
            refusal: None,
        }
    }

    /// The facts about a log before it is read. For the later logs of a pipe: the facts about the pipe.
    fn unread_log(&self, place: &Place) -> LogInspection {
        let exact = self.sources.iter().find(|source| source.place == *place);
        let source = exact.or_else(|| self.sources.iter().find(|source| source.place.file == place.file));
        LogInspection {
            file: place.file.to_string_lossy().into_owned(),
            member: place.member.clone(),
            packing: source.map(|source| source.packing.clone()).unwrap_or_default(),
            pipe: source.is_some_and(|source| source.pipe),
            packed_bytes: source.and_then(|source| source.packed_bytes),
            unpacked_bytes: source.and_then(|source| source.unpacked_bytes),
            unpacked_estimated: false,
            sample_bytes: 0,
            whole: false,
            format: None,
            delimiter: ',',
            header: false,
            columns: Vec::new(),
            missing_columns: Vec::new(),
            ignored_columns: Vec::new(),
            repeated_headers: 0,
            first_repeated_header: None,
            time_stamp: None,
            first_ms: None,
            earliest_ms: None,
            latest_ms: None,
            end_seen: false,
            accepted: 0,
            rejects: 0,
            records_estimate: None,
            injectors_by: InjectorsBy::Nothing,
        }
    }

    /// Completes the figures of the last log.
    fn complete_last(&mut self) {
        let packed = self.packed.load(Ordering::Relaxed);
        if let Some(sample) = self.samples.last_mut() {
            sample.found.complete(packed - sample.packed_before);
        }
    }

    /// Counts a block.
    fn take(&mut self, block: Block, layout: &Arc<Layout>, file: Option<&Arc<str>>) -> Result<()> {
        let Some((clock, log)) = self.clock.zip(self.samples.len().checked_sub(1)) else { return Ok(()) };
        let Some(sample) = self.samples.last_mut() else { return Ok(()) };
        if sample.layout.is_none() {
            sample.describe(layout, &self.layout);
            sample.file = file.cloned();
        }
        sample.found.sample_bytes = block.first_byte + block.bytes.len() as u64;
        if let Some(reason) = block.oversized {
            sample.found.rejects += 1;
            // The sample extends to the next block or to the limit.
            sample.found.sample_bytes = self.limit;
            sample.lines += block.skipped_lines;
            return self.collected.add(BlockCounts::oversized(log, &block, reason), &block.bytes);
        }
        self.parser.parse_block(&block, file.map(AsRef::as_ref), layout, &clock, &mut self.parsed);
        if let Some(at_byte) = self.parsed.at_byte {
            // Converted bytes are none of the log's.
            sample.found.sample_bytes = at_byte;
        }
        sample.count_headers(&block.bytes, layout);
        sample.add_block(&self.parsed, file.map(AsRef::as_ref));
        if sample.found.time_stamp.is_none()
            && let Some(first_ms) = self.parsed.first_ms
        {
            sample.examine_first(&block, layout, first_ms, &mut self.parser, &self.zone);
        }
        let mut counts = BlockCounts::new(log, &block, &mut self.parsed);
        counts.tally = self.counter.tally(&mut self.parsed, &clock);
        self.collected.add(counts, &block.bytes)
    }

    /// Reads the ends of unpacked log files to find their last times.
    pub(super) fn read_ends(&mut self, prepared: &Prepared) -> Result<()> {
        self.complete_last();
        let Some(clock) = self.clock else { return Ok(()) };
        let logs = prepared.logs.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in self.samples.iter_mut().filter(|sample| !sample.found.whole) {
            let Some(log) = logs.iter().find(|log| *log.place() == sample.place) else { continue };
            // What a log is converted to depends on all that is before.
            let Some(layout) = sample.layout.as_ref().filter(|layout| layout.converted.is_none()) else {
                continue;
            };
            let Some(tail) = log.tail(TAIL)? else { continue };
            // A partial record at the beginning of the tail is skipped.
            let begin = memchr::memchr(b'\n', &tail).map_or(tail.len(), |feed| feed + 1);
            let records = tail.get(begin..).unwrap_or_default();
            self.parser.parse(records, sample.file.as_deref(), layout, &clock, &mut self.parsed);
            sample.found.earliest_ms = min(sample.found.earliest_ms, self.parsed.earliest_ms);
            sample.found.latest_ms = sample.found.latest_ms.max(self.parsed.latest_ms);
            sample.found.end_seen = self.parsed.latest_ms.is_some();
        }
        Ok(())
    }

    /// Completes the inspection. `broken` is the error that ended the reading, if any.
    pub(super) fn found(
        mut self,
        prepared: Prepared,
        options: &IngestOptions,
        broken: Option<Error>,
    ) -> Result<Inspection> {
        let logs: Vec<LogInspection> = self.samples.into_iter().map(|sample| sample.found).collect();
        let known = self.sources.iter().all(|source| logs.iter().any(|log| source.is_file_of(log)));
        let whole = !logs.is_empty() && known && broken.is_none() && logs.iter().all(|log| log.whole);
        let end_seen = !logs.is_empty() && known && logs.iter().all(|log| log.end_seen);
        let t0_ms = logs.iter().filter_map(|log| log.earliest_ms).min();
        let last_ms = logs.iter().filter_map(|log| log.latest_ms).max();
        let collected = &mut self.collected;
        let damage = collected.damage.clone();
        let refusal = match whole {
            true => objection(&prepared, collected, options, self.origin, t0_ms),
            false => broken,
        };
        collected.damage = damage;
        let damage = collected.take_damage(&prepared.damage);
        let inferred = (!self.sources.is_empty()).then(|| prepared.clues(collected, options).infer());
        let (key, inferred) = inferred.map(|inferred| (inferred.key, inferred.notes)).unzip();
        let reject_kinds = reject_kinds(&collected.reject_counts);
        let first_rejects = first_rejects(&mut collected.rejects)?;
        let records: Option<u64> = logs.iter().map(|log| log.records_estimate).sum();
        let records = records.filter(|_| known);
        let (rejected, seen) = (collected.rejects.len(), logs.iter().map(LogInspection::records).sum());
        let mut notes = prepared.notes.clone();
        notes.extend(collected.take_notes().into_iter().map(Note::from));
        let cpu = CpuInspection::of(&prepared, options, &logs, t0_ms.zip(last_ms));
        let series = SeriesInspection::all(&prepared, options, &logs, t0_ms.zip(last_ms));
        Ok(Inspection {
            key: key.map(|key| match options.repeat {
                Repeat::Number(repeat) => key.with_repeat(repeat),
                Repeat::Next => key,
            }),
            inferred: inferred.unwrap_or_default(),
            whole,
            t0_ms,
            last_ms,
            end_seen,
            successes: collected.totals.successes,
            failures: collected.totals.failures,
            transactions: collected.totals.transactions,
            rejects: rejected,
            records_estimate: records,
            rejects_estimate: records.and_then(|records| scaled(rejected, records, seen)),
            max_rejects: options.max_rejects,
            reject_kinds,
            first_rejects,
            labels: collected.totals.label_counts(),
            injectors: named(collected.totals.injectors()),
            logs,
            cpu,
            series,
            notes,
            damage,
            refusal,
        })
    }
}

/// The error with which an ingest of completely read logs would be refused at the commit, if any.
fn objection(
    prepared: &Prepared,
    collected: &mut Collected,
    options: &IngestOptions,
    origin: Option<i64>,
    t0_ms: Option<i64>,
) -> Option<Error> {
    let Some(t0_ms) = t0_ms.filter(|_| !collected.is_mostly_rejected()) else {
        return Some(prepared.too_little_taken(collected));
    };
    let earlier = match origin.is_some_and(|origin| t0_ms < origin) {
        true => prepared.check_earlier(t0_ms, options, false),
        false => Ok(()),
    };
    earlier.and_then(|()| prepared.origin(t0_ms, options)).err()
}

/// The names of the injectors, without the unnamed one.
fn named(mut injectors: Vec<String>) -> Vec<String> {
    injectors.retain(|name| !name.is_empty());
    injectors
}

fn min(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    [one, other].into_iter().flatten().min()
}

impl LogFacts {
    /// Returns true if the log is in this file.
    fn is_file_of(&self, log: &LogInspection) -> bool {
        self.place.file.to_string_lossy() == log.file && (self.pipe || self.place.member == log.member)
    }
}

impl SampledLog {
    /// Records the layout of the log.
    fn describe(&mut self, layout: &Arc<Layout>, options: &LayoutOptions) {
        let names = ColumnNames::of(layout, options);
        let found = &mut self.found;
        found.format = layout.converted.map(str::to_owned);
        found.delimiter = char::from(layout.delimiter);
        found.header = layout.header.is_some();
        (found.columns, found.missing_columns, found.ignored_columns) =
            (names.all, names.missing, names.ignored);
        self.layout = Some(Arc::clone(layout));
    }

    /// Adds the counts of a block.
    fn add_block(&mut self, parsed: &Parsed, file: Option<&str>) {
        let found = &mut self.found;
        found.accepted += parsed.samples();
        found.rejects += parsed.rejects.kept();
        found.earliest_ms = min(found.earliest_ms, parsed.earliest_ms);
        found.latest_ms = found.latest_ms.max(parsed.latest_ms);
        self.lines += parsed.lines;
        if parsed.has_hostname {
            found.injectors_by = InjectorsBy::Hostname;
        } else if found.injectors_by == InjectorsBy::Nothing && hosts(&parsed.batch.injector, file) {
            found.injectors_by = InjectorsBy::ThreadName;
        }
    }

    /// Searches a block for repeated headers.
    fn count_headers(&mut self, block: &[u8], layout: &Layout) {
        let Some(header) = layout.header.as_deref().filter(|header| !header.is_empty()) else { return };
        for at in memchr::memmem::find_iter(block, header) {
            let before = at.checked_sub(1).and_then(|before| block.get(before));
            let behind = block.get(at + header.len()..).unwrap_or_default();
            let alone = before.is_none_or(|byte| *byte == b'\n')
                && (behind.is_empty() || behind.starts_with(b"\n") || behind.starts_with(b"\r\n"));
            // The first header is the log's own.
            if !alone || !std::mem::replace(&mut self.header_seen, true) {
                continue;
            }
            let feeds = memchr::memchr_iter(b'\n', block.get(..at).unwrap_or_default()).count() as u64;
            self.found.repeated_headers += 1;
            self.found.first_repeated_header.get_or_insert(self.lines + feeds + 1);
        }
    }

    /// Examines the first accepted record, given its time.
    fn examine_first(
        &mut self,
        block: &Block,
        layout: &Layout,
        first_ms: i64,
        parser: &mut Parser,
        zone: &TimeZone,
    ) {
        self.found.first_ms = Some(first_ms);
        if let Form::Packed(_) = layout.form {
            self.found.time_stamp = Some(TimeForm::EpochMs);
            return;
        }
        let columns = &layout.columns;
        let mut records = Records::new(&block.bytes, layout.delimiter);
        while let Some(record) = records.next_record() {
            let time = record.field(columns.time_stamp);
            let number = parse_i64(time).map(|number| parser.columns.unit.to_ms(number));
            let time_ms = number.unwrap_or_else(|| parser.columns.dates.parse(time));
            if record.width() != layout.width || record.open || time_ms != Some(first_ms) {
                continue;
            }
            let date = parser.columns.dates.form(time);
            self.found.time_stamp = Some(match date {
                None => TimeForm::of_unit(parser.columns.unit),
                Some(date) => TimeForm::Date {
                    pattern: date.pattern,
                    names_zone: date.names_zone,
                    zone: zone.to_string(),
                },
            });
            return;
        }
    }
}

/// Returns true if injectors have names other than their log's.
fn hosts(injectors: &Texts, file: Option<&str>) -> bool {
    injectors.values().iter().any(|name| Some(name) != file)
}
