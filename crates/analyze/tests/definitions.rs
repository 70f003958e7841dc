//! The per-second table, the summary and the labels against the definitions, worked out sample by sample.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use perfpipe_analyze::breakdown::{LabelStats, label_stats};
use perfpipe_analyze::{Error, Second, Summary, Timeline, View};
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::counts::LabelCount;
use perfpipe_ingest::run::Resolution;
use perfpipe_ingest::series::{CpuJoin, TimeSeries};
use proptest::prelude::*;
use support::{Raw, Sample, mean, raw, same, view};

fn elapsed(samples: &[Sample]) -> Vec<i32> {
    samples.iter().map(|sample| sample.elapsed).collect()
}

/// The mean of values in a unit, in ms.
fn mean_of(unit: Resolution, values: &[i32]) -> Option<f64> {
    mean(&values.iter().map(|value| f64::from(*value) / f64::from(unit.per_ms())).collect::<Vec<_>>())
}

/// The least and the greatest of values in a unit, in ms.
fn extremes(unit: Resolution, values: &[i32]) -> (Option<f64>, Option<f64>) {
    let ms = |value: &i32| f64::from(*value) / f64::from(unit.per_ms());
    (values.iter().min().map(ms), values.iter().max().map(ms))
}

/// A percentile of values in a unit, in ms.
fn percentile(unit: Resolution, values: &[i32], percent: f64) -> Option<f64> {
    support::percentile(values, percent).map(|value| value / f64::from(unit.per_ms()))
}

fn successes(samples: &[Sample]) -> u64 {
    samples.iter().filter(|sample| sample.success).count() as u64
}

fn check_second(
    unit: Resolution,
    raw: &Raw,
    view: &View,
    percentiles: &[f64],
    found: &Second,
) -> Result<(), TestCaseError> {
    let counted = raw.counted(view, found.second..=found.second);
    let averaged = Raw::averaged(view, &counted);
    let times = elapsed(&averaged);
    let latencies: Vec<i32> = averaged.iter().filter_map(|sample| sample.latency).collect();
    prop_assert_eq!(found.successes, successes(&counted));
    prop_assert_eq!(found.failures, counted.len() as u64 - successes(&counted));
    prop_assert!(same(found.elapsed_mean.get(), mean_of(unit, &times)));
    prop_assert_eq!((found.elapsed_min.get(), found.elapsed_max.get()), extremes(unit, &times));
    prop_assert!(same(found.latency_mean.get(), mean_of(unit, &latencies)));
    prop_assert_eq!((found.latency_min.get(), found.latency_max.get()), extremes(unit, &latencies));
    prop_assert!(found.percentiles.len() <= percentiles.len());
    for (at, percent) in percentiles.iter().enumerate() {
        prop_assert!(same(found.percentile(at), percentile(unit, &times, *percent)), "p{percent} {found:?}");
    }
    prop_assert!(same(found.load.get(), raw.load(view, found.second)), "load {found:?}");
    prop_assert!(same(found.cpu.get(), raw.cpu(view, found.second)), "cpu {found:?}");
    Ok(())
}

