//! The league against a slow and obvious version of its medians, ranks and orders.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it should be"
)]

mod support;

use perfpipe_analyze::league::{Standing, median_repeats};
use perfpipe_analyze::table::Interval;
use perfpipe_analyze::{Error, Goal, League, Timeline, View};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable, InjectorLoad};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use proptest::prelude::*;
use support::{Raw, Sample};

/// A run in the figures that the league looks at.
#[derive(Debug, Clone)]
struct Run {
    framework: &'static str,
    throughput: f64,
    p95: Option<f64>,
    failures: u64,
    cpu: Option<f64>,
}

impl Run {
    fn timeline(&self) -> Timeline {
        let sample = Sample {
            t_ms: 0,
            label: "",
            injector: "",
            elapsed: 7,
            latency: None,
            threads: None,
            bytes: 0,
            success: true,
            transaction: false,
        };
        let run = Raw { t0_ms: 0, samples: vec![sample], cpu: vec![] }.stored();
        let mut timeline = Timeline::new(&run, &View::default()).unwrap();
        timeline.info.key.framework = self.framework.to_owned();
        let summary = &mut timeline.summary;
        (summary.throughput, summary.p95, summary.cpu_mean) = (self.throughput, self.p95, self.cpu);
        summary.cpu_coverage = f64::from(u8::from(self.cpu.is_some()));
        (summary.successes, summary.failures) = (1000 - self.failures, self.failures);
        timeline
    }
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    // Few different values, so that there are ties and touching ranges; and some that are alike but for the last bit.
    let throughput = prop_oneof![(0..12u32).prop_map(f64::from), 0.0..10.0, Just(0.1 + 0.2), Just(0.3)];
    let framework = prop::sample::select(vec!["a", "b", "c", "d", "e", "f"]);
    let failures = prop_oneof![4 => Just(0u64), 1 => 8..13u64, 1 => Just(400)];
    use prop::option::of;
    let run = (framework, throughput, of(1.0..9.0), failures, of(prop_oneof![Just(0.0), 1.0..800.0]));
    let run = run.prop_map(|(framework, throughput, p95, failures, cpu)| Run {
        framework,
        throughput,
        p95,
        failures,
        cpu,
    });
    prop::collection::vec(run, 0..14)
}

/// The median by counting: a value that as many are below as above, or half way between two that are neighbours.
fn median(values: &[f64]) -> Option<f64> {
    let below = |x: f64| values.iter().filter(|value| **value < x).count();
    let above = |x: f64| values.iter().filter(|value| **value > x).count();
    let half = |x: &&f64| below(**x) * 2 <= values.len() && above(**x) * 2 <= values.len();
    let least = values.iter().filter(half).copied().reduce(f64::min)?;
    let greatest = values.iter().filter(half).copied().reduce(f64::max)?;
    Some(least + (greatest - least) / 2.0)
}

/// What the league should say of a framework, without the rank.
struct Expected {
    median: f64,
    range: (f64, f64),
    failing: bool,
}

fn expected(runs: &[Run], framework: &str) -> Expected {
    let of: Vec<&Run> = runs.iter().filter(|run| run.framework == framework).collect();
    let throughputs: Vec<f64> = of.iter().map(|run| run.throughput).collect();
    let failures: u64 = of.iter().map(|run| run.failures).sum();
    Expected {
        median: median(&throughputs).unwrap(),
        range: (
            throughputs.iter().copied().fold(f64::INFINITY, f64::min),
            throughputs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ),
        // Each run has 1,000 requests: one in a hundred of all of them.
        failing: failures > 10 * of.len() as u64,
    }
}

fn close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * other.abs().max(1e-300),
        (one, other) => one == other,
    }
}

