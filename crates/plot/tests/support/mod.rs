//! Made-up runs for tests and examples: seeded, so that they are the same every time.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "not every test needs every run")]
#![allow(clippy::unwrap_used, reason = "a made-up run of one request has a timeline and a sweep")]

use std::collections::BTreeMap;

use perfpipe_analyze::points::{Level, SweepBy, levels};
use perfpipe_analyze::sweep::LoadStep;
use perfpipe_analyze::{
    Knee, Measured, Phases, RunDuration, Second, SeriesBySecond, Summary, Sweep, Timeline, Trends, Version,
    View,
};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable, InjectorLoad};
use perfpipe_ingest::points::{Figures, Point, PointNames, named_points, sections};
use perfpipe_ingest::run::{SourceFile, SourceKind};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};

/// A small generator of numbers that look random (splitmix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to 1.
    pub fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number around 1, at most `spread` away.
    pub fn around(&mut self, spread: f64) -> f64 {
        1.0 + spread * (2.0 * self.roll() - 1.0)
    }
}

/// A second with `successes` requests around `elapsed` ms.
pub fn second(at: u32, successes: u64, elapsed: f64, dice: &mut Dice) -> Second {
    let mut row = Second::default();
    (row.second, row.successes) = (at, successes);
    if successes > 0 {
        let p50 = elapsed * dice.around(0.15);
        let times = [p50 * 0.55, p50, p50 * 1.7 * dice.around(0.1), p50 * 3.4 * dice.around(0.25)];
        row.percentiles = times.into();
        row.elapsed_mean = Some(p50 * 1.2).into();
        row.elapsed_min = Some((p50 * 0.1).trunc()).into();
        row.elapsed_max = Some((p50 * 6.0).trunc()).into();
    }
    row
}

/// A run made of seconds, its summary reckoned from them.
pub fn timeline(framework: &str, test: &str, seconds: Vec<Second>) -> Timeline {
    let summary = summary(&seconds);
    let mut log = SourceFile::new("Results-2048-9000.csv.zip", SourceKind::Log, 0, 0);
    log.member = Some("Results-2048-9000.csv".to_owned());
    let cpu = SourceFile::new("Results-2048-9000.cpu.csv", SourceKind::Cpu, 0, 0);
    let (t0_ms, length) = (1_795_203_738_609, i64::from(summary.seconds) * 1000);
    let mut info = RunInfo::new(RunKey::new(framework, test), t0_ms, t0_ms + length - 100);
    (info.successes, info.failures) = (summary.successes, summary.failures);
    (info.samples_stored, info.cpu_lookback) = (true, 3);
    info.sources = vec![log, cpu];
    (info.tool_version, info.ingested_at) = ("0.1.0".to_owned(), "2026-11-20T20:00:00Z".to_owned());
    let mut run = Timeline::new(&stored(), &View::default()).unwrap();
    run.duration = RunDuration::of(&info, &run.view);
    (run.phases, run.hold) = phases(&seconds);
    (run.info, run.seconds, run.summary) = (info, seconds, summary);
    run
}

/// A run of one request by one thread, the least that has a timeline and a sweep.
fn stored() -> StoredRun {
    let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    let injectors = vec![InjectorLoad { injector: 0, samples: 1, threads: 1 }];
    let cell = Cell { elapsed: vec![(1, 1)], injectors, ..Cell::default() };
    StoredRun::new(
        RunInfo::new(RunKey::new("made", "up"), 0, 999),
        CellTable::new(vec!["Get".to_owned()], vec!["one".to_owned()], [(key, cell)]),
    )
}

/// The phases of seconds, and the summary of the hold where it is not all of them.
fn phases(seconds: &[Second]) -> (Phases, Option<Summary>) {
    let mut loads = vec![None; seconds.last().map_or(0, |second| second.second as usize + 1)];
    seconds.iter().for_each(|second| loads[second.second as usize] = second.load.get());
    let phases = Phases::of_loads(&loads);
    let hold = phases.hold.filter(|_| phases.all().count() > 1).map(|span| {
        let held = seconds.iter().filter(|second| span.holds(second.second)).cloned();
        let mut held: Vec<Second> = held.collect();
        held.iter_mut().for_each(|row| row.second -= span.first);
        summary(&held)
    });
    (phases, hold)
}