fn check_summary(unit: Resolution, raw: &Raw, view: &View, found: &Timeline) -> Result<(), TestCaseError> {
    let (first, last) = (found.seconds[0].second, found.seconds[found.seconds.len() - 1].second);
    let counted = raw.counted(view, first..=last);
    let averaged = Raw::averaged(view, &counted);
    let times = elapsed(&averaged);
    let latencies: Vec<i32> = averaged.iter().filter_map(|sample| sample.latency).collect();
    let seconds: Vec<u32> = (first..=last).collect();
    let active = seconds.iter().filter(|second| successes(&raw.counted(view, **second..=**second)) > 0);
    let cpu: Vec<f64> = seconds.iter().filter_map(|second| raw.cpu(view, *second)).collect();
    let largest = |values: &[f64]| values.iter().copied().reduce(f64::max);
    let loads: Vec<f64> = seconds.iter().filter_map(|second| raw.load(view, *second)).collect();
    let summary: &Summary = &found.summary;

    prop_assert_eq!(summary.seconds as usize, seconds.len());
    prop_assert_eq!((summary.successes, summary.requests()), (successes(&counted), counted.len() as u64));
    let per = |n: usize| (n > 0).then(|| summary.successes as f64 / n as f64);
    let (lasted_ms, last_second_ms) = raw.lasted(view);
    let run_last = raw.samples.iter().map(Sample::second).max();
    let chosen_ms =
        1000 * seconds.len() as i64 - if run_last == Some(last) { 1000 - last_second_ms } else { 0 };
    let whole_run = view.from.is_none() && view.to.is_none();
    let lasted = (if whole_run { lasted_ms } else { chosen_ms }).max(1) as f64 / 1000.0;
    prop_assert!(same(Some(summary.duration), Some(lasted)), "{} {lasted}", summary.duration);
    prop_assert!(same(Some(summary.throughput), Some(summary.successes as f64 / lasted)));
    prop_assert!(same(summary.throughput_active, per(active.count())));
    prop_assert!(same(summary.elapsed_mean, mean_of(unit, &times)));
    prop_assert_eq!((summary.elapsed_min, summary.elapsed_max), extremes(unit, &times));
    prop_assert!(same(summary.latency_mean, mean_of(unit, &latencies)));
    for (percent, value) in [(50.0, summary.p50), (95.0, summary.p95), (99.0, summary.p99)] {
        prop_assert!(same(value, percentile(unit, &times, percent)));
    }
    prop_assert_eq!(summary.percentiles.len(), found.percentiles.len());
    for (percent, value) in found.percentiles.iter().zip(&summary.percentiles) {
        prop_assert!(same(*value, percentile(unit, &times, *percent)));
    }
    prop_assert!(same(summary.cpu_mean, mean(&cpu)));
    prop_assert!(same(summary.cpu_max, largest(&cpu)));
    prop_assert!(same(Some(summary.cpu_coverage), Some(cpu.len() as f64 / seconds.len() as f64)));
    prop_assert!(same(summary.load_max, largest(&loads)));
    let bytes: i64 = averaged.iter().map(|sample| sample.bytes).sum();
    prop_assert_eq!((summary.bytes, summary.sent_bytes), (Some(bytes), Some(2 * bytes)));
    Ok(())
}

fn check_labels(raw: &Raw, run: &StoredRun, view: &View, found: &Timeline) -> Result<(), TestCaseError> {
    let unit = run.info.resolution;
    let (first, last) = (found.seconds[0].second, found.seconds[found.seconds.len() - 1].second);
    let counted = raw.counted(view, first..=last);
    let mut labels: Vec<&str> = counted.iter().map(|sample| sample.label).collect();
    labels.sort_unstable();
    labels.dedup();
    let stats = label_stats(run, view).unwrap();
    prop_assert_eq!(stats.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), labels);
    for row in stats {
        let own: Vec<Sample> = counted.iter().filter(|sample| sample.label == row.label).cloned().collect();
        let times = elapsed(&Raw::averaged(view, &own));
        prop_assert_eq!((row.successes, row.failures), (successes(&own), own.len() as u64 - successes(&own)));
        prop_assert!(same(row.elapsed_mean, mean_of(unit, &times)));
        for (percent, value) in [(50.0, row.p50), (90.0, row.p90), (95.0, row.p95), (99.0, row.p99)] {
            prop_assert!(same(value, percentile(unit, &times, percent)));
        }
        prop_assert_eq!((row.elapsed_min, row.elapsed_max), extremes(unit, &times));
        prop_assert!(same(row.elapsed_sd, deviation(unit, &times)));
        check_waits_and_bytes(&Raw::averaged(view, &own), &row)?;
    }
    Ok(())
}