proptest! {
    #[test]
    fn figures_ranks_and_order_are_those_of_the_slow_version(runs in runs()) {
        let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
        let league = League::new(&timelines).unwrap();
        for row in &league.standings {
            let of: Vec<&Run> = runs.iter().filter(|run| run.framework == row.framework).collect();
            let expected = expected(&runs, &row.framework);
            prop_assert_eq!(row.repeats, of.len() as u64);
            prop_assert_eq!(row.throughput, expected.median);
            prop_assert_eq!((row.throughput_min, row.throughput_max), expected.range);
            prop_assert_eq!(row.rank.is_none(), expected.failing);
            let over = |of_run: &dyn Fn(&Run) -> Option<f64>| {
                median(&of.iter().filter_map(|run| of_run(run)).collect::<Vec<_>>())
            };
            prop_assert_eq!(row.p95, over(&|run| run.p95));
            prop_assert_eq!(row.cpu_mean, over(&|run| run.cpu));
            let each = |run: &Run| Some(run.throughput * 100.0 / run.cpu.filter(|cpu| *cpu > 0.0)?);
            prop_assert!(close(row.requests_per_cpu_second, over(&each)));
        }
        let mut frameworks: Vec<&str> = runs.iter().map(|run| run.framework).collect();
        frameworks.sort_unstable();
        frameworks.dedup();
        prop_assert_eq!(league.standings.len(), frameworks.len());
        let ranked: Vec<&Standing> = league.standings.iter().take_while(|row| row.rank.is_some()).collect();
        prop_assert!(league.standings.iter().skip(ranked.len()).all(|row| row.rank.is_none()));
        prop_assert!(ranked.is_sorted_by(|a, b| (b.throughput, &a.framework) < (a.throughput, &b.framework)));
        // As many as are shown to be slower than some are shown to be faster than others.
        let ranks: Vec<Interval> = ranked.iter().filter_map(|row| row.rank).collect();
        let count = ranks.len() as u64;
        prop_assert!(ranks.iter().all(|rank| 1 <= rank.low && rank.low <= rank.high && rank.high <= count));
        let (faster, slower): (u64, u64) =
            ranks.iter().map(|rank| (rank.low - 1, count - rank.high)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        prop_assert_eq!(faster, slower);
        let best: Vec<&Standing> = ranked.iter().copied().filter(|row| row.rank.unwrap().low == 1).collect();
        prop_assert_eq!(league.best(), if count > 1 && best.len() as u64 == count { vec![] } else { best });
        prop_assert_eq!(league.fastest().map(|row| row.throughput), ranked.first().map(|row| row.throughput));
    }

    #[test]
    fn single_runs_may_have_any_rank(runs in runs()) {
        let mut seen = Vec::new();
        let runs: Vec<Run> = runs
            .into_iter()
            .filter(|run| !seen.contains(&run.framework) && { seen.push(run.framework); true })
            .collect();
        let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
        let league = League::new(&timelines).unwrap();
        let ranks: Vec<Interval> = league.standings.iter().filter_map(|row| row.rank).collect();
        let any = Interval { low: 1, high: ranks.len() as u64 };
        prop_assert!(ranks.iter().all(|rank| *rank == any), "{:?}", ranks);
    }

    #[test]
    fn any_column_orders_the_rows(runs in runs(), at in 0..League::COLUMNS.len()) {
        let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
        let plain = League::new(&timelines).unwrap();
        let column = League::COLUMNS[at];
        let mut league = plain.clone();
        league.order_by(column).unwrap();
        prop_assert!(league.table().columns().iter().map(|column| column.name()).eq(League::COLUMNS.iter().copied()));
        let key = |row: &Standing| -> Option<f64> {
            Some(match column {
                "rank_low" => row.rank?.low as f64 + row.rank?.high as f64 / 100.0,
                "rank_high" => row.rank?.high as f64,
                "framework" => f64::from(row.framework.as_bytes()[0]),
                "repeats" => -(row.repeats as f64),
                "throughput" => -row.throughput,
                "throughput_min" => -row.throughput_min,
                "throughput_max" => -row.throughput_max,
                "p50" => row.p50?,
                "p95" => row.p95?,
                "p99" => row.p99?,
                "failures_percent" => row.failures_percent?,
                "cpu_mean" => row.cpu_mean?,
                "cpu_coverage" => -row.cpu_coverage?,
                "requests_per_cpu_second" => -row.requests_per_cpu_second?,
                "load_max" => -row.load_max?,
                "partial" => f64::from(u8::from(row.partial)),
                other => panic!("{other} is a column that this test does not know"),
            })
        };
        // A stable sort, one key after the other.
        let mut expected = plain.standings.clone();
        expected.sort_by(|a, b| key(a).unwrap_or(f64::INFINITY).total_cmp(&key(b).unwrap_or(f64::INFINITY)));
        expected.sort_by_key(|row| row.rank.is_none());
        prop_assert_eq!(league.standings, expected);
    }

    #[test]
    fn middle_repeat_is_one_of_its_framework(runs in runs()) {
        let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
        for middle in median_repeats(&timelines) {
            let of: Vec<f64> = runs
                .iter()
                .filter(|run| run.framework == middle.info.key.framework)
                .map(|run| run.throughput)
                .collect();
            let slower = of.iter().filter(|one| **one < middle.summary.throughput).count();
            let faster = of.iter().filter(|one| **one > middle.summary.throughput).count();
            prop_assert!(slower <= (of.len() - 1) / 2 && faster <= of.len() / 2);
        }
    }
}

/// A framework whose repeats have these throughputs.
fn repeated(framework: &'static str, throughputs: &[f64]) -> Vec<Run> {
    let run =
        |throughput: &f64| Run { framework, throughput: *throughput, p95: None, failures: 0, cpu: None };
    throughputs.iter().map(run).collect()
}

fn league_of(runs: &[Vec<Run>]) -> League {
    League::new(&runs.iter().flatten().map(Run::timeline).collect::<Vec<Timeline>>()).unwrap()
}

fn ranks(league: &League) -> Vec<String> {
    league.standings.iter().map(|row| row.rank.unwrap().to_string()).collect()
}

/// So many repeats around a mean, which differ by a standard deviation of 3 %.
fn around(mean: f64, repeats: usize) -> Vec<f64> {
    (0..repeats).map(|at| mean * if at % 2 == 0 { 1.03 } else { 0.97 }).collect()
}

#[test]
fn more_repeats_narrow_the_intervals() {
    let ranks_of = |repeats| {
        ranks(&league_of(&[repeated("a", &around(100.0, repeats)), repeated("b", &around(95.0, repeats))]))
    };
    let (open, clear) = (["1–2", "1–2"], ["1", "2"]);
    assert_eq!([2, 4, 6, 10, 20].map(ranks_of), [open, open, clear, clear, clear]);
}

#[test]
fn chain_of_overlapping_intervals_separates_its_ends() {
    let runs = [("a", 100.0), ("b", 95.5), ("c", 91.0), ("d", 50.0)];
    let league = league_of(&runs.map(|(name, mean)| repeated(name, &around(mean, 4))));
    assert_eq!(ranks(&league), ["1–2", "1–3", "2–3", "4"]);
    let notes = league.notes();
    assert!(notes[1].starts_with("A rank is an interval where repeats leave it open"), "{notes:?}");
    assert_eq!(notes.len(), 2);
    // A league whose ranks are all known says nothing of intervals.
    let clear = league_of(&[repeated("a", &around(100.0, 9)), repeated("b", &around(50.0, 9))]);
    assert_eq!((ranks(&clear), clear.notes().len()), (vec!["1".to_owned(), "2".to_owned()], 1));
}

#[test]
fn framework_that_spreads_more_does_not_hide_the_others_differences() {
    let mut runs = vec![repeated("wild", &[40.0, 100.0, 160.0, 70.0, 130.0])];
    runs.extend(
        [("a", 100.0), ("b", 90.0), ("c", 80.0)].map(|(name, mean)| repeated(name, &around(mean, 5))),
    );
    let without = league_of(&runs[1..]);
    assert_eq!(ranks(&without), ["1", "2", "3"]);
    let league = league_of(&runs);
    let of = |name: &str| league.standings.iter().find(|row| row.framework == name).unwrap();
    let ranks = ["a", "b", "c", "wild"].map(|name| of(name).rank.unwrap().to_string());
    assert_eq!(ranks, ["1–2", "2–3", "3–4", "1–4"], "it may be the fastest or the slowest");
}

#[test]
fn one_repeat_leaves_the_rank_open_and_says_so() {
    let league = league_of(&[repeated("a", &[100.0]), repeated("b", &[9.9])]);
    assert_eq!(ranks(&league), ["1–2", "1–2"]);
    assert!(league.notes()[0].starts_with("Each framework ran once: how much its runs vary is unknown"));
    assert!(league.best().is_empty());
    // The spread of the others is its own, as far as is known.
    let league =
        league_of(&[repeated("a", &around(100.0, 6)), repeated("b", &[99.0]), repeated("c", &[50.0])]);
    assert_eq!(ranks(&league), ["1–2", "1–2", "3"]);
    assert!(league.notes().iter().any(|note| note.starts_with("A framework that ran once")));
    let league = league_of(&[repeated("a", &[100.0])]);
    assert!(league.notes().is_empty() && ranks(&league) == ["1"]);
}

/// A run of five minutes, of which the load climbs for three, by its rate of requests before and in its hold.
struct Climb {
    framework: &'static str,
    ramp: i64,
    hold: i64,
}

impl Climb {
    fn timeline(&self, repeat: u32) -> Timeline {
        let at = |second: i64| {
            let (rate, threads) = if second < 180 { (self.ramp, 1 + second / 2) } else { (self.hold, 180) };
            let key = CellKey { second: second as u32, label: 0, success: true, transaction: false };
            let load = InjectorLoad { injector: 0, samples: rate as u64, threads: rate * threads };
            let cell = Cell { elapsed: vec![(7, rate as u64)], injectors: vec![load], ..Cell::default() };
            (key, cell)
        };
        let cells = CellTable::new(vec!["Get".into()], vec!["".into()], (0..300).map(at).collect::<Vec<_>>());
        let key = RunKey::new(self.framework, "t").with_repeat(repeat);
        Timeline::new(&StoredRun::new(RunInfo::new(key, 0, 299_999), cells), &View::default()).unwrap()
    }
}

#[test]
fn holds_that_rank_otherwise_are_named() {
    let of = |climbs: &[Climb], repeats| -> League {
        let runs = (1..=repeats).flat_map(|repeat| climbs.iter().map(move |climb| climb.timeline(repeat)));
        League::new(&runs.collect::<Vec<_>>()).unwrap()
    };
    let early = Climb { framework: "a", ramp: 490, hold: 500 };
    let late = Climb { framework: "b", ramp: 357, hold: 625 };
    let league = of(&[early, late], 1);
    let throughputs: Vec<f64> = league.standings.iter().map(|row| row.throughput).collect();
    assert_eq!((throughputs, ranks(&league)), (vec![494.0, 464.2], vec!["1–2".to_owned(), "1–2".into()]));
    assert_eq!(
        league.note_on_hold().as_deref(),
        Some("The holds alone rank otherwise: b 1–2 (625.0/s), a 1–2 (500.0/s).")
    );
    // Equal repeats leave no doubt: the ramp has others in front than the hold.
    let climbs = || {
        [("a", 490, 500), ("b", 357, 625), ("c", 90, 90)].map(|(framework, ramp, hold)| Climb {
            framework,
            ramp,
            hold,
        })
    };
    let league = of(&climbs(), 2);
    assert_eq!(ranks(&league), ["1", "2", "3"]);
    let named: Vec<String> =
        league.hold.iter().map(|one| format!("{} {}", one.framework, one.rank)).collect();
    assert_eq!(named, ["b 1", "a 2"]);
    // Where the holds agree, and where a run has none, there is nothing to say.
    let same =
        [Climb { framework: "a", ramp: 490, hold: 700 }, Climb { framework: "b", ramp: 357, hold: 625 }];
    assert_eq!(of(&same, 1).note_on_hold(), None);
    let mut runs: Vec<Timeline> = climbs().iter().map(|climb| climb.timeline(1)).collect();
    (runs[2].hold, runs[2].phases) = (None, Default::default());
    assert_eq!(League::new(&runs).unwrap().hold, []);
    // Many are counted.
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let many: Vec<Climb> = (0..)
        .zip(names)
        .map(|(at, framework)| Climb { framework, ramp: 900 - 100 * at, hold: 500 + 10 * at })
        .collect();
    let note = of(&many, 1).note_on_hold().unwrap();
    assert!(note.ends_with("c 1–7 (520.0/s), and 2 frameworks more."), "{note}");
}

#[test]
fn failures_are_those_of_all_repeats() {
    let run = |framework, failures| Run { framework, throughput: 5.0, p95: None, failures, cpu: None };
    let runs = [run("a", 0), run("a", 500), run("a", 0), run("b", 10), run("b", 0), run("b", 12)];
    let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
    let league = League::new(&timelines).unwrap();
    let of = |framework: &str| league.standings.iter().find(|row| row.framework == framework).unwrap();
    assert_eq!((of("a").rank, of("a").failures_percent), (None, Some(500.0 / 3000.0 * 100.0)));
    let first = Some(Interval { low: 1, high: 1 });
    assert_eq!((of("b").rank, of("b").failures_percent), (first, Some(22.0 / 3000.0 * 100.0)));
    let figures = "Figures are medians over a framework's repeats; failures are those of all its repeats.";
    assert_eq!(league.notes(), [figures, "Not ranked, with > 1 % failures: a."]);
}

#[test]
fn framework_that_fails_is_below_the_others_and_named() {
    let run = |framework, throughput, failures| Run { framework, throughput, p95: None, failures, cpu: None };
    let runs = [run("a", 5.0, 0), run("b", 9.0, 11), run("c", 4.0, 10), run("d", 9.5, 999)];
    let timelines: Vec<Timeline> = runs.iter().map(Run::timeline).collect();
    let mut league = League::new(&timelines).unwrap();
    let order = |league: &League| -> Vec<(String, bool)> {
        league.standings.iter().map(|row| (row.framework.clone(), row.rank.is_some())).collect()
    };
    let expected = [("a", true), ("c", true), ("d", false), ("b", false)];
    assert_eq!(order(&league), expected.map(|(name, ranked)| (name.to_owned(), ranked)));
    assert_eq!(league.notes().last().unwrap(), "Not ranked, with > 1 % failures: d, b.");
    league.order_by("framework").unwrap();
    let names: Vec<String> = order(&league).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["a", "c", "b", "d"]);
    let error = league.order_by("throughputs").unwrap_err();
    assert!(matches!(&error, Error::UnknownColumn { column, .. } if column == "throughputs"));
    assert!(error.remedy().unwrap().contains("throughput, throughput_min"), "{:?}", error.remedy());
}

