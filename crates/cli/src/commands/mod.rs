//! The commands, one per file, with their flags.

mod alternate;
mod attach_cpu;
mod attach_series;
mod capacity;
mod check;
mod compare;
mod copy;
mod diagnose;
mod drop;
mod export;
mod ingest;
mod inspect;
mod list;
mod merge;
mod migrate;
mod open;
mod plan;
mod rename;
mod repair;
mod report;
mod serve;
mod shell;
mod site;
mod sweep;
mod trend;
mod verify;
mod watch;

#[cfg(test)]
mod tests;

use std::error::Error;
use std::ffi::OsString;
use std::num::{ParseFloatError, ParseIntError};
use std::time::Duration;

use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, FromArgMatches};
use perfpipe_ingest::Progress;

use self::alternate::AlternateArgs;
use self::attach_cpu::AttachArgs;
use self::attach_series::AttachSeriesArgs;
use self::capacity::CapacityArgs;
use self::check::CheckArgs;
use self::compare::CompareArgs;
use self::copy::CopyArgs;
use self::diagnose::DiagnoseArgs;
use self::drop::DropArgs;
use self::export::ExportArgs;
use self::ingest::IngestArgs;
use self::inspect::InspectArgs;
use self::list::ListArgs;
use self::merge::MergeArgs;
use self::migrate::MigrateArgs;
use self::open::OpenArgs;
use self::plan::PlanArgs;
use self::rename::RenameArgs;
use self::repair::RepairArgs;
use self::report::ReportArgs;
use self::serve::ServeArgs;
use self::shell::{CompletionsArgs, ManArgs};
use self::site::SiteArgs;
use self::sweep::SweepArgs;
use self::trend::TrendArgs;
use self::verify::VerifyArgs;
use self::watch::WatchArgs;
use crate::args::{StoreArgs, TerminalArgs};

/// Exact statistics and printed charts from a zipped JMeter log and a CPU export
#[derive(Debug, Args)]
#[command(version = env!("PERFPIPE_VERSION"), propagate_version = true, max_term_width = 110)]
#[command(after_help = "Examples:\n  \
    perfpipe ingest run.zip cpu.csv --out charts      zip in, PDF out\n  \
    perfpipe report --test 2048                       charts and league table of all frameworks\n  \
    perfpipe export go_2048                           the table per second as CSV\n\n\
    A RUN is named as `perfpipe list` prints it, go_2048 or go_2048#2, or by --framework go --test 2048 --repeat 2.\n\n\
    Exit codes: 0 success; 1 failure; 2 wrong usage; 3 invalid input, too many rejected records, or damage found by \
    verify; 4 a rule failed.")]
struct Flags {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    terminal: TerminalArgs,
}

/// A command line.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) command: Command,
    pub(crate) store: StoreArgs,
    pub(crate) terminal: TerminalArgs,
}

impl Cli {
    /// The definition of all command lines.
    pub(crate) fn command() -> clap::Command {
        Self::with(|_| true)
    }

    /// The definition of the command lines of some commands.
    fn with(wanted: impl Fn(&str) -> bool) -> clap::Command {
        let perfpipe = clap::Command::new("perfpipe").subcommand_required(true).arg_required_else_help(true);
        // The flags of all commands come after those of each.
        shell::hide(Flags::augment_args(Command::add_to(perfpipe, wanted)), &["color", "wide", "quiet"])
    }
}

/// Parses a command line.
///
/// # Errors
/// If it is wrong, or asks for help.
pub(crate) fn parse(words: impl IntoIterator<Item = impl Into<OsString>>) -> clap::error::Result<Cli> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    // To define all commands takes longer than to list a store. Only errors and help need the others.
    if let Some(only) = words.iter().find_map(|word| Command::word(word.to_str()?))
        && let Ok(cli) = parsed(Cli::with(|word| word == only), &words)
    {
        return Ok(cli);
    }
    parsed(Cli::command(), &words)
}

fn parsed(perfpipe: clap::Command, words: &[OsString]) -> clap::error::Result<Cli> {
    let mut matches =
        perfpipe.try_get_matches_from(words).map_err(|error| plain(run_missing(error, words)))?;
    let Flags { store, terminal } = Flags::from_arg_matches(&matches)?;
    let command = Command::from_matches(&mut matches)?;
    if let Command::Check(args) = &command {
        args.check_runs()?;
    }
    Ok(Cli { command, store, terminal })
}