fn summary(seconds: &[Second]) -> Summary {
    let count = seconds.last().map_or(0, |s| s.second + 1);
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let percentile = |at: usize| mean(seconds.iter().filter_map(|s| s.percentile(at)).collect());
    let cpu: Vec<f64> = seconds.iter().filter_map(|s| s.cpu.get()).collect();
    let successes = seconds.iter().map(|s| s.successes).sum::<u64>();
    let mut summary = Summary::default();
    summary.seconds = count;
    summary.successes = successes;
    summary.failures = seconds.iter().map(|s| s.failures).sum();
    summary.throughput = successes as f64 / f64::from(count.max(1));
    (summary.p50, summary.p95) = (percentile(1), percentile(3));
    summary.p99 = percentile(3).map(|p95| p95 * 1.4);
    summary.percentiles = (0..4).map(percentile).collect();
    summary.cpu_coverage = cpu.len() as f64 / f64::from(count.max(1));
    summary.cpu_max = cpu.iter().copied().reduce(f64::max);
    summary.cpu_mean = mean(cpu);
    summary.load_max = seconds.iter().filter_map(|s| s.load.get()).reduce(f64::max);
    summary
}

/// A run with the server's memory, which grows, and a temperature that is below zero at first and then unknown.
pub fn with_series() -> Timeline {
    let mut run = steady("spring", 900.0, 0.1, 40);
    let memory = (0..40).map(|second| Some(7_798_784.0 + f64::from(second) * 1_048_576.0)).collect();
    let heat = (0..40).map(|second| (second < 30).then_some(f64::from(second) - 3.5)).collect();
    run.series =
        vec![SeriesBySecond::new("heat", "°C", 0, heat), SeriesBySecond::new("memory", "bytes", 0, memory)];
    run
}

/// Two frameworks with their memory, of which one also has a temperature.
pub fn both_with_series() -> [Timeline; 2] {
    let a = with_series();
    let mut b = steady("nio", 1400.0, 0.1, 36);
    let memory = (0..36).map(|second| Some(30_000_000.0 + f64::from(second % 9) * 1_048_576.0)).collect();
    b.series = vec![SeriesBySecond::new("memory", "bytes", 0, memory)];
    [a, b]
}

/// Seven minutes: threads climb to 9,000 in five, the rate is flat and then wild.
pub fn ramp(framework: &str) -> Timeline {
    let mut dice = Dice::new(7);
    let row = |at: u32| {
        let load = (f64::from(at) * 30.0).min(9000.0);
        let wild = if at > 285 { 0.16 } else { 0.02 };
        let rate = (42_500.0 + load * 0.7) * dice.around(wild);
        let mut row = second(at, rate as u64, load / 90.0 + 4.0, &mut dice);
        row.load = Some(load.max(3.0)).into();
        let cpu = (f64::from(at) * 105.0).min(6300.0 + f64::from(at) * 2.0) * dice.around(0.01);
        row.cpu = (!(205..=222).contains(&at)).then_some(cpu).into();
        row
    };
    timeline(framework, "2048", (0..420).map(row).collect())
}

/// A run whose rate is about `rate` for `length` seconds.
pub fn steady(framework: &str, rate: f64, spread: f64, length: u32) -> Timeline {
    let mut dice = Dice::new(rate.to_bits());
    let row = |at: u32| {
        let mut row = second(at, (rate * dice.around(spread)) as u64, 20.0, &mut dice);
        row.load = Some((f64::from(at) * 30.0).min(9000.0)).into();
        row
    };
    timeline(framework, "2048", (0..length).map(row).collect())
}

/// A short run of `length` seconds with CPU and load.
pub fn short(length: u32) -> Timeline {
    let mut dice = Dice::new(u64::from(length));
    let row = |at: u32| {
        let mut row = second(at, (1500.0 * dice.around(0.2)) as u64, 25.0, &mut dice);
        row.load = Some(f64::from((at / 10 + 1) * 10).min(60.0)).into();
        row.cpu = Some(120.0 * dice.around(0.2)).into();
        row
    };
    timeline("spring", "2048", (0..length).map(row).collect())
}

/// A day, with a slow tide, a few peaks of a second and one short outage.
pub fn day() -> Timeline {
    let mut dice = Dice::new(24);
    let row = |at: u32| {
        let tide = (f64::from(at) / 86_400.0 * std::f64::consts::TAU).sin();
        let peak = if at % 17_000 == 9_000 { 3.0 } else { 1.0 };
        let out = (50_000..50_400).contains(&at);
        let rate = if out { 0.0 } else { (3000.0 + 1500.0 * tide) * dice.around(0.25) * peak };
        let mut row = second(at, rate as u64, (40.0 + 20.0 * tide) * peak, &mut dice);
        row.failures = if out { 700 } else { u64::from(at % 7001 == 3) };
        row.load = Some(500.0 + 300.0 * tide).into();
        row.cpu = (at % 60 < 50).then(|| 1800.0 + 900.0 * tide * dice.around(0.1)).into();
        row
    };
    timeline("perfectnio", "2048", (0..86_400).map(row).collect())
}

