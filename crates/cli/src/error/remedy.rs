//! Remedies of errors on the command line: those of the libraries, with the flags and commands that help.

use std::error::Error;
use std::io;

use perfpipe_analyze::{Error as Analyze, Phases};
use perfpipe_ingest::run::RejectReason;
use perfpipe_ingest::source::TimeUnit;
use perfpipe_ingest::{Error as Ingest, ErrorKind};

use super::own::{BrokenForGood, CliError, chain};
use crate::signals::Interrupted;

/// The remedy for too many rejects.
const TOO_MANY_REJECTS: &str = "Look at these records. If the run may be stored without them, raise \
                                --max-rejects: they are kept beside it.";

/// What to do once a test has broken a rule for good.
const BROKEN_FOR_GOOD: &str =
    "Nothing was stored: stop the test, then run `perfpipe ingest` on its logs to look at it.";

/// The remedy for an error, without its causes, as a sentence.
pub(super) fn of(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<CliError>() {
        return Some(error.remedy.clone());
    }
    if error.is::<BrokenForGood>() {
        return Some(BROKEN_FOR_GOOD.to_owned());
    }
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        return interrupted.remedy();
    }
    if let Some(error) = error.downcast_ref::<Ingest>() {
        return of_ingest(error);
    }
    if let Some(error) = error.downcast_ref::<Analyze>() {
        return of_analyze(error);
    }
    error.downcast_ref::<perfpipe_plot::Error>().and_then(perfpipe_plot::Error::remedy)
}

