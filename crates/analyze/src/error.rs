//! The error type of the crate, with a remedy for each error.

use std::fmt;

use crate::compare::PairFault;
use crate::view::phases::{Phase, Phases};

/// Why a run lacks a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPhaseReason {
    /// Its log reports no load.
    NoLoad,
    /// Its load is held from the first second on, so that it has no ramp.
    HeldFromFirst,
    /// Its load is held to the last second, so that it has no tail.
    HeldToLast,
    /// Its load is level nowhere for long.
    LevelNowhere,
}

impl fmt::Display for NoPhaseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLoad => "the load is not in the log",
            Self::HeldFromFirst => "its load is level from the first second on",
            Self::HeldToLast => "its load is level to the last second",
            Self::LevelNowhere => "its load is never level for long",
        })
    }
}

/// An error between a stored run and its statistics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A percentile outside of 0 to 100.
    #[error("the percentile {percentile} is not a number from 0 to 100")]
    Percentile {
        /// The percentile, in percent.
        percentile: f64,
    },
    /// Too few repeats to know how much runs scatter.
    #[error("{of} has no two {}, so nothing shows how much they scatter", if *pairs { "pairs" } else { "runs of one version" })]
    FewRepeats {
        /// What was measured.
        of: String,
        /// True if pairs are asked for.
        pairs: bool,
    },
    /// No level of a load can be judged by the objectives.
    #[error("no level of {of} can be judged: {because}")]
    NoLevel {
        /// What was measured.
        of: String,
        /// The reason of its first level, as a clause.
        because: String,
    },
    /// Two runs with the tags of a pair that can't be compared within it.
    #[error(transparent)]
    UnfitPair(#[from] PairFault),
    /// A text that is not a time of whole milliseconds.
    #[error("\"{text}\" is not a time of whole milliseconds")]
    Time {
        /// The text.
        text: String,
    },
    /// An expected interval that is too short: correcting response times by it would add too many values.
    #[error("an interval of {interval} ms is too short to correct response times of up to {longest} ms")]
    Interval {
        /// The interval, in ms.
        interval: u32,
        /// The longest response time, in ms.
        longest: f64,
    },
    /// A window that contains no second of the run.
    #[error("there is no second from {from} to {to}: the run's last second is {last}")]
    Window {
        /// The window's first second.
        from: u32,
        /// The window's last second.
        to: u32,
        /// The run's last second.
        last: u32,
    },
    /// A run whose counts go on after its last second.
    #[error(
        "the run {run} has counts of second {second}, and its own row says that it has {seconds} seconds"
    )]
    BeyondEnd {
        /// The run's key.
        run: String,
        /// The first such second.
        second: u32,
        /// The number of the run's seconds.
        seconds: u32,
    },
    /// A phase that the run does not have.
    #[error("the run {run} has no {phase}: {because}")]
    NoPhase {
        /// The run's key.
        run: String,
        /// The requested phase.
        phase: Phase,
        /// The reason.
        because: NoPhaseReason,
        /// The phases of the run.
        phases: Phases,
    },
    /// No request of the run has `allThreads`.
    #[error("the run {run} has no load: allThreads is not in its log")]
    NoLoad {
        /// The run's key.
        run: String,
    },
    /// A label that the run does not have.
    #[error("the run {run} has no label \"{label}\"")]
    UnknownLabel {
        /// The run's key.
        run: String,
        /// The requested label.
        label: String,
        /// Labels of the run, the most similar first.
        near: Vec<String>,
    },
    /// A label that is counted in the cells shared by all labels beyond the limit.
    #[error(
        "the run {run} has more than {} labels, and \"{label}\" is counted among the others",
        perfpipe_model::counts::LABEL_LIMIT
    )]
    SharedLabel {
        /// The run's key.
        run: String,
        /// The requested label.
        label: String,
    },
    /// A label that is a transaction controller's, while the view does not count transactions.
    #[error("in the run {run}, \"{label}\" names transactions, which are not requests")]
    TransactionLabel {
        /// The run's key.
        run: String,
        /// The requested label.
        label: String,
    },
    /// Runs of different tests in one league.
    #[error("a league table compares runs of one test, and these are of \"{one}\" and \"{other}\"")]
    MixedTests {
        /// The first run's test.
        one: String,
        /// The test of a run that differs.
        other: String,
    },
    /// A column that a table does not have.
    #[error("the table has no column {column}")]
    UnknownColumn {
        /// The requested column.
        column: String,
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// A rule that can't be parsed.
    #[error("the rule `{rule}` can't be read: {problem}")]
    Rule {
        /// The text of the rule.
        rule: String,
        /// The problem, as a clause.
        problem: String,
        /// The remedy, as a sentence without its full stop.
        remedy: String,
    },
    /// A rule that compares with a baseline, while none is given.
    #[error("the rule `{rule}` compares with a baseline, and none was given")]
    NoBaseline {
        /// The text of the rule.
        rule: String,
    },
    /// A row that does not fit the table's columns.
    #[error("row {row}: {problem}")]
    Row {
        /// The index of the row, from 0.
        row: u64,
        /// The problem, as a clause.
        problem: String,
    },
    /// Bytes that are not the figures of a run, or of another version.
    #[error("the figures of a run can't be read: {0}")]
    Figures(String),
    /// An error of reading the run's counts.
    #[error(transparent)]
    Counts(#[from] perfpipe_model::Error),
    /// An I/O error of writing a table.
    #[error("writing a table: {0}")]
    Io(#[from] std::io::Error),
    /// An error of converting a table to another program's format.
    #[error("turning a table into {form}: {source}")]
    Convert {
        /// The format, as in "Parquet".
        form: &'static str,
        /// The underlying error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Wraps an error of a library that writes `form`.
    pub(crate) fn convert(
        form: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Convert { form, source: source.into() }
    }

    /// Returns the name of what the error is about, which never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Percentile { .. } => "percentile",
            Self::FewRepeats { .. } => "few-repeats",
            Self::NoLevel { .. } => "no-level",
            Self::UnfitPair(_) => "unfit-pair",
            Self::Time { .. } => "time",
            Self::Interval { .. } => "interval",
            Self::Window { .. } => "window",
            Self::BeyondEnd { .. } => "beyond-end",
            Self::NoPhase { .. } => "no-phase",
            Self::NoLoad { .. } => "no-load",
            Self::UnknownLabel { .. } => "unknown-label",
            Self::SharedLabel { .. } => "shared-label",
            Self::TransactionLabel { .. } => "transaction-label",
            Self::MixedTests { .. } => "mixed-tests",
            Self::UnknownColumn { .. } => "unknown-column",
            Self::Rule { .. } => "rule",
            Self::NoBaseline { .. } => "no-baseline",
            Self::Row { .. } => "row",
            Self::Figures(_) => "figures",
            Self::Counts(error) => error.code(),
            Self::Io(_) => "io",
            Self::Convert { .. } => "convert",
        }
    }

    /// Returns what the user can do about the error, as a sentence, if anything.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Percentile { .. } => "Give percentiles in percent, as in 50,95,99.9.".into(),
            Self::FewRepeats { .. } => "Repeat the test.".into(),
            Self::NoLevel { .. } => "Hold each level for at least 30 s, at loads that the system can answer.".into(),
            Self::UnfitPair(_) => {
                "Measure the runs of a pair one after the other, or both at once from begin to end; or give them different \
                 tags `pair`."
                    .into()
            }
            Self::Time { .. } => "Write a number and a unit, as in 200ms, 2s or 1.5s.".into(),
            Self::Interval { .. } => "Give the time between two requests of one client.".into(),
            Self::Window { from, to, last } if from > to && from <= last => {
                "Give a first second that is not after the last.".into()
            }
            Self::Window { last, .. } => format!("Give a first second from 0 to {last}."),
            Self::BeyondEnd { .. } => {
                "Correct the run's row (RunInfo::new counts its seconds), or its counts.".into()
            }
            Self::NoPhase { phases, .. } if *phases == Phases::default() => {
                "Choose the seconds yourself (View::from, View::to).".into()
            }
            Self::NoPhase { phases, .. } => format!("Phases of this run: {phases}."),
            Self::NoLoad { .. } => {
                "Let JMeter write the number of threads (jmeter.save.saveservice.thread_counts=true).".into()
            }
            Self::UnknownLabel { near, .. } if near.is_empty() => "The run has no labels at all.".into(),
            Self::UnknownLabel { near, label, .. } => {
                let meant = near.first().filter(|near| is_alike(near, label));
                let meant = meant.map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
                let near: Vec<String> = near.iter().map(|label| format!("\"{label}\"")).collect();
                format!("{meant}Labels of this run: {}.", near.join(", "))
            }
            Self::SharedLabel { .. } => "Only the run's samples separate its requests.".into(),
            Self::TransactionLabel { .. } => "Ask for transactions too (View::transactions).".into(),
            Self::Rule { remedy, .. } => format!("{remedy}."),
            Self::NoBaseline { .. } => "Give the run to compare with.".into(),
            Self::MixedTests { .. } => "Give the runs of one test.".into(),
            Self::UnknownColumn { columns, .. } => format!("Its columns: {}.", columns.join(", ")),
            Self::Figures(_) => "Make them again of the run.".into(),
            Self::Counts(error) => return error.remedy(),
            Self::Row { .. } | Self::Io(_) | Self::Convert { .. } => return None,
        })
    }
}

/// The result type of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The likeness, 0 to 1, from which a name was probably meant.
const LIKENESS: f64 = 0.6;

/// Returns true if a name was probably meant by another text, such as one with a letter too many.
pub fn is_alike(name: &str, text: &str) -> bool {
    strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &text.to_lowercase()) >= LIKENESS
}
