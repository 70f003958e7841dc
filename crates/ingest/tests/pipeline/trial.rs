//! Random runs of the pipeline, under a watchdog: any number of logs of any length, however packed, with any sizes.
//!
//! Each run is known by a number, its seed: `PERFPIPE_SEED` repeats one.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use perfpipe_ingest::Store;
use perfpipe_ingest::store::postgres::PostgresConfig;
use perfpipe_ingest::{IngestOptions, Result, SampleBatch, SampleSink, StoredRun, stream};

use crate::expected::Expected;
use crate::log::NOON;
use crate::memory::in_memory;
use crate::oracle::{DEFAULT_COLUMNS, OracleRun};
use crate::postgres::TestServer;
use crate::read_back::{Row, named, rows};
use crate::support::{Desk, Keep, Stored, block_on, options, within};

/// How long the slowest run may take on the slowest machine.
const LIMIT: Duration = Duration::from_secs(600);

/// How many zips there are where there are several.
const ZIPS: usize = 3;

/// Bytes of all logs of each tenth run, if all its records were long; it is above 32 MiB though some are not.
const LARGE: usize = 38 << 20;

/// Numbers that look random, and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.roll() % (range.end - range.start) as u64) as usize
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.within(0..of) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.within(0..of.len())]
    }
}

/// How the logs come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Packing {
    Files,
    /// One plain, the next as gzip, the next as zstd, and so on.
    Mixed,
    Zip,
    /// Several zips.
    Zips,
    Pipe,
}

/// Where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Into {
    Memory,
    Folder,
    Sink,
    SlowSink,
    Postgres,
}

/// A run that is to be tried.
struct Run {
    logs: Vec<Vec<u8>>,
    packing: Packing,
    into: Into,
    options: IngestOptions,
    /// The longest record, in bytes.
    longest: usize,
}

impl Run {
    fn of(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let large = seed.is_multiple_of(10);
        let packing = dice.pick(&[
            Packing::Files,
            Packing::Files,
            Packing::Files,
            Packing::Mixed,
            Packing::Zip,
            Packing::Zip,
            Packing::Zips,
            Packing::Pipe,
        ]);
        let into = match dice.within(0..20) {
            0..=8 => Into::Memory,
            9..=14 => Into::Folder,
            15 | 16 => Into::Sink,
            17 | 18 => Into::SlowSink,
            _ => Into::Postgres,
        };
        let count = match dice.within(0..5) {
            _ if packing == Packing::Pipe => 1,
            0 => 1,
            1 => dice.within(2..9),
            2 | 3 => dice.within(9..33),
            _ => dice.within(33..65),
        };
        let mut writer = LogWriter { dice, at: 0, longest: DEFAULT_COLUMNS.len() + 1, text: 0 };
        // A file must begin with a log that has a record.
        let zip = match packing {
            Packing::Zip => count,
            Packing::Zips => usize::div_ceil(count, ZIPS),
            _ => 1,
        };
        let logs: Vec<Vec<u8>> =
            (0..count).map(|at| writer.log(at % zip > 0, large.then_some(count))).collect();
        let (mut dice, longest) = (writer.dice, writer.longest);
        let options = sizes(&mut dice, &logs, packing, into);
        Self { logs, packing, into, options, longest }
    }

    /// Whether a log is one of the run's: members of zips that hold no record are not.
    fn takes(&self, log: &[u8]) -> bool {
        let is_member = matches!(self.packing, Packing::Zip | Packing::Zips);
        let begins = OracleRun::read(&[log.get(..log.len().min(1 << 16)).unwrap_or_default()]);
        !is_member || !begins.samples.is_empty() || !begins.rejects.is_empty()
    }

    /// Blocks that there are at least; a block is larger than its size only where a record is.
    fn blocks(&self) -> usize {
        let most = 2 * self.options.sizes.block_size.max(self.longest);
        self.logs.iter().map(|log| log.len().div_ceil(most)).sum()
    }

    fn bytes(&self) -> usize {
        self.logs.iter().map(Vec::len).sum()
    }