/// The square root of the mean of the squared distances from the mean.
fn deviation(unit: Resolution, times: &[i32]) -> Option<f64> {
    let middle = mean_of(unit, times)?;
    mean(
        &times
            .iter()
            .map(|ms| (f64::from(*ms) / f64::from(unit.per_ms()) - middle).powi(2))
            .collect::<Vec<_>>(),
    )
    .map(f64::sqrt)
}

/// What no request of any label has is absent.
fn check_waits_and_bytes(own: &[Sample], found: &LabelStats) -> Result<(), TestCaseError> {
    let unit = found.resolution;
    let latencies: Vec<i32> = own.iter().filter_map(|sample| sample.latency).collect();
    prop_assert!(same(found.latency_mean, mean_of(unit, &latencies)));
    let connects: Vec<i32> = own.iter().map(Sample::connect).collect();
    prop_assert!(same(found.connect_mean, mean_of(unit, &connects)));
    let bytes: i64 = own.iter().map(|sample| sample.bytes).sum();
    prop_assert_eq!((found.bytes, found.sent_bytes), (Some(bytes), Some(2 * bytes)));
    Ok(())
}

/// Why a view does not fit a run, if it does not.
fn misfit(raw: &Raw, view: &View) -> Option<&'static str> {
    let last = raw.samples.iter().map(Sample::second).max().unwrap_or(0);
    let (from, to) = (view.from.unwrap_or(0), view.to.unwrap_or(last));
    let of_label: Vec<&Sample> =
        raw.samples.iter().filter(|s| view.label.as_deref().is_none_or(|label| label == s.label)).collect();
    if view.label.is_some() && of_label.is_empty() {
        return Some("unknown label");
    }
    if view.label.is_some() && !view.transactions && of_label.iter().all(|sample| sample.transaction) {
        return Some("transactions");
    }
    (from > to || from > last).then_some("window")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_figure_is_as_defined(raw in raw(), view in view(), unit in prop::sample::select(&Resolution::ALL[..])) {
        let mut run = raw.stored();
        run.info.resolution = unit;
        let found = match (misfit(&raw, &view), Timeline::new(&run, &view)) {
            (None, found) => found.unwrap(),
            (Some("unknown label"), Err(Error::UnknownLabel { .. })) => return Ok(()),
            (Some("transactions"), Err(Error::TransactionLabel { .. })) => return Ok(()),
            (Some("window"), Err(Error::Window { .. })) => return Ok(()),
            (misfit, found) => return Err(TestCaseError::fail(format!("{misfit:?}: {found:?}"))),
        };
        let last = run.info.seconds - 1;
        let window: Vec<u32> = (view.from.unwrap_or(0)..=view.to.unwrap_or(last).min(last)).collect();
        prop_assert_eq!(found.seconds.iter().map(|row| row.second).collect::<Vec<_>>(), window);
        for second in &found.seconds {
            check_second(unit, &raw, &view, &found.percentiles, second)?;
        }
        check_summary(unit, &raw, &view, &found)?;
        check_labels(&raw, &run, &view, &found)?;
    }

    /// Stores number labels and injectors in orders of their own.
    #[test]
    fn no_figure_depends_on_the_order_of_names(raw in raw(), view in view()) {
        let mut reversed = raw.clone();
        reversed.samples.reverse();
        let figures = |raw: &Raw| format!("{:?}", Timeline::new(&raw.stored(), &view).map_err(|error| error.code()));
        prop_assert_eq!(figures(&raw), figures(&reversed));
    }
}

/// A run whose second 0 begins 400 ms after an epoch second.
fn two_readings() -> Raw {
    let sample = |t_ms, success| Sample {
        t_ms,
        label: "Get",
        injector: "",
        elapsed: 10,
        latency: None,
        threads: Some(4),
        bytes: 0,
        success,
        transaction: false,
    };
    let samples = vec![
        sample(0, true),
        sample(100, true),
        sample(599, true),
        sample(600, true),
        sample(1700, false),
        sample(3000, true),
    ];
    Raw { t0_ms: 1_700_000_000_400, samples, cpu: vec![(1_700_000_000, 10.0), (1_700_000_001, 50.0)] }
}

