//! `perfpipe alternate`: measures two versions in pairs, in turn or at once, and compares them within the pairs.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result};
use clap::Args;
use jiff::Timestamp;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::{
    Change, Direction, Measure, Measured, PAIR_TAG, Pairing, SIDE_TAG, Side, View, change_table,
    compare_sides, stopping_levels,
};
use perfpipe_ingest::run::Repeat;
use perfpipe_ingest::{IngestOptions, Progress, RunInfo, Store};
use tokio::process::{Child, Command};

use super::compare::{deciding, infos, notes};
use super::ingest::{reading, tags};
use crate::args::{CoresArgs, FailOn, LogArgs, OutputArgs, RunNameArgs, StoreArgs, Tag, choice};
use crate::error::{ChangedForTheWorse, CliError};
use crate::input::store;
use crate::output::terminal::write_table;
use crate::output::{Output, note, warn};

/// The numbers of pairs after which an experiment may stop.
const LOOKS: [u32; 3] = [4, 7, 10];
/// The number of pairs in a row that may be void: no later one would be better then.
const VOID: u32 = 3;

#[derive(Debug, Args)]
#[command(mut_arg("framework", |name| name.required(true).help("Framework, the system under test")))]
#[command(mut_arg("test", |name| name.required(true).help("Test, as in 2048")))]
#[command(after_help = "Examples:\n  \
    perfpipe alternate --framework go --test 2048 --log 'out/*.csv' -- ./old.sh ./new.sh\n  \
    perfpipe alternate --framework go --test 2048 --pairs 10 --stop-early --log 'out/*.csv' -- ./old.sh ./new.sh\n  \
    perfpipe alternate --framework go --test 2048 --together --log 'out/{side}/*.csv' -- ./old.sh ./new.sh\n  \
    perfpipe alternate --framework go --test 2048 --sides main,branch --decide p95 --fail-on worse --log run.jtl \
    -- 'jmeter -n -t main.jmx -l run.jtl' 'jmeter -n -t branch.jmx -l run.jtl'\n\n\
    Each command is run by the shell, with PERFPIPE_SIDE, PERFPIPE_PAIR (1, 2, ...) and PERFPIPE_CPUS in its environment, \
    and leaves logs that match --log. The order within a pair is random. A pair of which a command fails, or leaves no new \
    log, is void, and measured again; after three such pairs in a row the experiment ends.")]
pub(crate) struct AlternateArgs {
    /// Commands that measure A and B
    #[arg(required = true, num_args = 2, value_names = ["A", "B"], last = true)]
    pub(crate) commands: Vec<String>,
    /// Files that a command leaves, new or rewritten: a pattern as the shell's, in quotes; {side} and {pair} stand for the
    /// name of the side and the number of the pair
    #[arg(long, value_name = "PATTERN")]
    pub(crate) log: String,
    /// Pairs to measure
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) pairs: u32,
    /// Stop after 4, 7 or 10 pairs if a change of a figure that decides is shown by then; equal versions are still called
    /// different in one of a hundred experiments
    #[arg(long)]
    pub(crate) stop_early: bool,
    /// Run both commands of a pair at once, on the same CPUs (--cpus)
    #[arg(long)]
    pub(crate) together: bool,
    /// CPUs that both commands are confined to, as taskset takes them: 0 or 0-3 [default: the first one]
    #[arg(long, value_name = "LIST", requires = "together")]
    pub(crate) cpus: Option<String>,
    /// Names of A and B, as in old,new
    #[arg(long, value_name = "A,B", default_value = "a,b", value_parser = sides)]
    pub(crate) sides: [String; 2],
    /// Figures that decide, as in throughput,p95
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "throughput")]
    pub(crate) decide: Vec<String>,
    /// Percentiles to compute, in percent [default: 25,50,75,95]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) percentiles: Option<Vec<f64>>,
    /// Exit with code 4 if a figure that decides is shown to be worse: --fail-on worse
    #[arg(long, value_name = "WHAT", value_parser = choice(FailOn::ALL))]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) name: RunNameArgs,
    /// Label the runs: commit=3f2a9c1; repeatable, one value per key
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Vec<Tag>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    #[command(flatten)]
    pub(crate) reading: LogArgs,
}

