//! Writes the log as JMeter does: each finished request becomes a record, written at once or, by remote injectors, in
//! batches.

use std::io::{self, Write};

use super::outcome::Outcome;
use super::record::{Line, fields, integer, quoted};
use super::shape::{Shape, host};
use super::{Plan, Tally, label};

/// The number of bytes that are collected before they are written.
const PIECE: usize = 1 << 20;
/// The number of records in a batch of an injector.
const BATCH: u32 = 100;
/// The maximum time that an injector holds a record, in ms.
const BATCH_MS: i64 = 60_000;
const TRANSACTION_LABEL: &str = "Visit";

/// One request. Times are in ms; the start is relative to the start of the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) start: i64,
    pub(super) elapsed: i64,
    pub(super) latency: i64,
    pub(super) connect: i64,
    /// Index of the outcome.
    pub(super) outcome: usize,
    /// Index of the label.
    pub(super) label: u32,
}

/// The requests of a transaction so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    pub(super) children: u32,
    failing: u32,
    start: i64,
    end: i64,
    elapsed: i64,
    latency: i64,
    connect: i64,
    bytes: i64,
    sent_bytes: i64,
}

impl Group {
    /// Adds a request.
    pub(super) fn add(&mut self, sample: &Sample, outcome: &Outcome) {
        if self.children == 0 {
            self.start = sample.start;
        }
        self.children += 1;
        self.failing += u32::from(!outcome.success);
        self.end = sample.start + sample.elapsed;
        self.elapsed += sample.elapsed;
        self.latency += sample.latency;
        self.connect += sample.connect;
        self.bytes += outcome.bytes;
        self.sent_bytes += outcome.sent_bytes;
    }
}

/// A machine that sends load.
#[derive(Debug, Clone, Default)]
struct Injector {
    active: u32,
    /// grpThreads and allThreads, as written to the log.
    threads: Vec<u8>,
    /// Records that are not reported yet, their number, and the time of the first one.
    held: Vec<u8>,
    records: u32,
    since: i64,
}

/// The log that is being written.
pub(super) struct Log<'a, W> {
    plan: &'a Plan,
    out: &'a mut W,
    buffer: Vec<u8>,
    labels: Vec<Vec<u8>>,
    url: Vec<u8>,
    names: Vec<Vec<u8>>,
    hosts: Vec<Vec<u8>>,
    injectors: Vec<Injector>,
    tally: Tally,
    /// The start of the run within its epoch second, in ms.
    into_second: i64,
}

impl<'a, W: Write> Log<'a, W> {
    pub(super) fn new(plan: &'a Plan, out: &'a mut W) -> Self {
        let mut buffer = Vec::with_capacity(PIECE + (64 << 10));
        if plan.header {
            buffer.extend(fields(&plan.shape.columns(), plan.delimiter));
            buffer.push(b'\n');
        }
        Self {
            plan,
            out,
            buffer,
            labels: label::labels(plan),
            url: quoted(&format!("http://{}/{}", plan.server, plan.test), plan.delimiter),
            names: (0..plan.threads).map(|thread| quoted(&name(plan, thread), plan.delimiter)).collect(),
            hosts: (0..plan.injectors).map(|injector| quoted(&host(injector), plan.delimiter)).collect(),
            injectors: vec![Injector::default(); plan.injectors as usize],
            tally: Tally::default(),
            into_second: plan.start_ms.rem_euclid(1000),
        }
    }

    /// Changes the number of active threads by 1 or -1.
    pub(super) fn count_thread(&mut self, thread: u32, change: i32) {
        let injector = &mut self.injectors[(thread % self.plan.injectors) as usize];
        injector.active = injector.active.saturating_add_signed(change);
        injector.threads.clear();
        integer(&mut injector.threads, i64::from(injector.active));
        injector.threads.push(self.plan.delimiter);
        integer(&mut injector.threads, i64::from(injector.active));
    }

