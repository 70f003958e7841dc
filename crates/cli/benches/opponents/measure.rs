//! Runs commands in turn and sets their times side by side.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The contender that perfpipe into Postgres is measured by, which runs right before it.
pub(crate) const BEST: &str = "the same, the server's best way";

/// How often a process's memory is looked at, in the rounds that are not timed: looking costs the process time.
const LOOK: Duration = Duration::from_millis(2);

/// A command that takes part, and one that makes things ready before each of its runs.
pub(crate) struct Contender {
    name: &'static str,
    command: Command,
    before: Option<Command>,
}

impl Contender {
    pub(crate) fn new(name: &'static str, mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Self { name, command, before: None }
    }

    /// The same, with a command that is run, unmeasured, before each run.
    pub(crate) fn after(self, mut before: Command) -> Self {
        before.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { before: Some(before), ..self }
    }

    /// Whether the name has one of these words in it.
    pub(crate) fn is_named(&self, words: &str) -> bool {
        words.split(',').any(|word| self.name.contains(word))
    }

    /// Runs it, and waits for its end by `wait`.
    fn run<T>(&mut self, wait: impl FnOnce(&mut Child) -> T) -> (T, Run) {
        if let Some(before) = &mut self.before {
            assert!(before.status().expect("a command").success(), "{}: made ready", self.name);
        }
        let cpu = children();
        let started = Instant::now();
        let mut child = self.command.spawn().expect("a contender");
        let seen = wait(&mut child);
        let status = child.wait().expect("a child");
        let wall = started.elapsed().as_secs_f64();
        let mut said = String::new();
        let _ = child.stderr.take().expect("a pipe").read_to_string(&mut said);
        assert!(status.success(), "{} failed: {said}", self.name);
        (seen, Run { wall, cpu: children() - cpu })
    }
}

/// The peak of a process's resident memory in MiB. The kernel keeps the high-water mark; it only has to be read once near
/// the end.
fn peak(child: &mut Child) -> f64 {
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        peak = high_water(child.id()).unwrap_or(peak);
        std::thread::sleep(LOOK);
    }
    peak as f64 / 1024.0
}

/// CPU seconds of all children that have ended.
fn children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("resource usage");
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
}

/// The peak of a process's resident memory in KiB, while it lives.
fn high_water(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// One run, in seconds.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
}

/// The runs of one contender.
pub(crate) struct Result {
    pub(crate) name: &'static str,
    pub(crate) peak_mb: f64,
    runs: Vec<Run>,
}

impl Result {
    /// The wall time of each round, in seconds.
    pub(crate) fn walls(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().map(|run| run.wall)
    }

    /// The CPU time of each round, in seconds.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().map(|run| run.cpu)
    }
}

/// Runs all contenders in turn, round after round, having run each once for warmth and for its memory.
pub(crate) fn race(contenders: &mut [Contender], rounds: usize) -> Vec<Result> {
    let mut results: Vec<Result> = contenders
        .iter_mut()
        .map(|contender| Result { name: contender.name, peak_mb: contender.run(peak).0, runs: Vec::new() })
        .collect();
    for _ in 0..rounds {
        for (contender, result) in contenders.iter_mut().zip(&mut results) {
            result.runs.push(contender.run(|_| ()).1);
        }
    }
    results
}

/// Prints medians, and the ratio of wall times to the first contender's within each round.
pub(crate) fn print(results: &[Result], samples: u64) {
    println!(
        "{:<36} {:>7} {:>7} {:>9} {:>6} {:>17}",
        "", "wall s", "CPU s", "peak MiB", "M/s", "to unzip -p"
    );
    let Some(reference) = results.first() else { return };
    for result in results {
        let ratios: Vec<f64> =
            result.walls().zip(reference.walls()).map(|(wall, other)| wall / other).collect();
        let wall = median(result.walls());
        println!(
            "{:<36} {wall:>7.2} {:>7.2} {:>9.0} {:>6.2} {:>6.2} ({:.2}-{:.2})",
            result.name,
            median(result.cpus()),
            result.peak_mb,
            samples as f64 / 1e6 / wall,
            median(ratios.iter().copied()),
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratios.iter().copied().fold(0.0, f64::max),
        );
    }
    let best = results.iter().position(|result| result.name == BEST);
    for result in best.and_then(|at| results.get(at + 1..)).unwrap_or_default() {
        let copy = results.iter().filter(|other| other.name == BEST).flat_map(|other| other.walls());
        let ratios = result.walls().zip(copy).map(|(wall, other)| wall / other);
        println!("{} to the server's best way: {:.2}", result.name, median(ratios));
    }
}

/// Prints a line for each contender of a group. The first one is the reference.
pub(crate) fn print_ratios(group: &str, results: &[Result]) {
    let Some(reference) = results.first() else { return };
    for (at, result) in results.iter().enumerate() {
        let ratios: Vec<f64> =
            result.walls().zip(reference.walls()).map(|(wall, other)| wall / other).collect();
        let ratio = match at {
            0 => "1.00".to_owned(),
            _ => format!(
                "{:.2} ({:.2} to {:.2})",
                median(ratios.iter().copied()),
                ratios.iter().copied().fold(f64::INFINITY, f64::min),
                ratios.iter().copied().fold(0.0, f64::max)
            ),
        };
        println!(
            "| {group}: {} | {:.1} | {:.1} | {:.0} | {ratio} |",
            result.name,
            median(result.walls()) * 1000.0,
            median(result.cpus()) * 1000.0,
            result.peak_mb,
        );
    }
}

/// Returns the upper of the middle two of an even number of values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