/// The remedy for an error of the system alone, as where a file of the output can't be written.
pub(super) fn of_system(error: &(dyn Error + 'static)) -> Option<String> {
    let kind = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>())?.kind();
    let remedy = match kind {
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem => "Check the name, its folder, and who may write there.",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Make room there, or name another folder."
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// The remedy for an error of an ingest or a store.
pub(crate) fn of_ingest(error: &Ingest) -> Option<String> {
    match error {
        Ingest::Origin { earliest, .. } => Some(format!("Run the command again with --origin {earliest}.")),
        Ingest::TimeUnit { unit, .. } => Some(format!(
            "Give the unit: --time-unit {unit}, or --time-unit {} for milliseconds.",
            TimeUnit::Milliseconds
        )),
        Ingest::Rejects { reason, limit, .. } => Some(of_rejects(reason, *limit)),
        _ => match (error.kind(), error.remedy()) {
            (ErrorKind::CommitUnknown, Some(remedy)) => Some(format!("See `perfpipe list`. {remedy}")),
            (kind, remedy) => of_kind(kind).map(str::to_owned).or_else(|| remedy.map(with_flags)),
        },
    }
}

/// The flags for options of the library that its remedies name beside what depends on the file.
const FLAGS: [(&str, &str); 10] = [
    ("IngestOptions::max_rejects", "--max-rejects"),
    ("IngestOptions::only", "--only FROM..TO"),
    ("IngestOptions::origin", "--origin"),
    ("IngestOptions::series", "--series NAME=FILE"),
    ("LayoutOptions::columns", "--columns"),
    ("LayoutOptions::delimiter", "--delimiter"),
    ("SeriesFile::columns", "--series-columns TIME,VALUE"),
    ("SourceOptions::cpu_columns", "--cpu-columns TIME,VALUE"),
    ("SourceOptions::cpu_item", "--cpu-item"),
    ("SourceOptions::time_format", "--time-format"),
];

/// Returns a remedy or a note of the library with the flags for the options that it names.
pub(crate) fn with_flags(remedy: String) -> String {
    FLAGS.iter().fold(remedy, |remedy, (option, flag)| remedy.replace(option, flag))
}

/// The remedy for a rejected record where no more rejects are allowed.
fn of_rejects(reason: &RejectReason, limit: u64) -> String {
    let remedy = match limit {
        0 => {
            "Correct the record, or replace --strict with --max-rejects: then the run is stored without the \
             record, which is kept beside it."
        }
        _ => TOO_MANY_REJECTS,
    };
    match reason {
        RejectReason::FarTime { .. } => {
            format!("{remedy} If the records are really that far apart, raise --max-span.")
        }
        _ => remedy.to_owned(),
    }
}

/// The flags or commands that help against a kind of error; `None` if none does.
fn of_kind(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TooManyRejects => TOO_MANY_REJECTS,
        ErrorKind::Unrecognised => {
            "A log of JMeter needs a header with timeStamp and elapsed, or JMeter's default columns; otherwise name \
             its columns with --columns, and an unusual delimiter with --delimiter. A CPU export needs \
             a column of times and one of readings, which --cpu-columns TIME,VALUE names. docs/tools/README.md lists the formats of other load tools."
        }
        ErrorKind::ColumnsIncomplete => {
            "Name every column of the log with --columns, among them timeStamp, elapsed and success."
        }
        ErrorKind::FileCut | ErrorKind::FileDamaged | ErrorKind::TrailingData => {
            "Copy or export the file again, or keep what can be read of it: --salvage. Nothing was stored."
        }
        ErrorKind::JoinedZips => {
            "Give each zip as a file of its own, or read all that is in them: --salvage. Nothing was stored."
        }
        ErrorKind::CpuItems | ErrorKind::CpuItemMissing => "Choose one with --cpu-item ID.",
        ErrorKind::CpuCores => "Give --cores N, the cores of the server.",
        ErrorKind::SourceDenied => {
            "The secrets of --cpu-from and --series come from the environment: set PERFPIPE_ZABBIX_TOKEN or PERFPIPE_PROMETHEUS_TOKEN to a valid token, or ..._USER and ..._PASSWORD; ..._TOKEN_FILE and ..._PASSWORD_FILE name files with them."
        }
        ErrorKind::SourceUntrusted => {
            "Give the certificate of the authority that signed it, in PEM: --ca-file FILE; and name the host in the URL as its certificate does."
        }
        ErrorKind::SourceEmpty => {
            "Check that the item is collected and still kept, the clocks of both machines (--cpu-offset), and the time zone of the log's dates (--time-zone)."
        }
        ErrorKind::SourceOfPipe => {
            "Store the run without readings, and attach them then: `perfpipe attach-cpu` RUN --cpu-from URL, `perfpipe attach-series` RUN --series NAME=URL --unit UNIT."
        }
        ErrorKind::NoCpuItems => "Leave out --cpu-item.",
        ErrorKind::SeriesItems => {
            "Choose one by its number: --series NAME:ID=FILE, as in memory:10073=items.csv."
        }
        ErrorKind::SeriesName => {
            "Give --series NAME=FILE --unit UNIT, as in --series memory=memory.csv --unit bytes: each NAME once, of letters, digits, `_` and `-`. The CPU readings are not a --series: name their file beside the log, or ask for them with --cpu-from."
        }
        ErrorKind::SeriesNames => {
            "Name it as one of them, as in --series memory=FILE, or keep only the lines of one in the file."
        }
        ErrorKind::CpuRange => {
            "Export the CPU item (in Zabbix, system.cpu.util), not memory or another item, which is given as --series memory=FILE --unit bytes; remove single readings that are wrong."
        }
        ErrorKind::SeriesOfFolder => "Leave it out, and add it to each run: `perfpipe attach-series`.",
        ErrorKind::SeriesTaken => "Give this one another name, or replace all series of the run: --replace.",
        ErrorKind::SeriesApart => "Check the file, and --time-zone for its dates.",
        ErrorKind::NoSeriesItems => "Leave out the number: --series NAME=FILE.",
        ErrorKind::TimeRange => {
            "Give the log's timeStamps in milliseconds, as JMeter writes them by default, or as dates; or \
             give their unit with --time-unit."
        }
        ErrorKind::OriginContradicted => {
            "Correct --origin, or leave it out: if one is needed, an error states it."
        }
        ErrorKind::OneRunOnly => {
            "Leave --origin and --repeat out, or ingest that run alone: name its files instead of the folder."
        }
        ErrorKind::SharedKey => {
            "If they are repeats of one test, store them with --append-repeat. If their names say which run they are, name \
             them by --name '{framework}_{test}_r{repeat}.csv'; where several folders have files of one name, by \
             --append-repeat --name '{framework}_{test}_r{*}.csv'. Or name the frameworks by their ports with --frameworks \
             FILE, or keep one of the logs in the folder."
        }
        ErrorKind::SpanTooLong => "Give --max-span at most 12 days.",
        ErrorKind::FileName => "Correct --name, where {*} stands for any text, or move the file elsewhere.",
        ErrorKind::RunName => {
            "Give it another name with --framework and --test; left out, they are inferred."
        }
        ErrorKind::Resolution => {
            "Give --resolution 1us, 10us, 100us or 1ms: the log's own or a coarser one, and one for all logs of a run."
        }
        ErrorKind::NoClock => {
            "Ingest the log with --origin: the time at which the tool started, in milliseconds since 1970, as `date +%s%3N` prints it. Without that, ingest the log alone."
        }
        ErrorKind::RepeatRange => "Count repeats from 1: --repeat 1.",
        ErrorKind::InjectorPattern => {
            "Write one whose first group, or whole match, is the host, as in --injector-pattern '^(load-[a-z]+)-'."
        }
        ErrorKind::UnknownTimeZone => {
            "Give an IANA name as in --time-zone Europe/Warsaw, or an offset as in --time-zone +01:00."
        }
        ErrorKind::NoRun => "See `perfpipe list` for the runs that are stored.",
        ErrorKind::NoSamples => "Ingest it again without --no-samples.",
        ErrorKind::KeyTaken => {
            "Name this run with --framework and --test, replace the old run with --replace, or keep both \
             with --append-repeat."
        }
        ErrorKind::KeyTakenMeanwhile => "Ingest one of them alone, and name it with --framework and --test.",
        ErrorKind::PartIncomplete => {
            "Give --framework, --test and --origin, which are those of the whole run."
        }
        ErrorKind::PartTaken => {
            "Give this part its own number with --part, or replace the other one with --replace."
        }
        ErrorKind::NoParts => {
            "See `perfpipe list` for the parts that are stored; `perfpipe ingest --part` stores them."
        }
        ErrorKind::PartsMissing => {
            "Ingest them with --part. If the run has fewer parts, ingest all again with the right N in --part K/N."
        }
        ErrorKind::PartsDoubled => {
            "Drop one of them with `perfpipe drop --part`, and ingest the right log with that --part."
        }
        ErrorKind::PartsDiffer => {
            "Ingest all parts with the same flags and CPU export, by the same version of perfpipe; `perfpipe drop \
             --part` drops one that is wrong."
        }
        ErrorKind::PartsLeft => "Drop them with `perfpipe drop --part`.",
        ErrorKind::RunBusy => "Wait until it is done, or name this run with --framework and --test.",
        ErrorKind::Replaced => "Run the command again.",
        ErrorKind::SharedLabel => {
            "Ingest the run again without --no-samples, or look at all labels together."
        }
        ErrorKind::SubSamplesUnknown => {
            "Ingest the run again without --no-samples, or look at the labels one by one."
        }
        ErrorKind::NotInBucket => "Use a store in a folder (--store DIR), and copy the runs.",
        ErrorKind::TableForeign => {
            "Name another folder of the bucket with --store, or use the version of perfpipe that made this one."
        }
        ErrorKind::NotACluster => {
            "Leave out --distribute and --columnar, or name the coordinator of a cluster with --database."
        }
        ErrorKind::NoFolder => "Name another folder with --store, or create that one.",
        ErrorKind::NotAStore => "Name another folder with --store.",
        ErrorKind::StoreLayout => {
            "Use the version of perfpipe that stored its runs, or another store (--store, --database)."
        }
        ErrorKind::RunMoved => "Run `perfpipe repair`, which moves it to its folder or sets it aside.",
        ErrorKind::NotDurable => {
            "Find out from the system's log what is wrong with the disk, then check the run with `perfpipe \
             verify`."
        }
        ErrorKind::RunContradictory => {
            "Nothing was stored. This is a bug in perfpipe, not a fault of your files. Please report it with this message."
        }
        ErrorKind::RunDamaged => {
            "A part of the run was deleted, hidden or changed. See what is damaged with `perfpipe verify`, \
             and run `perfpipe repair`; if that does not help, ingest the run again."
        }
        ErrorKind::RowUnreadable => {
            "The row was changed by hand: ingest the run again with --replace, or drop it with `perfpipe \
             drop`."
        }
        ErrorKind::MarkerDamaged => {
            "Run `perfpipe repair`, which writes the file again. The runs can be read meanwhile."
        }
        _ => return None,
    })
}