    /// Logs a request that has just ended.
    #[inline]
    pub(super) fn request(
        &mut self,
        now: i64,
        thread: u32,
        sample: &Sample,
        outcome: &Outcome,
    ) -> io::Result<()> {
        self.count(sample.start, outcome.success);
        let (plan, number) = (self.plan, (thread % self.plan.injectors) as usize);
        let injector = &mut self.injectors[number];
        let out = if plan.is_in_batches() { &mut injector.held } else { &mut self.buffer };
        let mut line = Line::new(out, plan.delimiter);
        line.number(plan.start_ms + sample.start)
            .number(sample.elapsed)
            .text(&self.labels[sample.label as usize]);
        if plan.shape == Shape::Few {
            line.text(&outcome.short).number(i64::from(injector.active)).end(sample.latency);
            return self.written(now, thread);
        }
        line.text(&outcome.response)
            .text(&self.names[thread as usize])
            .text(&outcome.verdict)
            .text(&injector.threads)
            .text(&self.url)
            .number(sample.latency)
            .number(0);
        match plan.shape {
            Shape::Hostname => line.number(sample.connect).end_text(&self.hosts[number]),
            _ => line.end(sample.connect),
        }
        self.written(now, thread)
    }

    /// Logs the record of a transaction controller.
    pub(super) fn transaction(&mut self, now: i64, thread: u32, group: &Group) -> io::Result<()> {
        self.tally.transactions += 1;
        let (plan, injector) = (self.plan, (thread % self.plan.injectors) as usize);
        let (code, success) = if group.failing == 0 { ("200", "true") } else { ("", "false") };
        let message = format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            group.children, group.failing
        );
        let injector = &mut self.injectors[injector];
        let out = if plan.is_in_batches() { &mut injector.held } else { &mut self.buffer };
        Line::new(out, plan.delimiter)
            .number(plan.start_ms + group.start)
            .number(group.elapsed)
            .text(&fields(&[TRANSACTION_LABEL, code, &message], plan.delimiter))
            .text(&self.names[thread as usize])
            .text(&fields(&["", success, ""], plan.delimiter))
            .number(group.bytes)
            .number(group.sent_bytes)
            .text(&injector.threads)
            .text(b"null")
            .number(group.latency)
            .number(group.end - group.start - group.elapsed)
            .end(group.connect);
        self.written(now, thread)
    }

    /// Writes all remaining records.
    pub(super) fn finish(mut self) -> io::Result<Tally> {
        for injector in &mut self.injectors {
            self.buffer.append(&mut injector.held);
        }
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        Ok(self.tally)
    }

    #[inline]
    fn count(&mut self, start: i64, success: bool) {
        let second = ((self.into_second + start) / 1000) as usize;
        if self.tally.seconds.len() <= second {
            self.tally.seconds.resize(second + 1, (0, 0));
        }
        let (successes, failures) = &mut self.tally.seconds[second];
        *successes += u64::from(success);
        *failures += u64::from(!success);
        self.tally.successes += u64::from(success);
        self.tally.failures += u64::from(!success);
        let stamp = self.plan.start_ms + start;
        let (first, last) = self.tally.span_ms.unwrap_or((stamp, stamp));
        self.tally.span_ms = Some((first.min(stamp), last.max(stamp)));
    }

    /// Writes what is due after a record.
    #[inline]
    fn written(&mut self, now: i64, thread: u32) -> io::Result<()> {
        if self.plan.is_in_batches() {
            self.injectors[(thread % self.plan.injectors) as usize].report(now, &mut self.buffer);
        }
        if self.buffer.len() >= PIECE {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Injector {
    /// Counts a new record, and passes on the batch if it is complete or old.
    fn report(&mut self, now: i64, buffer: &mut Vec<u8>) {
        if self.records == 0 {
            self.since = now;
        }
        self.records += 1;
        if self.records == BATCH || now - self.since >= BATCH_MS {
            buffer.append(&mut self.held);
            self.records = 0;
        }
    }
}

fn name(plan: &Plan, thread: u32) -> String {
    let (injector, number) = (thread % plan.injectors, thread / plan.injectors + 1);
    if let Some(name) = plan.shape.thread(injector, number) {
        return name;
    }
    let name = format!("bzm - Concurrency Thread Group-ThreadStarter 1-{number}");
    if plan.injectors == 1 {
        return name;
    }
    format!("127.0.{}.{}:1100-{name}", injector / 250, injector % 250 + 2)
}