/// Two minutes in which the server is away for 25 seconds, with 10 silent ones.
pub fn outage() -> Timeline {
    let mut dice = Dice::new(3);
    let row = |at: u32| {
        let (down, silent) = ((50..75).contains(&at), (90..100).contains(&at));
        let rate = if down || silent { 0.0 } else { 8000.0 * dice.around(0.1) };
        let mut row = second(at, rate as u64, 30.0, &mut dice);
        row.failures = if down { (2500.0 * dice.around(0.5)) as u64 } else { 0 };
        row.load = (!silent).then_some(f64::from(at.min(60)) * 10.0).into();
        row.cpu = Some(if down || silent { 4.0 } else { 350.0 } * dice.around(0.1)).into();
        row
    };
    timeline("spring", "heavy_2048", (0..120).map(row).collect())
}

/// Seven minutes with bursts of thousands of failures, time-outs of 63 s and empty seconds between.
pub fn failing() -> Timeline {
    let mut dice = Dice::new(11);
    let row = |at: u32| {
        let busy = dice.roll() < 1.0 - f64::from(at) / 520.0;
        let rate = if busy { 9000.0 * dice.around(0.35) } else { 0.0 };
        let slow = dice.roll() < 0.06;
        let mut row = second(at, rate as u64, 120.0 + f64::from(at), &mut dice);
        if busy && slow {
            row.percentiles[3] = 63_000.0;
            row.percentiles[2] = 31_000.0 * dice.around(0.9);
        }
        row.failures = if dice.roll() < 0.3 && at > 60 { (6000.0 * dice.roll()) as u64 } else { 0 };
        row.load = Some((f64::from(at) * 30.0).min(9000.0)).into();
        row.cpu = Some((f64::from(at) * 15.0).min(3700.0) * dice.around(0.02)).into();
        row
    };
    timeline("spring", "postargsmulti2048", (0..420).map(row).collect())
}

/// A minute in which nothing succeeds.
pub fn hopeless() -> Timeline {
    let row = |at: u32| {
        let mut row = Second::default();
        (row.second, row.failures, row.load) = (at, 900 + u64::from(at % 7) * 40, Some(100.0).into());
        row
    };
    timeline("django", "2048", (0..60).map(row).collect())
}

/// A run of which nothing is known but the requests: neither load nor CPU.
pub fn bare() -> Timeline {
    let mut run = ramp("node");
    for row in &mut run.seconds {
        (row.load, row.cpu) = Default::default();
    }
    (run.summary.cpu_mean, run.summary.cpu_coverage) = (None, 0.0);
    run
}

/// A run that was not looked at in the plain way.
pub fn chosen() -> Timeline {
    let mut run = short(5);
    run.view = View::default()
        .with_label("Get \"heavy\", <all>".to_owned())
        .with_transactions(true)
        .with_include_failures(true)
        .with_injectors(3);
    run
}

/// Ten frameworks of one test.
pub fn field() -> Vec<Timeline> {
    let rates = [
        ("Spring", 46_000.0, 0.09),
        ("Node", 23_000.0, 0.06),
        ("Vapor", 14_700.0, 0.02),
        ("Kitura", 2_900.0, 0.02),
        ("Django", 5_600.0, 0.3),
        ("Rails", 11_000.0, 0.8),
        ("Go", 14_100.0, 0.03),
        ("actix-web with a name that goes on and on and on", 38_000.0, 0.04),
        ("Größe & <Söhne>", 31_000.0, 0.03),
    ];
    let mut runs: Vec<Timeline> = vec![ramp("PerfectNIO")];
    runs.extend(rates.map(|(name, rate, spread)| steady(name, rate, spread, 420)));
    runs
}

/// Three repeats of one framework, the second of them the fastest, and one run of another.
pub fn repeats() -> Vec<Timeline> {
    let repeat = |repeat: u32, rate: f64| {
        let mut run = steady("perfectnio", rate, 0.05, 40);
        run.info.key.repeat = repeat;
        run
    };
    vec![repeat(1, 2400.0), repeat(2, 2700.0), repeat(3, 2500.0), steady("spring", 1600.0, 0.1, 40)]
}

