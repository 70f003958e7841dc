//! The value of a rule's measure in a run, in a second, or of a series of the server, and what it leaves out.

use crate::stats::percentile::column_name;
use crate::stats::student::few_beyond;
use crate::timeline::unseen::long_failures::LongFailures;
use crate::timeline::{Second, SeriesBySecond, Timeline};

use super::measure::Measure;
use super::rule::Rule;
use super::verdict::Verdict;

/// Failures matter to a mean if they would raise it by at least this share.
const OF_MEAN: f64 = 0.1;

impl Rule {
    /// Returns the series that the rule is about, if it is about one, and what the rule's numbers are to be multiplied by.
    ///
    /// # Errors
    /// The reason why the rule can't be judged: the run has no such series, or it is in another unit.
    pub(super) fn of_server<'a>(
        &self,
        timeline: &'a Timeline,
    ) -> Result<Option<(&'a SeriesBySecond, f64)>, String> {
        self.series.as_ref().map(|series| series.find(timeline)).transpose()
    }

    /// Returns the value of the rule's measure over all seconds of a timeline.
    pub(super) fn of_run(&self, timeline: &Timeline) -> Option<f64> {
        match (self.of_server(timeline).ok()?, self.measure) {
            (None, measure) => measure.of_run(timeline),
            (Some((series, _)), Measure::ServerMax) => series.max(),
            (Some((series, _)), _) => series.mean(),
        }
    }

    /// Returns the value of the rule's measure in one second of a timeline.
    pub(super) fn of_second(&self, timeline: &Timeline, second: &Second) -> Option<f64> {
        match self.of_server(timeline).ok()? {
            None => self.measure.of_second(timeline, second),
            Some((series, _)) => series.at(second.second),
        }
    }

    /// Returns the failures that the value leaves out, if they matter to it and the rule has an upper limit.
    fn left_out(&self, timeline: &Timeline) -> Option<LongFailures> {
        let summary = &timeline.summary;
        let found = match self.measure {
            Measure::Percentile(percent) => summary.long_failures(percent),
            Measure::ElapsedMax => summary.long_failures(100.0),
            Measure::ElapsedMean => {
                let mean = summary.elapsed_mean.unwrap_or_default();
                summary.long_failures(100.0).filter(|found| found.share() * found.mean >= OF_MEAN * mean)
            }
            _ => None,
        };
        found.filter(|_| self.is_most()).copied()
    }

    /// Completes a verdict with remarks on its value: which requests it leaves out, though the rule might not hold with
    /// them, and whether there are too few for it.
    pub(super) fn remarked(&self, timeline: &Timeline, verdict: Verdict) -> Verdict {
        let long_failures = self.left_out(timeline).filter(|_| verdict.holds);
        let outstanding =
            timeline.outstanding.filter(|_| verdict.holds && self.is_most() && self.measure.is_time());
        let notes = verdict.note.into_iter().chain(outstanding.map(|found| found.describe()));
        let left_out = long_failures.map(|found| format!("{}, not counted here", found.describe()));
        let notes = notes.chain(self.few(timeline)).chain(left_out);
        Verdict { note: notes.reduce(|one, other| format!("{one}; {other}")), long_failures, ..verdict }
    }

    /// Returns true if the rule has an upper limit.
    fn is_most(&self) -> bool {
        self.is_upper() == Some(true)
    }

    /// Says that there are too few requests for the rule's percentile.
    fn few(&self, timeline: &Timeline) -> Option<String> {
        let Measure::Percentile(percent) = self.measure else { return None };
        let (requests, whose) = match self.lasting {
            Some(_) => (timeline.averaged() / timeline.seconds.len().max(1) as u64, " a second"),
            None => (timeline.averaged(), ""),
        };
        let (beyond, name) = (few_beyond(percent, requests)?, column_name(percent));
        let extreme = if percent < 50.0 { "minimum" } else { "maximum" };
        Some(match beyond {
            ..1.0 => format!("of {requests} requests{whose}, {name} is about the {extreme}"),
            _ => format!("of {requests} requests{whose}, only {beyond:.0} are beyond {name}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::series::{ServerSeries, TimeSeries};
    use perfpipe_model::{RunInfo, RunKey, StoredRun};

    use crate::check::{Baseline, check};
    use crate::{Rule, Verdict, View};

    /// Twenty seconds, in which the memory grows from 10 MiB by 1 MiB a second, and the heat from -5 by 1.
    fn run(more: f64) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cells = (0..20).map(|second| (key(second), Cell { elapsed: vec![(10, 1)], ..Cell::default() }));
        let info = RunInfo::new(RunKey::new("go", "t"), 0, 19_500);
        let mut run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
        let readings = |value: &dyn Fn(f64) -> f64| {
            TimeSeries::new((0..20).map(|second| (second, value(second as f64))).collect())
        };
        let memory = readings(&|second| (10.0 + second + more) * 1_048_576.0);
        run.series = vec![
            ServerSeries::new("heat", "°C", readings(&|second| second - 5.0)),
            ServerSeries::new("memory", "bytes", memory),
        ];
        run
    }

    fn verdict(rule: &str, baseline: Option<&Baseline>) -> Verdict {
        let rules: [Rule; 1] = [rule.parse().unwrap()];
        check(&rules, &run(0.0), &View::default(), baseline).unwrap().remove(0)
    }

    #[test]
    fn series_are_judged_in_their_unit() {
        for (rule, holds) in [
            ("series memory < 19.6MiB", true),
            ("series memory < 19.5 MiB", false),
            ("series memory <= 19.5 MiB", true),
            ("series memory > 20MB", true),
            ("series_max memory <= 29MiB", true),
            ("series_max memory < 30408703", false),
            ("series memory < 15MiB for 15s", false),
            ("series memory < 15MiB for 16s", true),
            ("series heat < 4.6 °C", true),
            ("series_max heat <= 14", true),
            ("series heat < 0 for 3s", false),
        ] {
            let verdict = verdict(rule, None);
            assert_eq!((verdict.holds, &verdict.note), (holds, &None), "{verdict:?}");
        }
        let judged = verdict("series memory < 2GiB", None);
        let mean = 19.5 * 1_048_576.0;
        assert_eq!(
            (judged.value, judged.limit, judged.unit.name()),
            (Some(mean), Some(2_147_483_648.0), "B")
        );
    }

    #[test]
    fn series_that_is_absent_or_in_another_unit_fails_the_rule() {
        for (rule, why) in [
            ("series swap < 1GiB", "the run has no series swap"),
            ("series heat < 1GiB", "heat is in °C, not in GiB"),
            ("series memory < 80%", "memory is in bytes, not in %"),
        ] {
            let verdict = verdict(rule, None);
            assert_eq!((verdict.holds, verdict.note.as_deref()), (false, Some(why)));
        }
    }

    #[test]
    fn series_is_compared_with_that_of_a_baseline() {
        for (rule, holds) in [
            ("series memory < baseline + 1MiB", true),
            ("series memory < baseline - 1MiB", false),
            ("series memory <= baseline * 1.1", true),
        ] {
            let rules: [Rule; 1] = [rule.parse().unwrap()];
            let mut baseline = Baseline::new(&rules);
            baseline.add(&run(0.0), &View::default()).unwrap();
            assert_eq!(verdict(rule, Some(&baseline)).holds, holds, "{rule}");
        }
    }
}