fn cpu_of(raw: &Raw, lookback: u32) -> Vec<Option<f64>> {
    let view = View::default().with_cpu(CpuJoin::default().with_lookback(lookback));
    let timeline = Timeline::new(&raw.stored(), &view).unwrap();
    timeline.seconds.iter().map(|second| second.cpu.get()).collect()
}

#[test]
fn second_across_two_epoch_seconds_shares_their_readings() {
    // Three of the four requests came before the epoch second turned. In second 1 nothing succeeded: it has
    // the reading of the epoch second in which it begins. Seconds 2 and 3 begin after the last reading.
    let raw = two_readings();
    assert_eq!(cpu_of(&raw, 0), [Some(20.0), Some(50.0), None, None]);
    assert_eq!(cpu_of(&raw, 1), [Some(20.0), Some(50.0), Some(50.0), None]);
    assert_eq!(cpu_of(&raw, 2), [Some(20.0), Some(50.0), Some(50.0), Some(50.0)]);
}

#[test]
fn request_without_a_reading_is_left_out_of_the_mean() {
    let mut raw = two_readings();
    raw.cpu.remove(0);
    assert_eq!(cpu_of(&raw, 0), [Some(50.0), Some(50.0), None, None]);
    raw.cpu.clear();
    assert_eq!(cpu_of(&raw, 3), [None; 4]);
}

#[test]
fn outage_and_a_silence_have_a_load_and_the_unknown_injector_is_multiplied() {
    let view = View::default().with_injectors(3);
    let timeline = Timeline::new(&two_readings().stored(), &view).unwrap();
    let loads: Vec<Option<f64>> = timeline.seconds.iter().map(|second| second.load.get()).collect();
    assert_eq!(loads, [Some(12.0), Some(12.0), Some(12.0), Some(12.0)]);
    assert!((timeline.summary.throughput - 5.0 / timeline.duration.seconds).abs() < 1e-12);
    assert_eq!(timeline.summary.throughput_active, Some(2.5));
}

#[test]
fn injectors_that_the_log_tells_apart_are_not_multiplied() {
    let view = View::default().with_injectors(3);
    let mut run = two_readings().stored();
    assert_eq!(Timeline::new(&run, &view).unwrap().view, view);
    run.cells.injectors.iter_mut().for_each(|name| *name = "10.0.0.1".into());
    let timeline = Timeline::new(&run, &view).unwrap();
    assert_eq!((timeline.view.injectors, timeline.seconds[0].load.get()), (1, Some(4.0)));
}

#[test]
fn label_among_the_others_has_to_be_read_again() {
    let mut run = two_readings().stored();
    run.labels.push(LabelCount { label: "rare".into(), successes: 1, ..LabelCount::default() });
    let asked = |label: &str| View::default().with_label(label.to_owned());
    let error = Timeline::new(&run, &asked("rare")).unwrap_err();
    assert!(matches!(&error, Error::SharedLabel { label, .. } if label == "rare"), "{error}");
    assert_eq!(error.code(), "shared-label");
    let error = Timeline::new(&run, &asked("gte")).unwrap_err();
    assert_eq!(error.to_string(), "the run spring_2048 has no label \"gte\"");
    assert_eq!(error.remedy().unwrap(), "Did you mean \"Get\"? Labels of this run: \"Get\".");
}