/// A stored run of forty seconds, whose requests take about `elapsed` ms.
pub fn measurable(framework: &str, repeat: u32, elapsed: u32) -> StoredRun {
    let mut dice = Dice::new(u64::from(repeat * 1000 + elapsed));
    let cell = |second: u32| {
        let mut counts = BTreeMap::new();
        for _ in 0..(8000.0 / f64::from(elapsed) * dice.around(0.02)) as u32 {
            *counts.entry((f64::from(elapsed) * dice.around(0.4)) as i32).or_insert(0) += 1;
        }
        let samples = counts.values().sum();
        let injectors = vec![InjectorLoad { injector: 0, samples, threads: 10 * samples as i64 }];
        let key = CellKey { second, label: 0, success: true, transaction: false };
        (key, Cell { elapsed: counts.into_iter().collect(), injectors, ..Cell::default() })
    };
    let t0_ms = 1_795_203_738_609 + i64::from(repeat) * 3_600_000;
    let mut info = RunInfo::new(RunKey::new(framework, "2048").with_repeat(repeat), t0_ms, t0_ms + 39_999);
    info.tool_version = "0.1.0".to_owned();
    let cells: Vec<_> = (0..40).map(cell).collect();
    StoredRun::new(info, CellTable::new(vec!["Get".to_owned()], vec!["one".to_owned()], cells))
}

/// Ten versions of three repeats each, slower from the seventh on.
pub fn trends() -> perfpipe_analyze::Result<Trends> {
    let version = |at: u32| {
        let elapsed = if at < 7 { 20 } else { 23 };
        let runs = (0..3).map(|repeat| measurable("perfectnio", at * 3 + repeat, elapsed));
        let measured: perfpipe_analyze::Result<Vec<_>> =
            runs.map(|run| Measured::new(&run, &View::default())).collect();
        let start_ms = 1_795_203_738_609 + i64::from(at) * 86_400_000;
        Ok(Version::new(format!("1.{at}"), start_ms, measured?))
    };
    let versions: perfpipe_analyze::Result<Vec<Version>> = (1..=10).map(version).collect();
    Ok(Trends::new("perfectnio", versions?, 0.0))
}

/// A sweep of six loads, the capacity reached at the third.
pub fn sweep() -> Sweep {
    let mut run = short(70);
    run.info.key.framework = "perfectnio".to_owned();
    let mut dice = Dice::new(5);
    let step = |at: u32| {
        let load = f64::from(at * 10);
        let throughput = (load * 76.0).min(1750.0) * dice.around(0.02);
        let times = [0.6, 1.0, 1.3, 1.9].map(|factor| Some(12.0 * factor * (load / 23.0).max(1.0)));
        let mut made = LoadStep::default();
        (made.load, made.load_min, made.load_max) = (load, load, load);
        made.throughput_sd = Some(throughput * 0.04);
        made.summary.seconds = 9;
        made.summary.successes = (throughput * 9.0) as u64;
        made.summary.throughput = throughput;
        made.summary.percentiles = times.into();
        made.summary.cpu_mean = (at != 4).then_some(120.0 - load);
        made
    };
    let mut sweep = Sweep::new(&stored(), &run.view).unwrap();
    (sweep.info, sweep.view, sweep.percentiles) = (run.info, run.view, run.percentiles);
    (sweep.bin, sweep.left_out) = (None, 7);
    sweep.steps = (1..=6).map(step).collect();
    sweep.knee = Some(knee(23.0, 2, false));
    sweep
}

fn knee(load: f64, step: usize, begins_beyond: bool) -> Knee {
    let mut knee = Knee::default();
    (knee.load, knee.throughput, knee.step, knee.begins_beyond) = (load, 1750.0, step, begins_beyond);
    knee
}

/// The same in other forms: begun beyond its knee, no knee, no CPU, one load, and none.
pub fn sweeps() -> Vec<(&'static str, Sweep)> {
    let bare = |steps: usize| {
        let mut sweep = sweep();
        (sweep.knee, sweep.bin, sweep.left_out) = (None, Some(5.0), 1);
        sweep.steps.truncate(steps);
        sweep.steps.iter_mut().for_each(|step| (step.summary.cpu_mean, step.throughput_sd) = (None, None));
        sweep
    };
    let mut many = sweep();
    many.steps = (1..=3000)
        .map(|at| {
            let mut step = many.steps[at % 6].clone();
            step.load_max = at as f64 * 1000.0;
            step.load = step.load_max;
            step
        })
        .collect();
    let mut beyond = sweep();
    beyond.steps.drain(..2);
    beyond.knee = Some(knee(30.0, 0, true));
    let mut falling = bare(6);
    (1..).zip(&mut falling.steps).for_each(|(at, step)| step.summary.throughput = 1800.0 / f64::from(at));
    vec![
        ("sweep", sweep()),
        ("beyond", beyond),
        ("falling", falling),
        ("bare", bare(6)),
        ("single", bare(1)),
        ("nothing", bare(0)),
        ("many", many),
    ]
}

