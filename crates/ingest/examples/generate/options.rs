//! The command line, and its conversion to a plan.

use std::ops::Range;
use std::path::PathBuf;

use clap::Parser;

use super::load::{Plan, Shape};

/// The default number of requests per second.
const RATE: f64 = 1800.0;
/// The default duration in seconds.
const SECONDS: f64 = 60.0;
/// The mean response time from which the default number of threads follows, in ms.
const RESPONSE_MS: f64 = 30.0;
/// The maximum mean response time in seconds, whose longest times still fit into the log's numbers.
const LONGEST_RESPONSE: f64 = 100_000.0;
/// The fraction of requests that are missing during a linear ramp, compared with the full rate.
const LOST_IN_RAMP: f64 = 0.25;

const EXAMPLES: &str = "\
Examples, each after `cargo run --release -p perfpipe-ingest --example generate --`:
  --rows 10000000 --seconds 420 perfectnio_2048.zip     10 million records in 7 minutes
  --seconds 86400 --rate 50 --cpu day.cpu.csv day.zip   a day, with its CPU export
  --seconds 90 --outage 40..50 --failures 2 outage.zip  ten seconds in which nothing answers
  --injectors 3 --transactions - | head                 three machines' records, to a pipe
  --late-first 45000 late.csv                           the earliest record stands far into the file";

/// Generates the JMeter log of a simulated load test, and its CPU export.
///
/// The same options give the same bytes.
#[derive(Debug, Parser)]
#[command(name = "generate", after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Log to write: a zip with one member if it ends in .zip, `-` for standard output, otherwise plain CSV
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Exact number of records; --seconds then determines the approximate rate
    #[arg(long)]
    rows: Option<u64>,
    /// Seconds in which requests start [default: 60, or as long as --rows takes]
    #[arg(long)]
    seconds: Option<f64>,
    /// Requests per second once all threads are started [default: 1800]
    #[arg(long)]
    rate: Option<f64>,
    /// Threads of all injectors together [default: rate / 33, for a mean of about 30 ms]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    threads: Option<u32>,
    /// Seconds in which the threads start [default: a sixth of the run]
    #[arg(long)]
    ramp: Option<f64>,
    /// Steps in which the threads start; 0 for one after another
    #[arg(long, default_value_t = 6)]
    steps: u32,
    /// Percentage of requests that fail, in several ways
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT", value_parser = percent)]
    failures: f64,
    /// Seconds in which every connection is refused, such as 20..30
    #[arg(long, value_name = "FROM..TO", value_parser = outage)]
    outage: Option<Range<i64>>,
    /// Number of labels
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    labels: u32,
    /// Percentage of labels with commas, quotes, tabs or non-Latin letters
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT", value_parser = percent)]
    quoted: f64,
    /// Shape of the log
    #[arg(long, value_enum, default_value_t, conflicts_with = "transactions")]
    shape: Shape,
    /// Machines that send the load; several report in batches of 100, and name themselves in threadName
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    injectors: u32,
    /// Add a transaction controller's record after every three requests of a thread
    #[arg(long)]
    transactions: bool,
    /// Seed of the pseudo-random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Earliest timeStamp
    #[arg(long, value_name = "EPOCH_MS", default_value_t = 1_795_000_000_250, value_parser = clap::value_parser!(i64).range(0..=4_000_000_000_000))]
    start: i64,
    /// Path of the URL
    #[arg(long, default_value = "2048")]
    test: String,
    /// Host and port of the URL
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8181")]
    server: String,
    /// Write the CPU export to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) cpu: Option<PathBuf>,
    /// Leave seconds out of the CPU export
    #[arg(long, requires = "cpu")]
    pub(crate) cpu_gaps: bool,
    /// Make the earliest request slow, so that it is logged late
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(1..=2_000_000_000))]
    late_first: Option<i64>,
    /// Leave out the header
    #[arg(long)]
    no_header: bool,
    /// One ASCII character, or `tab`
    #[arg(long, default_value = ",", value_parser = delimiter)]
    delimiter: u8,
}

impl Options {
    /// Returns the plan for these options, or what is wrong with them.
    pub(crate) fn plan(&self) -> Result<Plan, String> {
        let rate = self.rate()?;
        let seconds = self.expected_seconds(rate);
        let threads = self.threads.unwrap_or((rate * RESPONSE_MS / 1000.0).ceil().max(1.0) as u32);
        let injectors = self.injectors.max(self.shape.injectors());
        let threads = threads.max(injectors);
        if f64::from(threads) / rate > LONGEST_RESPONSE {
            return Err(format!(
                "{threads} threads at {rate} requests a second would wait for days; give fewer threads"
            ));
        }
        Ok(Plan {
            start_ms: self.start,
            records: self.rows.unwrap_or(u64::MAX),
            duration: if self.rows.is_some() { i64::MAX } else { (seconds * 1000.0) as i64 },
            rate,
            threads,
            ramp: (self.ramp.unwrap_or(seconds / 6.0) * 1000.0) as i64,
            steps: self.steps,
            failures: self.failures.max(self.shape.failures()),
            outage: self.outage.clone(),
            labels: self.labels.max(self.shape.labels()),
            quoted: self.quoted,
            shape: self.shape,
            injectors,
            transactions: self.transactions,
            seed: self.seed,
            test: self.test.clone(),
            server: self.server.clone(),
            late_first: self.late_first,
            header: !self.no_header,
            delimiter: self.delimiter,
        })
    }

    /// Returns the requested rate, or the one at which all rows fit into the seconds.
    fn rate(&self) -> Result<f64, String> {
        let rate = match (self.rate, self.rows, self.seconds) {
            (Some(_), Some(_), Some(_)) => {
                return Err("give two of --rows, --seconds and --rate; the third follows".into());
            }
            (Some(rate), ..) => rate,
            (None, Some(rows), Some(seconds)) => {
                let ramp = self.ramp.unwrap_or(seconds / 6.0).min(seconds);
                rows as f64 / (seconds - ramp * LOST_IN_RAMP)
            }
            _ => RATE,
        };
        if (0.001..=10_000_000.0).contains(&rate) {
            Ok(rate)
        } else {
            Err(format!(
                "a rate of {rate} requests a second can't be simulated; stay within 0.001 and 10,000,000"
            ))
        }
    }

    fn expected_seconds(&self, rate: f64) -> f64 {
        self.seconds.or(self.rows.map(|rows| rows as f64 / rate)).unwrap_or(SECONDS)
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value / 100.0),
        _ => Err("a number from 0 to 100 is wanted".into()),
    }
}

/// Parses a range of seconds into one of ms.
fn outage(text: &str) -> Result<Range<i64>, String> {
    let seconds = |text: &str| text.parse::<f64>().ok().filter(|s| (0.0..1e9).contains(s));
    match text.split_once("..").map(|(from, to)| (seconds(from), seconds(to))) {
        Some((Some(from), Some(to))) if from < to => Ok((from * 1000.0) as i64..(to * 1000.0) as i64),
        _ => Err("two numbers of seconds are wanted, as in 20..30".into()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if matches!(text, "tab" | "\\t") => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("one ASCII character is wanted, other than a letter, a digit or a quote, or `tab`".into()),
    }
}
