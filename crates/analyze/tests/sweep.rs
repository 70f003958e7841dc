//! The sweep against the requests of each load, worked out one by one.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use std::collections::BTreeMap;

use perfpipe_analyze::sweep::Growth;
use perfpipe_analyze::{Error, Phases, Sweep, View};
use perfpipe_ingest::run::Resolution;
use proptest::prelude::*;
use support::{Raw, Sample, mean, percentile, same};

/// The loads of the seconds: steps, or a climb with noise; then a drain.
fn loads() -> impl Strategy<Value = Vec<i32>> {
    let steps = prop::collection::vec((1..40i32, 3..9usize), 1..6).prop_map(|steps| {
        steps.into_iter().flat_map(|(load, seconds)| std::iter::repeat_n(load, seconds)).collect::<Vec<_>>()
    });
    let climb = (1..300i32, 10..60usize).prop_map(|(top, seconds)| {
        (1..=seconds as i32).map(|at| 1 + top * at / seconds as i32).collect::<Vec<_>>()
    });
    (prop_oneof![steps, climb], 0..4usize).prop_map(|(mut loads, drain)| {
        loads.extend(std::iter::repeat_n(1, drain));
        loads
    })
}

/// A run with up to 8 requests in each second of a load; some seconds stay silent.
fn run() -> impl Strategy<Value = (Raw, Vec<i32>)> {
    let second = prop::collection::vec((0..1000i64, 0..300i32, any::<bool>()), 0..8);
    (loads(), prop::collection::vec(second, 70), 0..1000i64).prop_map(|(loads, seconds, offset)| {
        let mut samples = Vec::new();
        for (at, (load, requests)) in loads.iter().zip(&seconds).enumerate() {
            let mut requests = requests.clone();
            // The first second has a request at its very beginning: t0.
            if at == 0 {
                requests.push((0, 7, true));
            }
            samples.extend(requests.into_iter().map(|(ms, elapsed, success)| Sample {
                t_ms: at as i64 * 1000 + ms,
                label: "",
                injector: "",
                elapsed,
                latency: None,
                threads: Some(*load),
                bytes: 0,
                success,
                transaction: false,
            }));
        }
        let cpu = (0..60).map(|at| (1_700_000_000 + at, at as f64)).collect();
        (Raw { t0_ms: 1_700_000_000_000 + offset, samples, cpu }, loads)
    })
}