/// Says how runs are chosen, where clap would ask for the name of a run alone.
fn run_missing(error: clap::Error, words: &[OsString]) -> clap::Error {
    let lacks = |name: &str| match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|missing| missing.starts_with(name)),
        _ => false,
    };
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let is_attach = words.iter().any(|word| word == "attach-cpu");
    let needed = match (is_missing, is_attach) {
        (true, true) if lacks("<RUN>") || lacks("<FILE>") => {
            "a run and its readings are needed, as in `perfpipe attach-cpu go_2048 cpu.csv`: --test chooses runs in the \
             place of a RUN, and --cpu-from asks for the readings in the place of a FILE"
        }
        (true, false) if lacks("<RUN>") => {
            "no run is named: name one as `perfpipe list` prints it, or choose runs by --test"
        }
        _ => return error,
    };
    let text = format!("{needed}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::MissingRequiredArgument, text)
}

/// Says what a flag accepts, where clap would print what Rust or clap itself says of a number.
fn plain(error: clap::Error) -> clap::Error {
    let Some(expected) = error.source().and_then(number_expected) else { return error };
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (argument, value) = (of(ContextKind::InvalidArg), of(ContextKind::InvalidValue));
    let text = format!(
        "invalid value '{value}' for '{argument}': expected {expected}\n\nFor more information, try '--help'.\n"
    );
    clap::Error::raw(ErrorKind::ValueValidation, text)
}