/// Parses the names of both sides.
fn sides(text: &str) -> Result<[String; 2], String> {
    let (a, b) = text.split_once(',').ok_or("give two names, as in old,new")?;
    let named = |name: &str| -> Result<String, String> {
        let name = name.trim();
        // The name becomes a tag, and part of a path.
        let is_plain = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        let is_fit = name.chars().all(is_plain)
            && !name.starts_with('.')
            && format!("{SIDE_TAG}={name}").parse::<Tag>().is_ok();
        if is_fit {
            Ok(name.to_owned())
        } else {
            Err(format!("{name:?} has letters other than a-z, 0-9, _, - and ."))
        }
    };
    let sides = [named(a)?, named(b)?];
    if sides[0] == sides[1] { Err("both sides have one name".to_owned()) } else { Ok(sides) }
}

/// Measures the pairs, and prints what changed from A to B.
pub(crate) async fn run(args: &AlternateArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    if args.together && !args.log.contains("{side}") {
        let problem = "with --together, --log does not distinguish the logs of both commands";
        return Err(CliError::usage(problem, "Write {side} into it, as in --log 'out/{side}/*.csv'.").into());
    }
    // What can't be written is no reason to measure for hours.
    let output = Output::open(args.output.file.output.as_deref())?;
    let mut experiment = Experiment::new(args, store, progress).await?;
    let looks = looks(args);
    let levels = stopping_levels(&looks);
    let (mut number, mut void_in_a_row) = (0, 0);
    let mut stopped = None;
    for (look, level) in looks.iter().zip(levels) {
        while (experiment.a.runs.len() as u32) < *look {
            number += 1;
            match experiment.pair(number).await? {
                None => void_in_a_row = 0,
                Some(why) => {
                    void_in_a_row += 1;
                    warn(&format!("pair {number} is void: {why}"));
                    if void_in_a_row >= VOID {
                        return Err(experiment.given_up());
                    }
                }
            }
        }
        let changes = experiment.changes()?;
        let is_shown = |change: &&Change| change.p_adjusted.is_some_and(|p| p < level);
        let shown: Vec<Change> = changes.iter().filter(is_shown).cloned().collect();
        let is_last = looks.last() == Some(look);
        if is_last || !shown.is_empty() {
            stopped = Some((changes, shown));
            break;
        }
    }
    let (changes, shown) = stopped.unwrap_or_default();
    experiment.report(&changes, &shown, output)
}

/// Returns the numbers of pairs after which the experiment may stop.
fn looks(args: &AlternateArgs) -> Vec<u32> {
    let early = LOOKS.into_iter().filter(|look| args.stop_early && *look < args.pairs);
    early.chain([args.pairs]).collect()
}

/// Pairs as they are measured.
struct Experiment<'a> {
    args: &'a AlternateArgs,
    store: Store,
    options: IngestOptions,
    /// The CPUs that commands are confined to, if they are.
    cpus: Option<String>,
    /// What the tags of all pairs begin with, so that pairs of several experiments are not one.
    begun: String,
    a: Side,
    b: Side,
}

/// A command that runs, and the files that matched its pattern before.
struct Running {
    side: usize,
    child: Child,
    pattern: String,
    before: BTreeMap<PathBuf, (SystemTime, u64)>,
}

impl<'a> Experiment<'a> {
    async fn new(args: &'a AlternateArgs, store: &StoreArgs, progress: Progress) -> Result<Self> {
        let mut options = reading(&args.reading, false, args.cores.cores)?.with_progress(progress);
        (options.framework, options.test) = (args.name.framework.clone(), args.name.test.clone());
        options.repeat = Repeat::Next;
        options.noted.tags = tags(&args.tag)?;
        for of_pairs in [PAIR_TAG, SIDE_TAG] {
            if options.noted.tags.contains_key(of_pairs) {
                let problem =
                    format!("--tag {of_pairs} is given, which distinguishes the runs of a pair from others");
                return Err(CliError::usage(problem, "Leave it out; --sides names the sides.").into());
            }
        }
        files(&args.log)?;
        let cpus = if args.together { confinement(args).await } else { None };
        if let (true, None) = (args.together, &cpus) {
            warn(
                "the commands can't be confined to the same CPUs, since there is no taskset: pairs scatter more then",
            );
        }
        let begun = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let side = |name: &String| {
            let mut side = Side::of(Vec::new());
            side.name = format!("{SIDE_TAG}={name}");
            side
        };
        let [a, b] = args.sides.each_ref().map(side);
        Ok(Self { args, store: store::open(store).await?, options, cpus, begun, a, b })
    }

