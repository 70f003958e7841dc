//! The measures that rules can use: names, units, and values over a run or in one second.

use perfpipe_model::points::Figures;

use crate::error::Result;
use crate::format::Unit;
use crate::timeline::summary::Summary;
use crate::timeline::{Second, Timeline};
use crate::view::Goal;

/// A figure that a rule can be about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    Throughput,
    ThroughputActive,
    Requests,
    Successes,
    Failures,
    FailuresPercent,
    Rejects,
    ElapsedMean,
    ElapsedMin,
    ElapsedMax,
    LatencyMean,
    Percentile(f64),
    CpuMean,
    CpuMax,
    LoadMax,
    BytesPerSecond,
    SentBytesPerSecond,
    Goal(Goal),
    /// Of points only: answers per second as the tool prints them.
    Answers,
    /// Of points only.
    Timeouts,
    /// The mean of a series of the server; in one second, its value.
    Server,
    /// The greatest value of a series of the server.
    ServerMax,
}

/// Names of all measures but percentiles and goals; the first name of each is that of the summary's column.
const NAMES: [(&str, Measure); 23] = [
    ("throughput", Measure::Throughput),
    ("throughput_active", Measure::ThroughputActive),
    ("requests", Measure::Requests),
    ("successes", Measure::Successes),
    ("failures", Measure::Failures),
    ("failures_percent", Measure::FailuresPercent),
    ("rejects", Measure::Rejects),
    ("elapsed_mean", Measure::ElapsedMean),
    ("mean", Measure::ElapsedMean),
    ("elapsed_min", Measure::ElapsedMin),
    ("min", Measure::ElapsedMin),
    ("elapsed_max", Measure::ElapsedMax),
    ("max", Measure::ElapsedMax),
    ("latency_mean", Measure::LatencyMean),
    ("cpu", Measure::CpuMean),
    ("cpu_mean", Measure::CpuMean),
    ("cpu_max", Measure::CpuMax),
    ("load", Measure::LoadMax),
    ("load_max", Measure::LoadMax),
    ("bytes_per_second", Measure::BytesPerSecond),
    ("sent_bytes_per_second", Measure::SentBytesPerSecond),
    ("answers", Measure::Answers),
    ("timeouts", Measure::Timeouts),
];