/// Returns which numbers are expected, if an error says that a value is none of them.
fn number_expected(error: &(dyn Error + 'static)) -> Option<String> {
    if error.is::<ParseIntError>() {
        return Some("a whole number".to_owned());
    }
    if error.is::<ParseFloatError>() {
        return Some("a number".to_owned());
    }
    let text = error.to_string();
    let (_, range) = text.split_once(" is not in ")?;
    let (first, last) = range.split_once("..")?;
    Some(match last.strip_prefix('=').unwrap_or(last) {
        "" => format!("a whole number from {first}"),
        last => format!("a whole number from {first} to {last}"),
    })
}

/// Declares the commands: of each the word, the variant and the flags.
macro_rules! commands {
    ($($(#[doc = $about:literal])+ $word:literal => $name:ident($flags:ty),)+) => {
        #[derive(Debug)]
        pub(crate) enum Command {
            $($(#[doc = $about])+ $name(Box<$flags>),)+
        }

        impl Command {
            /// Returns a word if it is that of a command.
            fn word(word: &str) -> Option<&'static str> {
                [$($word),+].into_iter().find(|command| *command == word)
            }

            /// Adds the wanted commands to the definition of a command line.
            fn add_to(mut perfpipe: clap::Command, wanted: impl Fn(&str) -> bool) -> clap::Command {
                $(if wanted($word) {
                    let command = <$flags>::augment_args(clap::Command::new($word));
                    let command = command.about(concat!($($about),+).trim_start());
                    perfpipe = perfpipe.subcommand(shell::shorten(command));
                })+
                perfpipe
            }

            fn from_matches(matches: &mut ArgMatches) -> clap::error::Result<Self> {
                let (word, mut flags) = matches.remove_subcommand().unwrap_or_default();
                match word.as_str() {
                    $($word => <$flags>::from_arg_matches_mut(&mut flags).map(Box::new).map(Self::$name),)+
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }
        }
    };
}

commands! {
    /// Read the JMeter logs and the CPU export of a run into the store
    "ingest" => Ingest(IngestArgs),
    /// Follow the logs of a running test, second by second, and store the run at its end
    "watch" => Watch(WatchArgs),
    /// Measure two versions in pairs, in turn or at once, and compare them within the pairs
    "alternate" => Alternate(AlternateArgs),
    /// Make a run of the parts that several machines ingested
    "merge" => Merge(MergeArgs),
    /// Show what an ingest would find, from a sample of the files
    "inspect" => Inspect(InspectArgs),
    /// Draw the pages of a test, and print its league table
    "report" => Report(ReportArgs),
    /// Write all runs of the store as a site of static files, which needs no server
    "site" => Site(SiteArgs),
    /// Serve the pages of the store to browsers, and what is stored meanwhile
    "serve" => Serve(ServeArgs),
    /// Show the store, or a site, in the browser
    "open" => Open(OpenArgs),
    /// Write the figures of a run as CSV, JSON, Parquet or Markdown
    "export" => Export(ExportArgs),
    /// List a run's anomalies: saturation, stalls, failures, injectors out of step
    "diagnose" => Diagnose(DiagnoseArgs),
    /// Check the runs of a test against rules; exit with 4 if one fails
    "check" => Check(CheckArgs),
    /// Show what changed from one run to another, and whether by more than chance
    "compare" => Compare(CompareArgs),
    /// Show the figures of a test over versions, and where they change their level
    "trend" => Trend(TrendArgs),
    /// Show how many runs or pairs it takes to see a change, by the scatter of stored repeats
    "plan" => Plan(PlanArgs),
    /// Show the points of load tools by concurrency or workers: throughput, failures, latencies, knee
    "sweep" => Sweep(SweepArgs),
    /// Show the highest rate that keeps an objective, as of response times, by the levels of a sweep or of a stepped run
    "capacity" => Capacity(CapacityArgs),
    /// List the stored runs
    "list" => List(ListArgs),
    /// Copy runs to another store, and verify the copies
    "copy" => Copy(CopyArgs),
    /// Replace the CPU readings of a stored run
    "attach-cpu" => AttachCpu(AttachArgs),
    /// Add series of the server, such as its memory, to a stored run
    "attach-series" => AttachSeries(AttachSeriesArgs),
    /// Verify that stored runs are intact
    "verify" => Verify(VerifyArgs),
    /// Repair damaged runs, and set aside those that can't be repaired
    "repair" => Repair(RepairArgs),
    /// Rewrite a database of an older layout as the newest
    "migrate" => Migrate(MigrateArgs),
    /// Delete runs from the store
    "drop" => Drop(DropArgs),
    /// Give a stored run another framework, test or repeat
    "rename" => Rename(RenameArgs),
    /// Print a completion script for a shell
    "completions" => Completions(CompletionsArgs),
    /// Write the manual pages
    "man" => Man(ManArgs),
}

/// Returns how long a stopped command has for cleaning up: one that writes to a store may leave something there.
pub(crate) fn patience(command: &Command) -> Duration {
    match command {
        Command::Ingest(_)
        | Command::Watch(_)
        | Command::Alternate(_)
        | Command::Merge(_)
        | Command::Copy(_)
        | Command::AttachCpu(_)
        | Command::AttachSeries(_)
        | Command::Repair(_)
        | Command::Migrate(_)
        | Command::Drop(_)
        | Command::Rename(_) => Duration::from_secs(10),
        _ => Duration::from_secs(1),
    }
}

/// Returns what a command does at the first signal, if it then ends of itself.
pub(crate) fn at_signal(command: &Command) -> Option<&'static str> {
    matches!(command, Command::Watch(_)).then_some("storing what was followed")
}

/// Returns true for a command that only a signal ends: it has done all that was asked of it then.
pub(crate) fn is_endless(command: &Command) -> bool {
    matches!(command, Command::Serve(_) | Command::Open(_))
}

/// Runs the command of the command line.
pub(crate) async fn run(cli: Cli, progress: Progress) -> Result<()> {
    let Cli { command, store, .. } = cli;
    match command {
        Command::Ingest(args) => ingest::run(&args, &store, progress).await,
        Command::Watch(args) => watch::run(&args, &store, progress).await,
        Command::Alternate(args) => alternate::run(&args, &store, progress).await,
        Command::Merge(args) => merge::run(&args, &store, progress).await,
        Command::Inspect(args) => inspect::run(&args, &store).await,
        Command::Report(args) => report::run(&args, &store).await,
        Command::Site(args) => site::run(&args, &store).await,
        Command::Serve(args) => serve::run(&args, &store).await,
        Command::Open(args) => open::run(&args, &store).await,
        Command::Export(args) => export::run(&args, &store).await,
        Command::Diagnose(args) => diagnose::run(&args, &store).await,
        Command::Check(args) => check::run(&args, &store).await,
        Command::Compare(args) => compare::run(&args, &store).await,
        Command::Trend(args) => trend::run(&args, &store).await,
        Command::Plan(args) => plan::run(&args, &store).await,
        Command::Sweep(args) => sweep::run(&args, &store).await,
        Command::Capacity(args) => capacity::run(&args, &store).await,
        Command::Copy(args) => copy::run(&args, &store).await,
        Command::AttachCpu(args) => attach_cpu::run(&args, &store).await,
        Command::AttachSeries(args) => attach_series::run(&args, &store).await,
        Command::List(args) => list::run(&args, &store).await,
        Command::Verify(args) => verify::run(&args, &store).await,
        Command::Repair(args) => repair::run(&args, &store).await,
        Command::Migrate(args) => migrate::run(&args, &store).await,
        Command::Drop(args) => drop::run(&args, &store).await,
        Command::Rename(args) => rename::run(&args, &store).await,
        Command::Completions(args) => shell::print_completions(&args, &store, Cli::command()),
        Command::Man(args) => shell::print_man_page(&args, &store, Cli::command()),
    }
}