/// The output of wrk for a run of ten seconds, as it prints it.
fn wrk(concurrency: u32, successes: u64, mean_ms: f64, (late, failed): (u64, u64)) -> String {
    let p99 = mean_ms * 3.0;
    let (p50, p90, rate) = (mean_ms * 0.9, mean_ms * 1.7, (successes + failed + late) as f64 / 10.0);
    let errors = format!("  Socket errors: connect 0, read 0, write 0, timeout {late}\n");
    let errors = if late > 0 { errors } else { String::new() };
    let refused = format!("  Non-2xx or 3xx responses: {failed}\n");
    let refused = if failed > 0 { refused } else { String::new() };
    let requests = successes + failed + late;
    format!(
        "Running 10s test @ http://127.0.0.1:8100/hello\n  1 threads and {concurrency} connections\n  \
         Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    {mean_ms:.2}ms    1.00ms  {p99:.2}ms   90.00%\n    \
         Req/Sec     1.43k   322.19     2.25k    65.00%\n  Latency Distribution\n     50%   {p50:.2}ms\n     \
         75%   {p90:.2}ms\n     90%   {p90:.2}ms\n     99%   {p99:.2}ms\n  {requests} requests in 10.00s, 3.50MB read\n\
         {errors}{refused}Requests/sec:   {rate:.2}\nTransfer/sec:    {:.2}KB\n",
        rate / 8.0
    )
}

/// Points of outputs: framework, level, output.
fn points(outputs: Vec<(&str, String)>, names: &PointNames) -> Vec<Point> {
    let of = |(framework, output): (&str, String)| {
        let names = PointNames { framework: Some(framework.to_owned()), ..names.clone() };
        let file = ("a.log".to_owned(), sections(output.as_bytes()).sections);
        named_points(&[file], &names).unwrap()
    };
    outputs.into_iter().flat_map(of).collect()
}

/// A sweep of two servers over six levels, three repeats each: one saturates, the other sheds load at the end, with
/// time-outs, and has a level whose last repeat was aborted.
pub fn by_concurrency() -> Vec<Level> {
    let mut dice = Dice::new(12);
    let mut outputs = Vec::new();
    for concurrency in [1u32, 2, 4, 8, 16, 32] {
        for (framework, slots) in [("alpha", 8), ("beta", 4)] {
            let busy = f64::from(concurrency.min(slots));
            let mut all = String::new();
            for _ in 0..3 {
                let successes = (busy * 1250.0 * dice.around(0.06)) as u64;
                let bad = if concurrency > 8 && slots == 4 { (40, 900) } else { (0, 0) };
                let mean = f64::from(concurrency) / ((successes + bad.0 + bad.1) as f64 / 10_000.0);
                all.push_str(&wrk(concurrency, successes, mean * 0.97, bad));
            }
            outputs.push((framework, all));
        }
    }
    let mut all = points(outputs, &PointNames::default());
    if let Some(point) = all.iter_mut().rfind(|point| point.key.framework == "beta") {
        point.figures = Figures::default();
        point.figures.aborted = Some("too many resets".to_owned());
    }
    levels(&all, SweepBy::Concurrency)
}

/// A sweep of one server over three numbers of workers, two repeats each.
pub fn by_workers() -> Vec<Level> {
    let mut dice = Dice::new(13);
    let mut all = Vec::new();
    for workers in [1u32, 2, 4] {
        let mut output = String::new();
        for _ in 0..2 {
            let successes = (f64::from(workers).powf(0.85) * 2000.0 * dice.around(0.03)) as u64;
            output.push_str(&wrk(32, successes, 320_000.0 / successes as f64 * 0.96, (0, 0)));
        }
        let names = PointNames { workers: Some(workers), ..PointNames::default() };
        all.extend(points(vec![("tiny", output)], &names));
    }
    levels(&all, SweepBy::Workers)
}

/// Every run above by the name of its case.
pub fn cases() -> Vec<(&'static str, Timeline)> {
    let mut lengthy = short(60);
    lengthy.info.key.framework = "a framework <with> a \"name\" & no end ".repeat(5) + "\u{7}\n";
    vec![
        ("ramp", ramp("perfectnio")),
        ("minute", short(60)),
        ("five", short(5)),
        ("one", short(1)),
        ("day", day()),
        ("outage", outage()),
        ("failing", failing()),
        ("hopeless", hopeless()),
        ("bare", bare()),
        ("empty", timeline("nothing", "2048", Vec::new())),
        ("lengthy", lengthy),
        ("chosen", chosen()),
    ]
}
