//! The flags of `perfpipe check`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::error::ErrorKind;
use perfpipe_analyze::table::Format;

use crate::args::{
    BaselineStoreArgs, Choice, ReportFormat, ScopeArgs, Tag, TestArgs, VerdictFormat, VerdictOutputArgs,
    choice,
};

/// What the format of the output is, of which there are no pages.
const FORMAT_HELP: &str = "Output format; pr is Markdown for a comment on a pull request: the verdict, and a short table \
                           [default: by the ending of the file, else text]";

#[derive(Debug, Args)]
#[command(mut_arg("baseline_store", |store| store.requires("baseline")))]
#[command(mut_arg("format", |format| format.value_parser(choice(VerdictFormat::WITHOUT_PAGES)).help(FORMAT_HELP)))]
#[command(after_help = "Examples:\n  \
    perfpipe check --test 2048 \"p95 < 200ms\" \"failures < 1%\" \"throughput > 20000\"\n  \
    perfpipe check go_2048#2 \"p95 < 200ms\"\n  \
    perfpipe check --test 2048 --framework go --rules rules.toml --junit check.xml\n  \
    perfpipe check go_2048 --baseline go_2048 --baseline-store old \"p95 < baseline * 1.1\"\n  \
    perfpipe check go_2048#9 --baseline 'last 5 of tag:branch=main' \"throughput > baseline * 0.95\"\n  \
    perfpipe check go_2048#9 --baseline 'last 5 of tag:branch=main' \"p95 not worse than baseline by 3%\" --unknown fail\n  \
    perfpipe check --test 2048 --tag side=new --baseline pair \"p95 not worse than baseline by 3%\"\n  \
    perfpipe check new_2048 --baseline old_2048 \"throughput not worse than baseline\" --no-baseline pass\n  \
    perfpipe check go_2048 --rules rules.toml --format pr -o comment.md\n\n\
    A rule: MEASURE [of \"LABEL\"] [in ramp|hold|tail] OPERATOR LIMIT [for DURATION]\n  \
    MEASURE   throughput, requests, successes, failures, failures_percent,\n            \
              rejects, mean, min, max, p95 (any percentile), within 200ms,\n            \
              apdex 500ms, latency_mean, bytes_per_second,\n            \
              sent_bytes_per_second, cpu, cpu_max, load,\n            \
              series memory, series_max memory (a series of the server)\n  \
    OPERATOR  <, <=, >, >=, ==, !=\n  \
    LIMIT     a number (ms, s, %, /s, MB/s, MiB), or baseline, baseline * 1.1, baseline + 20ms\n  \
    DURATION  30s, 2m, 1:30: fails only if it is broken for that long without a pause\n\n\
    A rule about chance: MEASURE [of \"LABEL\"] [in ramp|hold|tail] not worse|more|less than baseline [by MARGIN]\n  \
    MEASURE   throughput, failures, mean, p95 (any percentile), cpu, series memory,\n            \
              series_max memory\n  \
    MARGIN    3% of the baseline, or 20ms; of failures, 1% are percentage points\n\n\
    A rule about the points of a sweep: MEASURE OPERATOR NUMBER at CONCURRENCY, as in \"throughput > 1500 at 32\"\n  \
    MEASURE   throughput, answers, requests, successes, failures, timeouts, mean,\n            \
              max, p99 (a percentile that the tool reports), bytes_per_second\n\n\
    A file of rules: rules = [\"p95 < 200ms\", \"failures < 1%\"]\n\n\
    Exit codes: 0 all rules passed; 3 there is no run to compare with; 4 a rule failed.")]