/// The load of each second: that of the second before it where it is silent.
fn curve(raw: &Raw) -> Vec<i32> {
    let last = raw.samples.iter().map(Sample::second).max().unwrap();
    let mut load = 0;
    (0..=last)
        .map(|at| {
            load = raw.samples.iter().find(|s| s.second() == at).and_then(|s| s.threads).unwrap_or(load);
            load
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_step_has_the_figures_of_its_requests((raw, _) in run()) {
        let stored = raw.stored();
        let view = View::default().with_percentiles([25.0, 99.0]);
        let sweep = Sweep::new(&stored, &view).unwrap();
        let loads = curve(&raw);
        let tail = Phases::of_run(&stored, &view).unwrap().tail;
        let counts = |at: u32| at != loads.len() as u32 - 1 && tail.is_none_or(|tail| !tail.holds(at));
        let mut seconds: Vec<u32> = (0..loads.len() as u32).filter(|at| counts(*at)).collect();
        if seconds.is_empty() {
            seconds = (0..loads.len() as u32).collect();
        }
        let load = |at: u32| loads[at as usize];
        // Which seconds stand in which step.
        let mut groups: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for at in &seconds {
            let alike = |other: u32| seconds.contains(&other) && load(other) == load(*at);
            match sweep.bin {
                Some(width) => {
                    groups.entry((f64::from(load(*at)) / width).round() as i64).or_default().push(*at);
                }
                None => {
                    let kept = seconds.iter().any(|s| load(*s) == load(*at) && alike(s + 1) && alike(s + 2));
                    if kept {
                        groups.entry(load(*at).into()).or_default().push(*at);
                    }
                }
            }
        }
        prop_assert_eq!(sweep.steps.len(), groups.len());
        let counted: usize = groups.values().map(Vec::len).sum();
        prop_assert_eq!(sweep.left_out as usize, loads.len() - counted);
        for (step, group) in sweep.steps.iter().zip(groups.values()) {
            let of = |at: u32| raw.samples.iter().filter(move |s| s.second() == at);
            let successes: Vec<f64> =
                group.iter().map(|at| of(*at).filter(|s| s.success).count() as f64).collect();
            let times: Vec<i32> =
                group.iter().flat_map(|at| of(*at)).filter(|s| s.success).map(|s| s.elapsed).collect();
            let threads: Vec<f64> = group.iter().map(|at| load(*at).into()).collect();
            let cpu: Vec<f64> = group.iter().filter_map(|at| raw.cpu(&view, *at)).collect();
            prop_assert!(same(Some(step.load), mean(&threads)));
            prop_assert_eq!(step.summary.seconds as usize, group.len());
            prop_assert!(same(Some(step.summary.throughput), mean(&successes)));
            let average = mean(&successes).unwrap();
            let squares: f64 = successes.iter().map(|x| (x - average) * (x - average)).sum();
            let sd = (group.len() > 1).then(|| (squares / (group.len() - 1) as f64).sqrt());
            prop_assert!(same(step.throughput_sd, sd));
            prop_assert!(same(step.summary.percentiles[0], percentile(&times, 25.0)));
            prop_assert!(same(step.summary.p99, percentile(&times, 99.0)));
            prop_assert!(same(step.summary.cpu_mean, mean(&cpu)));
        }
    }
}

/// A run of so many requests a second at each of some loads, ten seconds each.
fn steps_of(steps: &[(i32, i64)]) -> Raw {
    let mut samples = Vec::new();
    for (step, (threads, rate)) in (0..).zip(steps) {
        for request in 0..10 * rate {
            samples.push(Sample {
                t_ms: step * 10_000 + request * 1000 / rate,
                label: "",
                injector: "",
                elapsed: 1 + *threads,
                latency: None,
                threads: Some(*threads),
                bytes: 0,
                success: true,
                transaction: false,
            });
        }
    }
    Raw { t0_ms: 0, samples, cpu: vec![] }
}

/// The sweep of such a run.
fn sweep_of(steps: &[(i32, i64)]) -> Sweep {
    Sweep::new(&steps_of(steps).stored(), &View::default()).unwrap()
}

#[test]
fn times_are_in_ms_whatever_the_unit_of_the_run() {
    let mut stored = steps_of(&[(10, 76), (20, 150)]).stored();
    stored.info.resolution = Resolution::MICROSECOND;
    let sweep = Sweep::new(&stored, &View::default()).unwrap();
    let times: Vec<_> =
        sweep.steps.iter().map(|step| (step.summary.p50, step.summary.elapsed_mean)).collect();
    assert_eq!(times, [(Some(0.011), Some(0.011)), (Some(0.021), Some(0.021))]);
}

#[test]
fn steps_are_told_from_a_climb_and_the_knee_is_marked() {
    let sweep = sweep_of(&[(10, 76), (20, 150), (30, 175), (40, 174), (50, 176), (60, 175)]);
    assert_eq!(sweep.bin, None);
    let knee = sweep.knee.unwrap();
    assert!((knee.load - 23.2).abs() < 0.1 && knee.step == 2, "{knee:?}");
    let loads: Vec<f64> = sweep.steps.iter().map(|step| step.load).collect();
    assert_eq!(loads, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    let knees: Vec<bool> = (0..6)
        .map(|row| {
            sweep.table().value(row, sweep.table().columns().len() - 1)
                == perfpipe_analyze::table::Value::Bool(true)
        })
        .collect();
    assert_eq!(knees, [false, false, true, false, false, false]);
    assert_eq!(sweep_of(&[(10, 76), (20, 150), (30, 225), (40, 300)]).knee, None);
    assert_eq!(sweep_of(&[(10, 76)]).steps.len(), 1);
    let beyond = sweep_of(&[(20, 175), (40, 176), (60, 174)]).knee.unwrap();
    assert_eq!((beyond.load, beyond.step, beyond.begins_beyond), (20.0, 0, true));
    assert_eq!(sweep_of(&[(10, 76), (20, 150)]).growth(), Growth::Untold);
    let close = sweep_of(&[(10, 76), (11, 76), (12, 76)]);
    assert_eq!((close.knee, close.growth()), (None, Growth::Flat));
}

#[test]
fn log_without_threads_has_no_sweep() {
    let sample = Sample {
        t_ms: 0,
        label: "",
        injector: "",
        elapsed: 1,
        latency: None,
        threads: None,
        bytes: 0,
        success: true,
        transaction: false,
    };
    let raw = Raw { t0_ms: 0, samples: vec![sample], cpu: vec![] };
    let error = Sweep::new(&raw.stored(), &View::default()).unwrap_err();
    assert!(matches!(error, Error::NoLoad { .. }), "{error}");
    assert_eq!(error.code(), "no-load");
}