    /// The files, and for each log the name by which its injectors are told from others'.
    fn write(&self, desk: &Desk) -> (Vec<PathBuf>, Vec<String>) {
        match self.packing {
            Packing::Zip => self.zips(desk, 1),
            Packing::Zips => self.zips(desk, ZIPS),
            packing => {
                let pack = |(at, log): (usize, &Vec<u8>)| match at % 3 {
                    1 if packing == Packing::Mixed => (format!("{at:02}.csv.gz"), gzip(log)),
                    2 if packing == Packing::Mixed => {
                        (format!("{at:02}.csv.zst"), zstd::encode_all(&log[..], 1).unwrap())
                    }
                    _ => (format!("{at:02}.csv"), log.clone()),
                };
                let packed = self.logs.iter().enumerate().map(pack);
                packed.map(|(name, bytes)| (desk.file(&name, bytes), name)).unzip()
            }
        }
    }

    fn zips(&self, desk: &Desk, count: usize) -> (Vec<PathBuf>, Vec<String>) {
        let names: Vec<String> = (0..self.logs.len()).map(|at| format!("{at:02}.csv")).collect();
        let members: Vec<(&String, &Vec<u8>)> = names.iter().zip(&self.logs).collect();
        let zips = members.chunks(members.len().div_ceil(count)).enumerate();
        let files = zips.map(|(at, members)| desk.file(&format!("{at}.zip"), zip(members))).collect();
        (files, names)
    }
}

/// The sizes of the pipeline, of which most make more blocks than there are buffers.
fn sizes(dice: &mut Dice, logs: &[Vec<u8>], packing: Packing, into: Into) -> IngestOptions {
    let workers = dice.within(1..17);
    let bytes: usize = logs.iter().map(Vec::len).sum();
    let block_size = match dice.within(0..6) {
        0 => 1 << 20,
        1 => dice.within(1..200),
        _ => bytes / (workers + 4) / dice.within(3..12),
    };
    // Blocks of a few bytes take long where there are millions of them.
    let block_size = block_size.clamp((bytes >> 11).max(1), 1 << 20);
    let look_ahead = dice.pick(&[0, 1, 1000, 1 << 16, 32 << 20]);
    let mut options = options(workers, block_size, look_ahead).with_max_rejects(u64::MAX);
    options.sizes.readers = dice.pick(&[1, 2, 3, 7]);
    options.sizes.reader_bytes = dice.pick(&[0, 1000, bytes / 4, bytes + 1]);
    options.keep_samples = !dice.one_in(4) || matches!(into, Into::Sink | Into::SlowSink);
    // A pipe can't be read again.
    options.origin = (packing == Packing::Pipe).then(|| OracleRun::read(&[&logs[0]]).t0_ms());
    options
}

/// Makes logs up, one after the other.
struct LogWriter {
    dice: Dice,
    /// Records so far.
    at: i64,
    longest: usize,
    /// Bytes of a record's message, in large logs.
    text: usize,
}

impl LogWriter {
    /// A log; of `large` ones there are so many, which together are larger than [`LARGE`].
    fn log(&mut self, may_be_empty: bool, large: Option<usize>) -> Vec<u8> {
        let mut log = format!("{DEFAULT_COLUMNS}\n").into_bytes();
        self.text = if large.is_some() { self.dice.within(4000..40_000) } else { 0 };
        let records = match (self.dice.within(0..20), large) {
            (_, Some(logs)) => LARGE / logs / self.text + 2,
            (0..=2, _) if may_be_empty => 0,
            (0..=4, _) => 1,
            (5..=16, _) => self.dice.within(2..60),
            _ => self.dice.within(200..2000),
        };
        (0..records).for_each(|at| self.record(at == 0, &mut log));
        if records > 1 && self.dice.one_in(4) {
            log.pop();
        }
        log
    }