    /// Measures a pair and stores its runs; returns why it is void if it is. Nothing is stored of a void pair.
    ///
    /// # Errors
    /// If a command can't be started, or if the runs of the pair overlap otherwise than they should.
    async fn pair(&mut self, number: u32) -> Result<Option<String>> {
        let first = usize::from(fastrand::bool());
        let order = [first, 1 - first];
        let [one, other] = order.map(|side| self.side(side).to_owned());
        let measured = self.a.runs.len() + 1;
        let (how, pairs) = (if self.args.together { "and" } else { "then" }, self.args.pairs);
        note(&format!("pair {measured} of {pairs}: {one}, {how} {other}"));
        let mut stored: Vec<(usize, RunInfo)> = Vec::new();
        let mut running = Vec::new();
        for side in order {
            let ended = match self.start(side, number) {
                Ok(started) => {
                    running.push(started);
                    if self.args.together && running.len() < order.len() {
                        continue;
                    }
                    // In turn, both commands may write the same file.
                    self.end(number, &mut running, &mut stored).await
                }
                Err(error) => Err(error),
            };
            if !matches!(ended, Ok(None)) {
                for (_, run) in stored {
                    self.store.drop_run(&run.key).await?;
                }
                return ended;
            }
        }
        for (side, run) in stored {
            let run = self.store.read(&run.key).await?;
            let mut view = View::of(&run.info);
            view.percentiles = self.args.percentiles.clone().unwrap_or(view.percentiles);
            let measured = Measured::new(&run, &view)?;
            if side == 0 { &mut self.a } else { &mut self.b }.runs.push(measured);
        }
        // The first pair says whether the others will be pairs, and have the figures that decide.
        Pairing::of(&infos(&self.a), &infos(&self.b)).notes(&self.b.name)?;
        self.deciding()?;
        Ok(None)
    }

    fn side(&self, side: usize) -> &str {
        let [a, b] = &self.args.sides;
        if side == 0 { a } else { b }
    }