impl Measure {
    /// Parses the name of a measure, other than a goal.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let percent = || {
            let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
            let usual = name.bytes().skip(1).all(|byte| byte.is_ascii_digit() || byte == b'.');
            (usual && (0.0..=100.0).contains(&percent)).then_some(Self::Percentile(percent))
        };
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, measure)| *measure).or_else(percent)
    }

    /// Parses the word before the name of a series.
    pub(crate) fn of_server(name: &str) -> Option<Self> {
        match name {
            "series" => Some(Self::Server),
            "series_max" => Some(Self::ServerMax),
            _ => None,
        }
    }

    /// Returns true if the measure is of a series of the server.
    pub(crate) fn is_of_server(self) -> bool {
        matches!(self, Self::Server | Self::ServerMax)
    }

    /// Returns the function that parses the time after the name of a goal; `None` if it is not a goal's name.
    pub(crate) fn goal(name: &str) -> Option<fn(&str) -> Result<Goal>> {
        match name {
            "within" => Some(Goal::within),
            "apdex" => Some(Goal::apdex),
            _ => None,
        }
    }

    /// Returns all names, those most similar to a misspelt name first.
    pub(crate) fn names_like(name: &str) -> Vec<&'static str> {
        let mut names: Vec<&str> = NAMES
            .iter()
            .map(|(name, _)| *name)
            .chain(["p50", "p95", "p99.9", "within 200ms", "apdex 500ms", "series memory"])
            .collect();
        let likeness = |known: &str| strsim::normalized_damerau_levenshtein(known, name);
        names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        names
    }

    /// Returns the unit of the values.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Throughput | Self::ThroughputActive | Self::Answers => Unit::PerSecond,
            Self::FailuresPercent | Self::CpuMean | Self::CpuMax | Self::Goal(Goal::Within(_)) => {
                Unit::Percent
            }
            Self::BytesPerSecond | Self::SentBytesPerSecond => Unit::BytesPerSecond,
            Self::ElapsedMean
            | Self::ElapsedMin
            | Self::ElapsedMax
            | Self::LatencyMean
            | Self::Percentile(_) => Unit::Milliseconds,
            Self::Requests
            | Self::Successes
            | Self::Failures
            | Self::Rejects
            | Self::LoadMax
            | Self::Timeouts
            | Self::Server
            | Self::ServerMax
            | Self::Goal(Goal::Apdex(_)) => Unit::None,
        }
    }

    /// Returns the factor that converts a number in `unit` to the measure's own unit; `None` if the unit does not fit.
    pub(crate) fn factor(self, unit: &str) -> Option<f64> {
        match (self.unit(), unit) {
            (own, unit) if unit.is_empty() || own.name() == unit => Some(1.0),
            (Unit::Milliseconds, "s") => Some(1000.0),
            (Unit::Milliseconds, "us") => Some(0.001),
            (Unit::BytesPerSecond, "kB/s") => Some(1e3),
            (Unit::BytesPerSecond, "MB/s") => Some(1e6),
            _ => None,
        }
    }

    /// Returns true if the measure exists for the whole run only, not for a label, phase or second.
    pub(crate) fn is_of_run(self) -> bool {
        self == Self::Rejects
    }

    /// Returns true if the measure exists for points only.
    pub(crate) fn is_of_points_only(self) -> bool {
        matches!(self, Self::Answers | Self::Timeouts)
    }

    /// Returns true if load tools report the measure in their summaries.
    pub(crate) fn is_of_points(self) -> bool {
        let never = matches!(
            self,
            Self::ThroughputActive
                | Self::Rejects
                | Self::ElapsedMin
                | Self::LatencyMean
                | Self::CpuMean
                | Self::CpuMax
                | Self::LoadMax
                | Self::SentBytesPerSecond
                | Self::Server
                | Self::ServerMax
                | Self::Goal(_)
        );
        !never
    }

    /// Returns true if the greatest value of a level's repeats represents the level; otherwise their median does.
    pub(crate) fn is_greatest_of_points(self) -> bool {
        matches!(self, Self::Failures | Self::FailuresPercent | Self::Timeouts)
    }

    /// Returns what a load tool reported.
    pub(crate) fn of_point(self, figures: &Figures) -> Option<f64> {
        match self {
            Self::Throughput => figures.throughput(),
            Self::Answers => figures.answers_per_second,
            Self::Requests => figures.requests.map(|count| count as f64),
            Self::Successes => figures.successes.map(|count| count as f64),
            Self::Failures => figures.failures.map(|failures| failures.greatest as f64),
            Self::FailuresPercent => figures.failures_percent(),
            Self::Timeouts => figures.timeouts.map(|count| count as f64),
            Self::ElapsedMean => figures.latencies.mean_ms,
            Self::ElapsedMax => figures.latencies.max_ms,
            Self::Percentile(percent) => figures.latencies.percentile(percent),
            Self::BytesPerSecond => figures.bytes_per_second,
            _ => None,
        }
    }

    /// Returns true if it is a time of the requests.
    pub(crate) fn is_time(self) -> bool {
        self.unit() == Unit::Milliseconds
    }

    /// Returns true if the measure exists for single seconds.
    pub(crate) fn is_of_seconds(self) -> bool {
        let never = matches!(self, Self::Rejects | Self::BytesPerSecond | Self::SentBytesPerSecond);
        !(never || self.is_of_points_only())
    }

    /// Returns the value over all seconds of a timeline. The timeline must have been computed with the rule's
    /// percentile or goal.
    pub(crate) fn of_run(self, timeline: &Timeline) -> Option<f64> {
        let summary: &Summary = &timeline.summary;
        match self {
            Self::Throughput => Some(summary.throughput),
            Self::ThroughputActive => summary.throughput_active,
            Self::Requests => Some(summary.requests() as f64),
            Self::Successes => Some(summary.successes as f64),
            Self::Failures => Some(summary.failures as f64),
            Self::FailuresPercent => summary.failure_share().map(|share| share * 100.0),
            Self::Rejects => Some(timeline.info.rejects as f64),
            Self::ElapsedMean => summary.elapsed_mean,
            Self::ElapsedMin => summary.elapsed_min,
            Self::ElapsedMax => summary.elapsed_max,
            Self::LatencyMean => summary.latency_mean,
            Self::Percentile(percent) => {
                summary.percentiles.get(place(timeline, percent)?).copied().flatten()
            }
            Self::CpuMean => summary.cpu_mean,
            Self::CpuMax => summary.cpu_max,
            Self::LoadMax => summary.load_max,
            Self::BytesPerSecond => summary.bytes_per_second(),
            Self::SentBytesPerSecond => summary.sent_bytes_per_second(),
            Self::Goal(goal) => summary.goals.get(place_of_goal(timeline, goal)?).copied().flatten(),
            Self::Answers | Self::Timeouts | Self::Server | Self::ServerMax => None,
        }
    }

    /// Returns the value in one second of a timeline.
    pub(crate) fn of_second(self, timeline: &Timeline, second: &Second) -> Option<f64> {
        let requests = second.successes + second.failures;
        match self {
            Self::Throughput | Self::Successes => Some(second.successes as f64),
            // The mean is over seconds with a success, so others have no value.
            Self::ThroughputActive => (second.successes > 0).then_some(second.successes as f64),
            Self::Requests => Some(requests as f64),
            Self::Failures => Some(second.failures as f64),
            Self::FailuresPercent => (requests > 0).then(|| second.failures as f64 / requests as f64 * 100.0),
            Self::Rejects
            | Self::BytesPerSecond
            | Self::SentBytesPerSecond
            | Self::Answers
            | Self::Timeouts
            | Self::Server
            | Self::ServerMax => None,
            Self::Goal(goal) => second.goals.get(place_of_goal(timeline, goal)?).copied(),
            Self::ElapsedMean => second.elapsed_mean.get(),
            Self::ElapsedMin => second.elapsed_min.get(),
            Self::ElapsedMax => second.elapsed_max.get(),
            Self::LatencyMean => second.latency_mean.get(),
            Self::Percentile(percent) => second.percentile(place(timeline, percent)?),
            Self::CpuMean | Self::CpuMax => second.cpu.get(),
            Self::LoadMax => second.load.get(),
        }
    }
}

/// Returns the index of a goal in a timeline's goals.
fn place_of_goal(timeline: &Timeline, goal: Goal) -> Option<usize> {
    timeline.view.goals.iter().position(|known| *known == goal)
}

/// Returns the index of a percentile in a timeline's percentiles.
fn place(timeline: &Timeline, percent: f64) -> Option<usize> {
    timeline.percentiles.iter().position(|known| known.total_cmp(&percent).is_eq())
}