    /// A record, which is a proper one if need be.
    fn record(&mut self, proper: bool, log: &mut Vec<u8>) {
        self.at += 1;
        let dice = &mut self.dice;
        let (time, elapsed) = (NOON + self.at / 3 + dice.within(0..1500) as i64, dice.within(0..400));
        let label = dice.pick(&["home", "\"a, b\"", "\"two\nlines\"", "", "\"a \"\"quote\"\"\""]);
        let host = dice.pick(&["", "10.0.0.1-", "east:1099-"]);
        let text = "x".repeat(self.text);
        let start = log.len();
        let line = match dice.within(0..30) {
            0 if !proper => "not,a,record\n".to_owned(),
            1 if !proper => format!("{time},many,{label},200,OK,t 1-1,,true,,1,1,1,1,,1,0,1\n"),
            2 => format!(
                "{time},{elapsed},tx,,Number of samples in transaction : 2,{host}t 1-1,,true,,9,9,1,1,null,1,0,0\n"
            ),
            3 | 4 => format!(
                "{time},{elapsed},{label},500,Oh,{host}t 1-1,text,false,\"no, {text}\",7,,1,2,,,0,3\n"
            ),
            _ => format!(
                "{time},{elapsed},{label},200,{text},{host}t 1-2,text,true,,153,120,1,3,http://h:9000/p,{elapsed},0,1\r\n"
            ),
        };
        log.extend(line.into_bytes());
        self.longest = self.longest.max(log.len() - start);
    }
}

fn gzip(log: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(log).unwrap();
    gzip.finish().unwrap()
}