    fn start(&self, side: usize, number: u32) -> Result<Running> {
        let name = self.side(side);
        let pattern = self.args.log.replace("{side}", name).replace("{pair}", &number.to_string());
        let before = files(&pattern)?;
        let command = self.args.commands.get(side).map_or("", String::as_str);
        let mut words = vec!["sh", "-c", command];
        if let Some(cpus) = &self.cpus {
            words = [vec!["taskset", "-c", cpus], words].concat();
        }
        let (program, arguments) =
            words.split_first().map_or(("sh", &[][..]), |(first, rest)| (*first, rest));
        let child = Command::new(program)
            .args(arguments)
            .env("PERFPIPE_SIDE", name)
            .env("PERFPIPE_PAIR", number.to_string())
            .env("PERFPIPE_CPUS", self.cpus.as_deref().unwrap_or_default())
            .stdin(Stdio::null())
            // The table is alone on standard output.
            .stdout(io::stderr())
            // A command does not go on where perfpipe is stopped.
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("`{program}` can't be started"))?;
        Ok(Running { side, child, pattern, before })
    }

    /// Waits for commands, and stores what they left; returns why the pair is void if it is.
    async fn end(
        &self,
        number: u32,
        running: &mut Vec<Running>,
        stored: &mut Vec<(usize, RunInfo)>,
    ) -> Result<Option<String>> {
        let mut ended = Vec::new();
        for Running { side, mut child, pattern, before } in running.drain(..) {
            let name = self.side(side);
            let status = child
                .wait()
                .await
                .with_context(|| format!("the end of the command of {name} is not known"))?;
            ended.push((side, name, status, pattern, before));
        }
        for (side, name, status, pattern, before) in ended {
            let written =
                files(&pattern)?.into_iter().filter(|(path, as_of)| before.get(path) != Some(as_of));
            let written: Vec<PathBuf> = written.map(|(path, _)| path).collect();
            if !status.success() {
                return Ok(Some(format!("the command of {name} {}", how_it_ended(status))));
            }
            if written.is_empty() {
                return Ok(Some(format!("the command of {name} left no new file that matches {pattern}")));
            }
            match self.ingest(number, name, &written).await {
                Ok(run) => stored.push((side, run)),
                Err(error) => return Ok(Some(format!("the log of {name}: {error}"))),
            }
        }
        Ok(None)
    }

    async fn ingest(&self, number: u32, side: &str, files: &[PathBuf]) -> Result<RunInfo> {
        let mut options = self.options.clone();
        let tags = [(PAIR_TAG, format!("{}-{number}", self.begun)), (SIDE_TAG, side.to_owned())];
        options.noted.tags.extend(tags.map(|(key, value)| (key.to_owned(), value)));
        Ok(self.store.ingest(files, &options).await?.info)
    }

    fn deciding(&self) -> Result<Vec<Measure>> {
        let figures: Vec<(String, Measure)> =
            self.a.measures().into_iter().map(|measure| (measure.column(), measure.clone())).collect();
        deciding(&self.args.decide, &figures)
    }

    fn changes(&self) -> Result<Vec<Change>> {
        Ok(compare_sides(&self.a, std::slice::from_ref(&self.b), &self.deciding()?))
    }

    fn given_up(&self) -> anyhow::Error {
        let problem = format!("{VOID} pairs in a row are void");
        let kept = counted(self.a.runs.len() as u64, "pair");
        CliError::refused(problem, format!("Run the commands by themselves first. {kept} before are stored."))
            .into()
    }

    /// Prints the changes, and what is shown.
    fn report(&self, changes: &[Change], shown: &[Change], mut output: Output) -> Result<()> {
        write_table(&change_table(changes), self.args.output.format(), &mut output)?;
        output.finish()?;
        Pairing::of(&infos(&self.a), &infos(&self.b))
            .notes(&self.b.name)?
            .iter()
            .for_each(|sentence| note(sentence));
        notes(&self.a, std::slice::from_ref(&self.b), changes, true)
            .iter()
            .for_each(|sentence| note(sentence));
        let (count, most) = (self.a.runs.len() as u32, self.args.pairs);
        let pairs =
            if count < most { format!("{count} of {most} pairs") } else { counted(u64::from(count), "pair") };
        let [a, b] = &self.args.sides;
        let named: Vec<String> = shown.iter().map(sentence).collect();
        match named.as_slice() {
            [] => note(&format!("after {pairs}, no change from {a} to {b} is shown")),
            named => note(&format!("after {pairs}, a change from {a} to {b} is shown: {}", named.join(", "))),
        }
        let is_worse = |change: &&Change| change.outcome.direction() == Some(Direction::Worse);
        let worse: Vec<String> = shown.iter().filter(is_worse).map(sentence).collect();
        match (self.args.fail_on, worse.is_empty()) {
            (Some(FailOn::Worse), false) => {
                Err(ChangedForTheWorse(format!("{b} is worse than {a}: {}", worse.join(", "))).into())
            }
            _ => Ok(()),
        }
    }
}

/// Describes a change, as in `p95 +4.1 %`.
fn sentence(change: &Change) -> String {
    let name = change.measure.column();
    match (change.percent(), change.percent_interval) {
        (Some(percent), Some((low, high))) => {
            format!("{name} {percent:+.1} % (99 %: {low:+.1} to {high:+.1} %)")
        }
        _ => name,
    }
}

/// Says how a command ended.
fn how_it_ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exited with {code}"),
        None => "was stopped by a signal".to_owned(),
    }
}

/// Returns the files that match a pattern, each with the time of its last change and its size.
fn files(pattern: &str) -> Result<BTreeMap<PathBuf, (SystemTime, u64)>> {
    let paths = glob::glob(pattern).map_err(|error| {
        CliError::usage(
            format!("--log {pattern}: {}", error.msg),
            "Write it as the shell does, as in 'out/*.csv'.",
        )
    })?;
    let mut found = BTreeMap::new();
    for path in paths {
        let path = path.context("--log")?;
        let of = path.metadata().with_context(|| path.display().to_string())?;
        if of.is_file() {
            found.insert(path, (of.modified()?, of.len()));
        }
    }
    Ok(found)
}

/// Returns the CPUs that both commands are confined to; `None` if nothing can confine them.
async fn confinement(args: &AlternateArgs) -> Option<String> {
    let said = Command::new("taskset").args(["-pc", &std::process::id().to_string()]).output().await.ok()?;
    let own = String::from_utf8(said.stdout).ok().filter(|_| said.status.success())?;
    let own = own.trim().rsplit(' ').next()?;
    let first = own.split([',', '-']).next().filter(|first| !first.is_empty())?;
    Some(args.cpus.clone().unwrap_or_else(|| first.to_owned()))
}