pub(crate) struct CheckArgs {
    /// Runs to check, as `perfpipe list` names them: go_2048 with all its repeats, go_2048#2 for the second alone; and rules
    /// that each of them must satisfy, which have a <, >, = or the word not. With --test all are rules
    #[arg(value_name = "RUN|RULE")]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) of: TestArgs,
    /// TOML file with more rules
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Run to compare with in rules: go_2048, or go_2048#2 for its second repeat; or the latest earlier runs of the same
    /// framework and test with a tag: 'last 5 of tag:branch=main'; or `pair`, the other run of each one's pair; repeatable
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Vec<Against>,
    #[command(flatten)]
    pub(crate) baseline_store: BaselineStoreArgs,
    /// What becomes of a rule that has no run to compare with: --no-baseline pass for the first run of all [default: fail,
    /// with exit code 3]
    #[arg(long, value_name = "OUTCOME", value_parser = choice(Fate::ALL), requires = "baseline")]
    pub(crate) no_baseline: Option<Fate>,
    /// What becomes of a rule about chance of which the data can't tell: --unknown fail where that is no pass [default: pass,
    /// with a warning]
    #[arg(long, value_name = "OUTCOME", value_parser = choice(Fate::ALL))]
    pub(crate) unknown: Option<Fate>,
    #[command(flatten)]
    pub(crate) output: VerdictOutputArgs,
    /// Also write a JUnit XML file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Annotate failed rules on GitHub, and add the verdict to the job's summary
    #[arg(long)]
    pub(crate) github: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

impl CheckArgs {
    /// Returns the format of the table; `None` for a comment.
    pub(crate) fn table_format(&self) -> Option<Format> {
        match self.output.format() {
            VerdictFormat::Report(ReportFormat::Table(format)) => Some(format),
            // A file may be called so, but there is no page of verdicts.
            VerdictFormat::Report(ReportFormat::Html) => Some(Format::Text),
            VerdictFormat::Comment => None,
        }
    }

    /// Returns the runs that are named.
    pub(crate) fn runs(&self) -> Vec<String> {
        self.words.iter().filter(|word| !self.is_rule(word)).cloned().collect()
    }

    /// Returns the rules on the command line.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|word| self.is_rule(word)).map(String::as_str)
    }

    fn is_rule(&self, word: &str) -> bool {
        self.of.test.is_some() || word.contains(['<', '>', '=']) || word.contains(" not ")
    }

    /// Fails if no runs are chosen, or in two ways.
    ///
    /// # Errors
    /// Those that clap has where it knows which words are runs.
    pub(crate) fn check_runs(&self) -> clap::error::Result<()> {
        let refuse = |kind, text: &str| {
            Err(clap::Error::raw(kind, format!("{text}\n\nFor more information, try '--help'.\n")))
        };
        match (self.runs().is_empty(), self.of.test.is_some(), self.of.tag.is_empty()) {
            (true, false, _) => refuse(
                ErrorKind::MissingRequiredArgument,
                "no run is named: name one as `perfpipe list` prints it, as in `perfpipe check go_2048 \"p95 < 200ms\"`, or choose runs by --test",
            ),
            (false, _, false) => {
                refuse(ErrorKind::ArgumentConflict, "runs are chosen by their names or by --tag, not by both")
            }
            _ => Ok(()),
        }
    }
}

/// What becomes of a rule that can't be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
}

impl Fate {
    const ALL: &'static [Self] = &[Self::Pass, Self::Fail];
}

impl Choice for Fate {
    fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }
}

/// What runs are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Against {
    /// A run, by its name.
    Run(String),
    /// The latest runs with a tag, at most so many.
    Last(usize, Tag),
    /// The other runs of their pairs.
    Pair,
}

impl FromStr for Against {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "pair" {
            return Ok(Self::Pair);
        }
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let ["last", number, "of", tag] = words.as_slice() else { return Ok(Self::Run(text.to_owned())) };
        let wrong = || "give it as in 'last 5 of tag:branch=main'".to_owned();
        let number = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
        Ok(Self::Last(number, tag.strip_prefix("tag:").ok_or_else(wrong)?.parse()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baseline_is_a_run_or_the_last_of_a_tag() {
        let tag = "branch=main".parse().unwrap();
        assert_eq!("last 5 of tag:branch=main".parse(), Ok(Against::Last(5, tag)));
        assert_eq!("pair".parse(), Ok(Against::Pair));
        assert_eq!("go_2048#2".parse(), Ok(Against::Run("go_2048#2".to_owned())));
        for wrong in ["last 0 of tag:a=b", "last x of tag:a=b", "last 5 of a=b", "last 5 of tag:a"] {
            assert!(wrong.parse::<Against>().is_err(), "{wrong}");
        }
    }
}
