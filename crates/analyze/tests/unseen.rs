//! What the times of a run leave out is said: requests that failed after long, and those of a log that was cut.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use perfpipe_analyze::{League, Measured, Rule, Side, Timeline, Verdict, View, check, diagnose};
use perfpipe_ingest::StoredRun;
use support::{Raw, Sample};

/// Clients that send one request after the other, whose times are those of an exponential distribution.
#[derive(Clone, Copy)]
struct Loop {
    clients: usize,
    /// The mean time of a request, and the time that a client waits before the next, in ms.
    mean: f64,
    think: f64,
    /// The seconds after which no request is sent, or of which the log is, if it was cut.
    seconds: f64,
    is_cut: bool,
    seed: u64,
}

impl Loop {
    /// The requests, with the number of threads at the end of each.
    fn samples(self) -> Vec<Sample> {
        let mut state = self.seed;
        let mut roll = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 / (1u64 << 53) as f64).max(1e-9)
        };
        let end = self.seconds * 1000.0;
        let mut requests: Vec<(f64, f64)> = Vec::new();
        for _ in 0..self.clients {
            let mut at = self.mean * roll();
            while at < end {
                let elapsed = -self.mean * roll().ln();
                requests.push((at, elapsed));
                at += elapsed + self.think;
            }
        }
        requests.retain(|(at, elapsed)| !self.is_cut || at + elapsed <= end);
        requests.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
        let last = requests.len().saturating_sub(self.clients);
        let threads = |at: usize| match at.checked_sub(last).filter(|_| !self.is_cut) {
            Some(ended) => self.clients - ended,
            None => self.clients,
        };
        let sample = |(at, (start, elapsed)): (usize, &(f64, f64))| Sample {
            t_ms: *start as i64,
            elapsed: elapsed.round() as i32,
            threads: Some(threads(at) as i32),
            ..success(0, 0)
        };
        requests.iter().enumerate().map(sample).collect()
    }
}

fn success(t_ms: i64, elapsed: i32) -> Sample {
    Sample {
        t_ms,
        label: "Get",
        injector: "",
        elapsed,
        latency: None,
        threads: None,
        bytes: 0,
        success: true,
        transaction: false,
    }
}

fn stored(samples: Vec<Sample>) -> StoredRun {
    let failures = samples.iter().filter(|sample| !sample.success).count() as u64;
    let successes = samples.len() as u64 - failures;
    let mut run = Raw { t0_ms: 0, samples, cpu: vec![] }.stored();
    (run.info.successes, run.info.failures) = (successes, failures);
    run
}

/// 4,000 requests of 1 to 100 ms, of which each hundredth failed after `time_out`.
fn with_failures(time_out: i32) -> StoredRun {
    let of = |at: i32| match at % 100 {
        50 => Sample { success: false, ..success(i64::from(at) * 5, time_out) },
        other => success(i64::from(at) * 5, 1 + other),
    };
    stored((0..4000).map(of).collect())
}

fn judged(rule: &str, run: &StoredRun, view: &View) -> Verdict {
    let rules: [Rule; 1] = [rule.parse().unwrap()];
    check(&rules, run, view, None).unwrap().remove(0)
}

fn notes(run: &StoredRun) -> Vec<String> {
    let findings = diagnose(run, &View::default(), None).unwrap();
    findings.into_iter().filter(|finding| finding.is_note()).map(|finding| finding.what).collect()
}

#[test]
fn rules_that_pass_beside_time_outs_say_so() {
    let (run, view) = (with_failures(30_000), View::default());
    let said = "1 % of the requests failed after 30.0 s, not counted here";
    for rule in
        ["max < 1s", "p99.9 <= 200ms", "p99 < 200ms", "p95 < 200ms", "mean < 1s", "p99 < 200ms for 3s"]
    {
        let verdict = judged(rule, &run, &view);
        let note = verdict.note.clone().unwrap_or_default();
        assert!(verdict.holds && note.ends_with(said), "{rule}: {verdict:?}");
        assert_eq!(verdict.long_failures.map(|found| found.count), Some(40), "{rule}");
    }
    for rule in ["p50 < 1s", "max > 1ms", "failures < 2%", "within 200ms > 90%", "max < 50ms"] {
        let verdict = judged(rule, &run, &view);
        assert_eq!((verdict.long_failures, verdict.note.as_deref()), (None, None), "{rule}");
    }
    let mut view = View::default();
    view.include_failures = true;
    let counted = judged("max < 1s", &run, &view);
    assert_eq!((counted.holds, counted.value, counted.note.as_deref()), (false, Some(30_000.0), None));
}

#[test]
fn failures_that_are_as_fast_as_successes_are_not_mentioned() {
    for time_out in [0, 40, 95] {
        let run = with_failures(time_out);
        for rule in ["max < 1s", "p99 < 200ms", "mean < 1s"] {
            assert_eq!(judged(rule, &run, &View::default()).note, None, "{rule}, {time_out} ms");
        }
        assert_eq!(notes(&run), [""; 0]);
    }
}