/// The remedy for an error of the statistics.
fn of_analyze(error: &Analyze) -> Option<String> {
    let remedy = match error {
        Analyze::NoPhase { phases, .. } if *phases == Phases::default() => {
            "Choose the seconds yourself (--from, --to)."
        }
        Analyze::SharedLabel { .. } => {
            "Only the run's samples separate its requests (`perfpipe export --what samples`)."
        }
        Analyze::TransactionLabel { .. } => "Ask for transactions too (--transactions).",
        Analyze::FewRepeats { .. } => "Repeat the test, and ingest each run (--append-repeat).",
        Analyze::NoBaseline { .. } => "Name the run to compare with (--baseline).",
        Analyze::Counts(error) => return of_ingest(error),
        _ => return error.remedy(),
    };
    Some(remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::commands::Cli;
    use perfpipe_analyze::{NoPhaseReason, Phase};
    use perfpipe_ingest::RunKey;
    use perfpipe_ingest::source::Place;

    /// The words of a text that name something of the command line, without what surrounds them.
    fn named(text: &str) -> Vec<&str> {
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        words.filter(|word| word.starts_with("--")).collect()
    }

    /// Every flag and command that a text names is one that the command line has.
    fn check(text: &str) {
        let cli = Cli::command();
        let has = |flag: &str| {
            let commands = std::iter::once(&cli).chain(cli.get_subcommands());
            commands
                .flat_map(|command| command.get_arguments())
                .any(|argument| argument.get_long() == flag.strip_prefix("--"))
        };
        for flag in named(text) {
            assert!(has(flag), "{flag} in {text:?}");
        }
        for words in text.split("`perfpipe ").skip(1) {
            let command = words.split([' ', '`']).next().unwrap();
            assert!(cli.find_subcommand(command).is_some(), "{command} in {text:?}");
        }
    }

    #[test]
    fn flags_and_commands_that_remedies_name_exist() {
        for (kind, text) in ErrorKind::ALL.iter().filter_map(|kind| Some((kind, of_kind(*kind)?))) {
            check(text);
            // All else is for the library to say.
            let names = !named(text).is_empty() || text.contains("`perfpipe ");
            let is_plain = [ErrorKind::Replaced, ErrorKind::RunContradictory].contains(kind);
            assert!(names || is_plain, "{kind:?}: {text}");
        }
        let place = || Box::new(Place::file("log.csv"));
        let key = RunKey::new("go", "2048");
        let run = || key.to_string();
        let rejects =
            |reason, limit| Ingest::Rejects { place: place(), reason, value: None, rejects: 1, limit };
        for error in [
            Ingest::Origin { place: place(), given: None, earliest: 7 },
            Ingest::TimeUnit { place: place(), problem: String::new(), unit: TimeUnit::Seconds.to_string() },
            rejects(RejectReason::OpenQuote, 0),
            rejects(RejectReason::OpenQuote, 1),
            rejects(RejectReason::FarTime { first_ms: 0 }, 0),
            rejects(RejectReason::FarTime { first_ms: 0 }, 1),
            Ingest::NoRun { key: key.clone() },
        ] {
            let text = of_ingest(&error).unwrap();
            check(&text);
            assert!(!named(&text).is_empty() || text.contains('`'), "{text}");
        }
        for error in [
            Analyze::NoPhase {
                run: run(),
                phase: Phase::Hold,
                because: NoPhaseReason::NoLoad,
                phases: Phases::default(),
            },
            Analyze::SharedLabel { run: run(), label: "Get".into() },
            Analyze::TransactionLabel { run: run(), label: "Page".into() },
            Analyze::NoBaseline { rule: "p95 < 1 x baseline".into() },
        ] {
            let text = of_analyze(&error).unwrap();
            check(&text);
            assert!(!named(&text).is_empty(), "{text}");
        }
    }

    /// The files below a folder.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { sources(&path, found) } else { found.push(path) }
        }
    }

    /// Summaries of load tools are printed after the command lines of these tools, which have flags, too.
    #[test]
    fn no_text_of_the_libraries_names_a_flag_of_the_command() {
        let cli = Cli::command();
        let arguments = cli.get_subcommands().flat_map(|command| command.get_arguments());
        let flags: Vec<String> =
            arguments.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
        let mut files = Vec::new();
        for library in ["ingest", "analyze", "plot"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(library).join("src"), &mut files);
        }
        let is_of_tools = |path: &Path| path.components().any(|part| part.as_os_str() == "summaries");
        for path in
            files.iter().filter(|path| path.extension().is_some_and(|end| end == "rs") && !is_of_tools(path))
        {
            let text = std::fs::read_to_string(path).unwrap();
            let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
            for line in text.lines().filter(|line| {
                !line.trim_start().starts_with("//") && line.contains('"') && !line.contains("vegeta")
            }) {
                let flag = named(line).into_iter().find(|word| flags.iter().any(|flag| flag == word));
                assert_eq!(flag, None, "{}: {line}", path.display());
            }
        }
    }

    #[test]
    fn remedies_of_the_libraries_name_no_flags() {
        let key = RunKey::new("go", "2048");
        for error in [
            Ingest::Origin { place: Box::new(Place::file("a")), given: None, earliest: 7 },
            Ingest::NoSamples { key: key.clone() },
            Ingest::NoRun { key },
        ] {
            let remedy = error.remedy().unwrap();
            assert!(named(&remedy).is_empty() && !remedy.contains('`'), "{remedy}");
        }
    }
}