#[test]
fn impossible_views_are_refused() {
    let run = two_readings().stored();
    for percentiles in [vec![f64::NAN], vec![50.0, 100.5], vec![-1.0]] {
        let view = View::default().with_percentiles(percentiles);
        assert!(matches!(Timeline::new(&run, &view), Err(Error::Percentile { .. })));
    }
    for (from, to) in [(Some(3), Some(2)), (Some(4), None), (Some(9), Some(10))] {
        let view = View::default().with_window(from, to);
        assert!(matches!(Timeline::new(&run, &view), Err(Error::Window { last: 3, .. })));
    }
}

#[test]
fn run_of_transactions_only_is_silent() {
    let mut raw = two_readings();
    raw.samples.iter_mut().for_each(|sample| sample.transaction = true);
    let mut run = raw.stored();
    run.cpu = TimeSeries::default();
    let timeline = Timeline::new(&run, &View::default()).unwrap();
    assert_eq!((timeline.summary.requests(), timeline.summary.seconds), (0, 4));
    assert_eq!(timeline.summary.failure_share(), None);
    assert!(
        timeline
            .seconds
            .iter()
            .all(|second| second.load.get().is_none() && second.elapsed_mean.get().is_none())
    );
}

/// Requests that begin at even distances for so long, each of 1 ms, so many a second.
fn even(ms: i64, rate: i64) -> Raw {
    let sample = |number: i64| Sample {
        t_ms: number * 1000 / rate,
        label: "a",
        injector: "",
        elapsed: 1,
        latency: None,
        threads: Some(1),
        bytes: 0,
        success: true,
        transaction: false,
    };
    let samples = (0..).map(sample).take_while(|sample| sample.t_ms < ms).collect();
    Raw { t0_ms: 1_700_000_000_000, samples, cpu: vec![] }
}

#[test]
fn begun_second_does_not_lower_throughput() {
    for ms in [9_980, 10_000, 10_020, 30_020, 60_020] {
        let run = even(ms, 1000).stored();
        let timeline = Timeline::new(&run, &View::default()).unwrap();
        assert!((timeline.summary.throughput - 1000.0).abs() < 0.2, "{ms}: {}", timeline.summary.throughput);
        assert_eq!(timeline.duration.cut().is_some(), ms % 1000 != 0, "{ms}");
        let rules = ["throughput > 990", "throughput > 500 for 1s", "requests > 500 for 1s in hold"];
        let rules: Vec<_> = rules.iter().filter_map(|rule| rule.parse().ok()).collect();
        let verdicts = perfpipe_analyze::check(&rules, &run, &View::default(), None).unwrap();
        assert!(verdicts.iter().all(|verdict| verdict.holds), "{ms}: {verdicts:?}");
    }
}

#[test]
fn window_lasts_its_seconds_and_a_cut_one_as_far_as_it_goes() {
    let run = even(10_020, 1000).stored();
    let of = |from, to| Timeline::new(&run, &View::default().with_window(from, to)).unwrap().summary;
    assert_eq!((of(Some(2), Some(4)).duration, of(Some(2), Some(4)).throughput), (3.0, 1000.0));
    assert!((of(Some(9), None).duration - 1.02).abs() < 1e-9);
}

#[test]
fn request_that_hangs_is_told_beside_the_throughput() {
    let mut raw = even(10_000, 100);
    raw.samples[3].elapsed = 60_000;
    let timeline = Timeline::new(&raw.stored(), &View::default()).unwrap();
    assert_eq!(timeline.duration.seconds, 60.03);
    assert_eq!(timeline.duration.long_wait(), Some(50.04));
    assert!((timeline.summary.throughput - 1000.0 / 60.03).abs() < 1e-9);
    let told = "spring, repeat 1: its throughput includes the wait for its last answer, 50.0 s.";
    let notes = |timelines: &[Timeline]| perfpipe_analyze::League::new(timelines).unwrap().notes();
    let calm = Timeline::new(&even(10_000, 100).stored(), &View::default()).unwrap();
    assert!(notes(&[timeline, calm.clone()]).iter().any(|note| note == told));
    assert!(!notes(&[calm]).iter().any(|note| note.contains("the wait for its last answer")));
}