#[test]
fn time_outs_are_said_beneath_the_league_and_by_the_diagnosis() {
    let run = with_failures(30_000);
    assert_eq!(notes(&run), ["1 % of the requests failed after 30.0 s: times of successes leave them out"]);
    let timelines = [1, 2].map(|repeat| {
        let mut run = run.clone();
        run.info.key.repeat = repeat;
        Timeline::new(&run, &View::default()).unwrap()
    });
    let said = "spring: 1 % of the requests failed after 30.0 s, which are not in these times.";
    for repeats in 1..=2 {
        let league = League::new(&timelines[..repeats]).unwrap();
        assert!(league.notes().iter().any(|note| note == said), "{:?}", league.notes());
    }
}

#[test]
fn time_outs_are_said_beside_a_comparison() {
    let measured = |time_out: i32| Measured::new(&with_failures(time_out), &View::default()).unwrap();
    let side = Side::of(vec![measured(30_000), measured(40)]);
    assert_eq!(
        side.remarks(),
        ["spring_2048: 0.50 % of the requests failed after 30.0 s, which are not in these times"]
    );
    assert_eq!(Side::of(vec![measured(40)]).remarks(), [""; 0]);
}

#[test]
fn percentile_of_few_requests_is_said_to_be_uncertain() {
    let few = stored((0..40).map(|at| success(100 * at, 10 + at as i32)).collect());
    let note = |rule: &str| judged(rule, &few, &View::default()).note;
    assert_eq!(note("p99.9 < 2s").as_deref(), Some("of 40 requests, p99.9 is about the maximum"));
    assert_eq!(note("p95 > 2s").as_deref(), Some("of 40 requests, only 2 are beyond p95"));
    assert_eq!((note("p50 < 2s"), note("max < 2s"), note("p100 < 2s")), (None, None, None));
    let many = stored((0..600).map(|at| success(100 * at, 10)).collect());
    assert_eq!(judged("p99 < 2s", &many, &View::default()).note, None);
    assert_eq!(
        judged("p99 < 2s for 9s", &many, &View::default())
            .note
            .map(|note| note.contains("10 requests a second")),
        Some(true)
    );
    let timeline = Timeline::new(&few, &View::default()).unwrap();
    assert_eq!(
        League::new([&timeline]).unwrap().notes(),
        ["spring: p95 and p99 are uncertain: fewer than 5 of 40 requests are beyond each."]
    );
}

/// Returns the percentage of the requests that are said to have been outstanding, if it is said.
fn outstanding(run: Loop) -> Option<f64> {
    let run = stored(run.samples());
    let timeline = Timeline::new(&run, &View::default()).unwrap();
    let said = notes(&run).iter().any(|note| note.contains("the log ends at full load"));
    assert_eq!(said, timeline.outstanding.is_some());
    timeline.outstanding.map(|found| 100.0 * found.share)
}

const LONG: Loop = Loop { clients: 10, mean: 5000.0, think: 0.0, seconds: 60.0, is_cut: true, seed: 1 };

#[test]
fn log_that_is_cut_at_full_load_is_said_to_lack_its_last_requests() {
    for seed in 1..=20 {
        for (run, expected) in [
            (LONG, 9.0),
            (Loop { clients: 40, mean: 1000.0, seconds: 90.0, ..LONG }, 1.1),
            (Loop { mean: 1000.0, think: 300.0, ..LONG }, 1.7),
        ] {
            let found = outstanding(Loop { seed, ..run });
            assert!(found.is_some_and(|found| (0.5..2.0).contains(&(found / expected))), "{seed}: {found:?}");
        }
        // One in a thousand does not matter.
        assert_eq!(outstanding(Loop { seed, mean: 50.0, ..LONG }), None);
    }
}

#[test]
fn log_of_a_test_that_ended_is_not_said_to_be_cut() {
    for seed in 1..=20 {
        for clients in [1, 2, 3, 10] {
            for mean in [200.0, 1000.0, 5000.0] {
                let run = Loop { clients, mean, is_cut: false, seed, ..LONG };
                assert_eq!(outstanding(run), None, "{clients} clients, {mean} ms");
                assert_eq!(outstanding(Loop { think: 1000.0, ..run }), None, "{clients} clients, {mean} ms");
            }
        }
    }
}

#[test]
fn rules_on_times_of_a_cut_log_say_what_it_lacks() {
    let run = stored(LONG.samples());
    let note = |rule: &str| judged(rule, &run, &View::default()).note.unwrap_or_default();
    assert!(note("mean < 1m").starts_with("the log ends at full load: about 10 requests were outstanding, "));
    assert_eq!((note("throughput > 0"), note("mean > 1ms"), note("mean < 1ms")), Default::default());
    let mut view = View::default();
    view.to = Some(30);
    assert_eq!(judged("mean < 1m", &run, &view).note, None, "what ended before is whole");
}