#[test]
fn goal_orders_a_league_by_who_keeps_it_best() {
    let run = |framework, throughput, kept| {
        let run = Run { framework, throughput, p95: None, failures: 0, cpu: None };
        let mut timeline = run.timeline();
        timeline.view.goals = vec![Goal::Within(200)];
        timeline.summary.goals = vec![kept];
        timeline
    };
    let timelines = [run("a", 9.0, Some(90.0)), run("b", 8.0, None), run("c", 7.0, Some(99.0))];
    let mut league = League::new(&timelines).unwrap();
    league.order_by("within_200ms_percent").unwrap();
    let names: Vec<&str> = league.standings.iter().map(|row| row.framework.as_str()).collect();
    assert_eq!(names, ["c", "a", "b"]);
    assert!(league.order_by("within_300ms_percent").is_err());
}

#[test]
fn notes_are_true_of_every_repeat() {
    let run = |repeat, cpu_max: Option<f64>| {
        let mut run =
            Run { framework: "a", throughput: 5.0, p95: None, failures: 0, cpu: cpu_max }.timeline();
        run.info.key.repeat = repeat;
        run.summary.cpu_max = cpu_max;
        run
    };
    let of_cpu = |runs: &[Timeline]| {
        let notes = League::new(runs).unwrap().notes();
        notes.iter().filter(|note| note.contains("no CPU reading above 100 %")).count()
    };
    assert_eq!(of_cpu(&[run(1, Some(90.0)), run(2, Some(80.0))]), 1);
    assert_eq!(of_cpu(&[run(1, Some(180.0)), run(2, Some(80.0))]), 0, "a reading above 100 % answers it");
    assert_eq!(of_cpu(&[run(1, None), run(2, None)]), 0);

    let mut waited = run(2, None);
    waited.duration.wait = Some(7.0);
    let notes = League::new(&[run(1, None), waited.clone()]).unwrap().notes();
    assert!(
        notes.contains(
            &"a, repeat 2: its throughput includes the wait for its last answer, 7.0 s.".to_owned()
        )
    );
    let notes = League::new(&[waited]).unwrap().notes();
    assert_eq!(notes, ["a: its throughput includes the wait for its last answer, 7.0 s."]);
}