fn zip(members: &[(&String, &Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, log) in members {
        let options = zip::write::SimpleFileOptions::default().compression_level(Some(1));
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(log).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A sink that is slower than any worker.
struct Slow(Keep, u64);

impl SampleSink for Slow {
    fn batch(&mut self, batch: SampleBatch) -> Result<()> {
        self.1 += 1;
        if self.1 < 40 {
            std::thread::sleep(Duration::from_millis(self.1 % 5));
        }
        self.0.batch(batch)
    }

    fn restart(&mut self) -> Result<()> {
        self.0.restart()
    }
}

/// The server's store, and what came back of the run that it was given.
fn through_postgres(files: &[PathBuf], options: &IngestOptions) -> Option<Stored> {
    let server = TestServer::shared()?;
    // More workers than there are cores, or odd blocks, are tried with more connections and odd stripes too.
    let connections = 1 + options.sizes.workers as u16 % 4;
    let stripe = 1 + options.sizes.block_size as u64 % 50;
    let config = PostgresConfig::resolve(&server.database(), &|_| None).unwrap();
    let config = config.with_connections(connections).with_stripe(stripe);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::database(config).await.unwrap();
        let key = store.ingest(files, options).await.unwrap().info.key;
        let (mut found, mut rejects) = (Vec::new(), Vec::new());
        let mut add_rows = |batch| {
            found.extend(rows(&batch));
            Ok(())
        };
        if options.keep_samples {
            store.samples(&key, &mut add_rows).await.unwrap();
        }
        let mut add_reject = |reject| {
            rejects.push(reject);
            Ok(())
        };
        store.rejects(&key, &mut add_reject).await.unwrap();
        Some(Stored { run: store.read(&key).await.unwrap(), rejects, rows: found })
    })
}

/// What an ingest comes to: the rows, if they are kept, and all else, if the store gives it back.
fn ingested(run: &Run, desk: &Desk, files: &[PathBuf]) -> (Option<Vec<Row>>, Option<Stored>) {
    let options = &run.options;
    let stored = match run.into {
        Into::Sink => return (Some(block_on(stream(Keep::default(), files, options)).unwrap().0.rows), None),
        Into::SlowSink => {
            let (sink, _) = block_on(stream(Slow(Keep::default(), 0), files, options)).unwrap();
            return (Some(sink.0.rows), None);
        }
        Into::Folder => desk.stored(files, options),
        Into::Postgres => through_postgres(files, options).unwrap_or_else(|| in_memory(files, options)),
        Into::Memory => in_memory(files, options),
    };
    let kept = run.into == Into::Memory || options.keep_samples;
    (kept.then(|| stored.rows.clone()), Some(stored))
}

/// Holds what was stored against what the slow reader finds.
fn check(run: &Run, names: &[String], (rows, stored): (Option<Vec<Row>>, Option<Stored>)) {
    let logs = run.logs.iter().map(Vec::as_slice).zip(names.iter().map(String::as_str));
    let (contents, names): (Vec<&[u8]>, Vec<&str>) = logs.filter(|(log, _)| run.takes(log)).unzip();
    let slow = OracleRun::read(&contents);
    let expected = Expected { run: &slow, files: &names, cpu: &BTreeMap::new() };
    if let Some(rows) = rows {
        let in_order = expected.rows();
        let differs = rows.iter().zip(&in_order).position(|(row, expected)| row != expected);
        assert_eq!((differs, rows.len()), (None, in_order.len()), "rows in the order of the logs");
    }
    let Some(Stored { run: StoredRun { info, cells, errors, labels, .. }, rejects, .. }) = stored else {
        return;
    };
    let expected_rejects = expected.rejects();
    let of_reject = |(_, line, byte, record): &(String, u64, u64, String)| (*line, *byte, record.clone());
    let found: Vec<_> = rejects.iter().map(|r| (r.line, r.byte, r.record.clone())).collect();
    assert_eq!(found, expected_rejects.iter().map(of_reject).collect::<Vec<_>>());
    assert_eq!(info.records(), (slow.samples.len() + slow.rejects.len()) as u64);
    assert_eq!((info.t0_ms, info.last_ms), (slow.t0_ms(), slow.last_ms()));
    assert!(named(&cells) == expected.cells(), "counts by second");
    assert!(errors == expected.errors(), "failures");
    assert_eq!(labels, expected.labels());
}

/// Tries a run; what it is, for the summary.
fn attempt(seed: u64) -> Run {
    let run = Run::of(seed);
    let desk = Desk::new();
    let (files, names) = run.write(&desk);
    let came = match run.packing {
        #[cfg(unix)]
        Packing::Pipe => crate::support::through_pipe(&desk, "pipe.csv", &run.logs[0], |fifo| {
            ingested(&run, &desk, &[fifo])
        }),
        _ => ingested(&run, &desk, &files),
    };
    check(&run, &names, came);
    run
}

/// What was tried.
#[derive(Default)]
struct Tried {
    runs: usize,
    more_blocks_than_buffers: usize,
    large: usize,
    kinds: BTreeMap<String, usize>,
}

impl Tried {
    fn add(&mut self, run: &Run) {
        self.runs += 1;
        let buffers = run.options.sizes.workers + 4;
        self.more_blocks_than_buffers += usize::from(run.blocks() > buffers);
        self.large += usize::from(run.bytes() > 32 << 20);
        let samples = if run.options.keep_samples { "with" } else { "without" };
        let logs = match run.logs.len() {
            1 => "1 log",
            2..=8 => "2 to 8 logs",
            9..=32 => "9 to 32 logs",
            _ => "33 to 64 logs",
        };
        for kind in [
            format!("{:?}", run.packing),
            format!("{:?}", run.into),
            format!("{samples} samples"),
            logs.into(),
        ] {
            *self.kinds.entry(kind).or_default() += 1;
        }
    }
}

/// Tries runs from a seed on, or the one that `PERFPIPE_SEED` names, each under the watchdog.
fn try_all(base: u64, count: u64) -> Tried {
    let only = std::env::var("PERFPIPE_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    let seeds = only.map_or(base..base + count, |seed| seed..seed + 1);
    let mut tried = Tried::default();
    for seed in seeds {
        let ended = std::panic::catch_unwind(|| within(LIMIT, move || attempt(seed)));
        match ended {
            Ok(run) => tried.add(&run),
            Err(panic) => {
                println!("PERFPIPE_SEED={seed} repeats the run that failed");
                std::panic::resume_unwind(panic);
            }
        }
    }
    tried
}

#[test]
fn random_runs_are_stored_as_the_slow_reader_reads_them() {
    let tried = try_all(1, 30);
    assert!(tried.runs == 1 || tried.more_blocks_than_buffers * 2 >= tried.runs);
}

/// Takes minutes; the short one goes through fewer runs.
#[test]
#[ignore = "long: .ci/long pipeline"]
fn thousand_random_runs_are_stored_as_the_slow_reader_reads_them() {
    let base = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    println!("seeds from {base} on");
    let tried = try_all(base, 1000);
    let Tried { runs, more_blocks_than_buffers, large, kinds } = tried;
    println!(
        "{runs} runs as expected, none hung: {more_blocks_than_buffers} with more blocks than buffers, {large} above 32 MiB"
    );
    kinds.iter().for_each(|(kind, count)| println!("{count:5} {kind}"));
    assert!(runs == 1 || (more_blocks_than_buffers >= 500 && large >= 100));
}
