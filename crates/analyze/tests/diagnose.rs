//! Findings: what was planted is found and nothing else, and nothing at all in calm runs.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

use std::sync::Arc;

use perfpipe_analyze::{Finding, FindingKind, Span, View, diagnose, finding_table};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable, ErrorCount, InjectorLoad, Spread};
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};

/// A small generator of numbers that look random (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number from 0 up to 1.
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A count that comes by chance (Knuth's method, in parts so that nothing underflows).
    fn poisson(&mut self, mean: f64) -> u64 {
        let mut count = 0;
        let mut rest = mean;
        while rest > 0.0 {
            let part = rest.min(30.0);
            rest -= part;
            let mut product = self.roll();
            while product > (-part).exp() {
                count += 1;
                product *= self.roll();
            }
        }
        count
    }

    /// An elapsed time around `mean` ms, most a bit shorter and a few much longer.
    fn elapsed(&mut self, mean: f64) -> i32 {
        (mean * (0.5 - 0.5 * (1.0 - self.roll()).ln())).round() as i32
    }
}

/// What one injector does in one second.
#[derive(Clone, Copy)]
struct Work {
    threads: i64,
    /// Requests expected.
    rate: f64,
    /// Mean elapsed, in ms.
    elapsed: f64,
    /// The share that fails.
    failing: f64,
}

/// A run made second by second.
struct Made {
    dice: Dice,
    injectors: Vec<&'static str>,
    cells: Vec<(CellKey, Cell)>,
    errors: Vec<ErrorCount>,
    cpu: Vec<(i64, f64)>,
    seconds: u32,
}

impl Made {
    fn new(seed: u64, injectors: &[&'static str]) -> Self {
        let dice = Dice(seed);
        Self { dice, injectors: injectors.into(), cells: vec![], errors: vec![], cpu: vec![], seconds: 0 }
    }

    /// Adds a second: what each injector does in it, and the CPU.
    fn second(&mut self, work: &[Work], cpu: f64) {
        for (injector, work) in (0..).zip(work) {
            let sent = self.dice.poisson(work.rate);
            let failed = (0..sent).filter(|_| self.dice.roll() < work.failing).count() as u64;
            for (success, count) in [(true, sent - failed), (false, failed)] {
                if count > 0 {
                    self.cell(injector, success, count, *work);
                }
            }
            if failed > 0 {
                let error = |count| ErrorCount {
                    second: self.seconds,
                    label: Arc::from(""),
                    response_code: Arc::from("503"),
                    message: Arc::from("Service Unavailable"),
                    transaction: false,
                    count,
                };
                self.errors.push(error(failed));
            }
        }
        self.cpu.push((1_700_000_000 + i64::from(self.seconds), cpu * (0.95 + 0.1 * self.dice.roll())));
        self.seconds += 1;
    }

    fn cell(&mut self, injector: u32, success: bool, count: u64, work: Work) {
        let mut elapsed: Vec<i32> = (0..count).map(|_| self.dice.elapsed(work.elapsed)).collect();
        elapsed.sort_unstable();
        let cell = Cell {
            elapsed: elapsed.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect(),
            latency: Spread::default(),
            before_boundary: count,
            injectors: vec![InjectorLoad { injector, samples: count, threads: work.threads * count as i64 }],
            ..Cell::default()
        };
        self.cells.push((CellKey { second: self.seconds, label: 0, success, transaction: false }, cell));
    }

    /// Does the same for so many seconds.
    fn go_on(&mut self, seconds: u32, work: &[Work], cpu: f64) -> &mut Self {
        (0..seconds).for_each(|_| self.second(work, cpu));
        self
    }

    fn run(&self) -> StoredRun {
        let names: Vec<String> = self.injectors.iter().map(|name| (*name).to_owned()).collect();
        let t0 = 1_700_000_000_000;
        let info = RunInfo::new(RunKey::new("spring", "2048"), t0, t0 + i64::from(self.seconds) * 1000 - 1);
        let mut run = StoredRun::new(info, CellTable::new(vec![String::new()], names, self.cells.clone()));
        run.cpu = TimeSeries::new(self.cpu.clone());
        run.errors.clone_from(&self.errors);
        run
    }

    fn findings(&self) -> Vec<Finding> {
        let findings = diagnose(&self.run(), &View::default(), None).unwrap();
        findings.iter().for_each(assert_figures);
        findings
    }
}

/// The figures of a finding are values, of different names.
fn assert_figures(finding: &Finding) {
    let names: std::collections::BTreeSet<&str> = finding.figures.iter().map(|figure| figure.name).collect();
    let is_value = finding.figures.iter().all(|figure| figure.value.is_finite());
    assert!(names.len() == finding.figures.len() && !names.is_empty() && is_value, "{finding:#?}");
}

/// Threads without think time: the rate follows from the mean elapsed.
fn busy(threads: i64, elapsed: f64) -> Work {
    Work { threads, rate: threads as f64 * 1000.0 / elapsed, elapsed, failing: 0.0 }
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

fn span(first: u32, last: u32) -> Span {
    Span { first, last }
}

/// Calm runs of all kinds: of one load, or with a ramp that the throughput follows; of one injector or three; slow and
/// fast; with few failures or none.
fn calm(seed: u64) -> Made {
    let mut dice = Dice(seed ^ 0xca1);
    let injectors: &[&'static str] =
        if dice.roll() < 0.3 { &["10.0.0.1", "10.0.0.2", "10.0.0.3"] } else { &[""] };
    let mut made = Made::new(seed, injectors);
    let elapsed = 2.0 * 200f64.powf(dice.roll());
    let threads = 1 + (dice.roll() * 300.0 / (1000.0 / elapsed)) as i64;
    let failing = if dice.roll() < 0.5 { 0.0 } else { 0.003 };
    let work = |threads| vec![Work { failing, ..busy(threads, elapsed) }; injectors.len()];
    let steps = if dice.roll() < 0.4 { 1 + (dice.roll() * 6.0) as i64 } else { 1 };
    for step in 1..=steps {
        let threads = (threads * step / steps).max(1);
        made.go_on(10, &work(threads), 20.0 + 180.0 * step as f64 / steps as f64);
    }
    let held = 20 + (dice.roll() * 280.0) as u32;
    made.go_on(held, &work(threads), 200.0);
    made
}

#[test]
fn calm_runs_have_no_findings() {
    const RUNS: u64 = 500;
    let found: Vec<(u64, Vec<Finding>)> = (0..RUNS)
        .map(|seed| (seed, calm(seed).findings()))
        .filter(|(_, findings)| !findings.is_empty())
        .collect();
    // The bound that the documentation states: one calm run in a hundred.
    assert!(found.len() as u64 * 100 <= RUNS, "{} of {RUNS}: {found:#?}", found.len());
}

#[test]
fn throughput_that_stops_growing_is_named_with_its_load_and_cpu() {
    for seed in 0..20 {
        let mut made = Made::new(seed, &[""]);
        for step in 1..=6 {
            // 23 requests at a time, 13 ms each: 1,769/s from 23 threads on.
            let threads = step * 10;
            let elapsed = 13.0 * (threads as f64 / 23.0).max(1.0);
            made.go_on(10, &[busy(threads, elapsed)], if step > 2 { 90.0 } else { 65.0 * step as f64 });
        }
        let findings = made.go_on(10, &[busy(60, 13.0 * 60.0 / 23.0)], 90.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Saturation, FindingKind::IdleCpu], "{findings:#?}");
        let [saturation, idle] = &findings[..] else { panic!() };
        assert_eq!(saturation.span, span(20, 68));
        assert!(
            ["about 22", "about 23", "about 24"].iter().any(|about| saturation.what.contains(about)),
            "{}",
            saturation.what
        );
        assert!(saturation.evidence.contains("at 20 threads, CPU 1"), "{}", saturation.evidence);
        assert!(
            idle.evidence.starts_with("CPU at most 9") || idle.evidence.starts_with("CPU at most 8"),
            "{idle:?}"
        );
        // A server whose cores are busy is saturated, and not idle; with more of them it is.
        let with = |cores| kinds(&diagnose(&made.run(), &View::default(), Some(cores)).unwrap());
        assert_eq!(with(1), [FindingKind::Saturation]);
        assert_eq!(with(4), [FindingKind::Saturation, FindingKind::IdleCpu]);
    }
}

#[test]
fn cpu_of_a_warm_up_is_no_capacity() {
    for seed in 0..20 {
        let mut made = Made::new(seed, &[""]);
        // A compiler takes CPU too while threads begin; from 30 threads on the one core is full.
        for (step, cpu) in (1..=6).zip([197.0, 160.0, 92.0, 94.0, 95.0, 95.0]) {
            let threads = step * 10;
            made.go_on(10, &[busy(threads, 13.0 * (threads as f64 / 23.0).max(1.0))], cpu);
        }
        let findings = made.go_on(10, &[busy(60, 13.0 * 60.0 / 23.0)], 95.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Saturation], "{findings:#?}");
    }
}

#[test]
fn pauses_are_found_with_their_seconds_and_no_others() {
    for seed in 0..50 {
        let none = Work { rate: 0.0, ..busy(8, 40.0) };
        let few = Work { rate: 10.0, ..busy(8, 40.0) };
        let mut made = Made::new(seed, &[""]);
        made.go_on(30, &[busy(8, 40.0)], 50.0).go_on(1, &[none], 50.0).go_on(40, &[busy(8, 40.0)], 50.0);
        made.go_on(15, &[none], 50.0).go_on(20, &[busy(8, 40.0)], 50.0).go_on(4, &[few], 50.0);
        let findings = made.go_on(30, &[busy(8, 40.0)], 50.0).findings();
        // No request waits in any of them.
        let stalls: Vec<&Finding> =
            findings.iter().filter(|finding| finding.kind == FindingKind::Pause).collect();
        let spans: Vec<Span> = stalls.iter().map(|finding| finding.span).collect();
        assert_eq!(spans, [span(30, 30), span(71, 85), span(106, 109)], "{findings:#?}");
        assert!(
            stalls[1].what.contains("no requests for 15 s")
                && stalls[1].evidence.starts_with("0 requests, where "),
            "{stalls:?}"
        );
        assert!(stalls[2].what.contains("few requests for 4 s"), "{stalls:?}");
    }
}

#[test]
fn burst_of_failures_is_told_apart_from_steady_ones_with_its_causes() {
    for seed in 0..50 {
        let failing = |failing| Work { failing, ..busy(10, 50.0) };
        let mut made = Made::new(seed, &[""]);
        made.go_on(60, &[failing(0.04)], 50.0).go_on(8, &[failing(0.7)], 50.0);
        let findings = made.go_on(60, &[failing(0.04)], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Failures; 2], "{findings:#?}");
        assert!(findings[0].what.contains("throughout") && findings[0].evidence.contains("503 (Service"));
        assert_eq!(findings[1].span, span(60, 67));
        let what = &findings[1].what;
        assert!(what.contains("before and after 4") || what.contains("before and after 3"), "{what}");
    }
}

#[test]
fn failures_of_a_part_are_counted_there() {
    let failing = |failing| Work { failing, ..busy(10, 50.0) };
    let mut made = Made::new(3, &[""]);
    made.go_on(60, &[failing(0.0)], 50.0).go_on(60, &[failing(0.04)], 50.0);
    let findings = made.go_on(60, &[failing(0.0)], 50.0).findings();
    let [found] = findings.as_slice() else { panic!("{findings:#?}") };
    assert!(found.span.first.abs_diff(60) <= 2 && found.span.last.abs_diff(119) <= 2, "{found:#?}");
    let figure = |name: &str| found.figures.iter().find(|figure| figure.name == name).unwrap().value;
    // 200 a second.
    assert!((figure("requests") - 12_000.0).abs() < 1500.0, "{found:#?}");
    assert!((figure("share") - 4.0).abs() < 0.8, "{found:#?}");
}

#[test]
fn share_that_steps_up_is_not_said_to_last_throughout() {
    let share = |found: &Finding, name: &str| {
        found.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    };
    // The shares of three parts, and the part that stands out.
    for (shares, from, to) in [
        ([0.003, 0.003, 0.109], 50, 74),
        ([0.003, 0.003, 0.03], 50, 74),
        ([0.2, 0.002, 0.002], 0, 24),
        ([0.01, 0.06, 0.01], 25, 49),
        ([0.02, 0.02, 0.4], 50, 74),
    ] {
        for seed in 0..20 {
            let mut made = Made::new(seed, &[""]);
            for failing in shares {
                made.go_on(25, &[Work { failing, ..busy(10, 40.0) }], 50.0);
            }
            let findings = made.findings();
            let failures: Vec<&Finding> =
                findings.iter().filter(|finding| finding.kind == FindingKind::Failures).collect();
            let stretch = failures.iter().find(|found| share(found, "share_usual").is_some());
            let found = stretch.unwrap_or_else(|| panic!("{shares:?}, {seed}: {findings:#?}"));
            assert!(found.span.first.abs_diff(from) <= 3 && found.span.last.abs_diff(to) <= 3, "{found:#?}");
            let (high, low) = (shares[from as usize / 25], shares.into_iter().fold(1.0, f64::min));
            assert!((share(found, "share").unwrap() / 100.0 / high - 1.0).abs() < 0.25, "{found:#?}");
            assert!((share(found, "share_usual").unwrap() / 100.0 - low).abs() < 0.006, "{found:#?}");
            let others = failures.iter().filter(|other| other.span != found.span);
            for other in others {
                assert!(low > 0.005 && other.what.ends_with("apart from bursts"), "{other:#?}");
            }
        }
    }
}

#[test]
fn failure_after_a_stretch_is_no_burst() {
    let mut made = Made::new(6, &[""]);
    made.go_on(50, &[Work { failing: 0.002, ..busy(10, 40.0) }], 50.0);
    made.go_on(23, &[Work { failing: 0.07, ..busy(10, 40.0) }], 50.0);
    made.go_on(2, &[busy(10, 40.0)], 50.0);
    // One of nine requests in the last second.
    let few = Work { threads: 10, rate: 0.0, elapsed: 40.0, failing: 0.0 };
    made.cell(0, true, 8, few);
    made.cell(0, false, 1, few);
    made.seconds += 1;
    let findings = made.findings();
    let failures: Vec<_> = findings.iter().filter(|finding| finding.kind == FindingKind::Failures).collect();
    let [found] = failures.as_slice() else { panic!("{findings:#?}") };
    assert!(found.span.first.abs_diff(50) <= 2 && found.span.last.abs_diff(72) <= 2, "{found:#?}");
}

#[test]
fn level_share_lasts_throughout_and_counts_all_requests() {
    let mut made = Made::new(4, &[""]);
    made.go_on(75, &[Work { failing: 0.06, ..busy(10, 40.0) }], 50.0);
    let findings = made.findings();
    let [found] = findings.as_slice() else { panic!("{findings:#?}") };
    assert!(found.what.ends_with("requests fail, throughout the run"), "{found:#?}");
    let all: u64 = made.cells.iter().flat_map(|(_, cell)| &cell.elapsed).map(|(_, count)| count).sum();
    let requests = found.figures.iter().find(|figure| figure.name == "requests").unwrap().value;
    assert_eq!(requests, all as f64);
}

#[test]
fn idle_threads_are_those_of_the_evidence_and_steps_those_of_the_rates() {
    let mut made = Made::new(1, &[""]);
    for second in 0..120 {
        let rate = if second % 3 == 0 { 30.0 } else { 0.0 };
        made.go_on(1, &[Work { rate, ..busy(10, 50.0) }], 50.0);
    }
    let findings = made.findings();
    let figure = |found: &Finding, name: &str| {
        found.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    };
    let idle = findings.iter().find_map(|found| Some((figure(found, "idle")?, figure(found, "busy")?)));
    let (idle, busy_threads) = idle.expect("idle threads");
    assert!((idle - 100.0 * (1.0 - busy_threads / 10.0)).abs() < 0.5, "{findings:#?}");

    let mut made = Made::new(2, &[""]);
    for rate in [40.0, 60.0, 40.0] {
        made.go_on(100, &[Work { rate, ..busy(10, 50.0) }], 50.0);
    }
    let findings = made.findings();
    let shift = findings.iter().find(|finding| finding.kind == FindingKind::Shift).expect("a step");
    let of = |name: &str| figure(shift, name).unwrap();
    let grown = of("rate_after") / of("rate_before");
    assert!((of("times") / grown - 1.0).abs() < 0.02, "{shift:#?}");
}

#[test]
fn run_that_fails_altogether_is_said_to() {
    let mut made = Made::new(1, &[""]);
    let findings = made.go_on(60, &[Work { failing: 1.0, ..busy(10, 50.0) }], 50.0).findings();
    assert_eq!(kinds(&findings), [FindingKind::Failures], "{findings:#?}");
    assert!(findings[0].evidence.starts_with("100 %"), "{findings:?}");
}

#[test]
fn think_time_and_wrong_injectors_break_littles_law() {
    let mut thinking = Made::new(1, &[""]);
    thinking.go_on(60, &[Work { rate: 100.0, ..busy(10, 50.0) }], 50.0);
    let findings = thinking.findings();
    assert_eq!(kinds(&findings), [FindingKind::Note], "{findings:#?}");
    assert!(findings[0].is_note() && findings[0].what.contains("explains it"), "{findings:?}");

    // A client that can't keep up waits the longer, the more threads it has.
    let mut late = Made::new(3, &[""]);
    for threads in [10, 20, 40] {
        late.go_on(30, &[Work { rate: 180.0, ..busy(threads, 50.0) }], 50.0);
    }
    let findings = late.go_on(60, &[Work { rate: 180.0, ..busy(40, 50.0) }], 50.0).findings();
    assert!(kinds(&findings).contains(&FindingKind::LittlesLaw), "{findings:#?}");

    let mut three = Made::new(2, &[""]);
    three.go_on(60, &[Work { rate: 600.0, ..busy(10, 50.0) }], 50.0);
    let findings = three.findings();
    assert_eq!(kinds(&findings), [FindingKind::LittlesLaw], "{findings:#?}");
    assert!(findings[0].what.contains("(3 would fit)"), "{findings:?}");
    let told = View::default().with_injectors(3);
    assert_eq!(diagnose(&three.run(), &told, None).unwrap(), []);
}

#[test]
fn tail_that_grows_is_found() {
    let mut made = Made::new(1, &[""]);
    for second in 0..120 {
        made.second(&[busy(20, 50.0)], 50.0);
        // More and more requests take a second.
        let (key, cell) = made.cells.last_mut().unwrap();
        cell.elapsed.push((1000, u64::from(key.second * 12 / 120)));
        cell.injectors[0].samples += u64::from(key.second * 12 / 120);
        cell.injectors[0].threads += 20 * i64::from(key.second * 12 / 120);
        assert_eq!(key.second, second);
    }
    made.cells.iter_mut().for_each(|(_, cell)| cell.elapsed.retain(|(_, count)| *count > 0));
    let findings = made.findings();
    assert!(kinds(&findings).contains(&FindingKind::SlowTail), "{findings:#?}");
    let tail = findings.iter().find(|finding| finding.kind == FindingKind::SlowTail).unwrap();
    assert!(tail.evidence.contains("to 1,000 ms"), "{tail:?}");
}

#[test]
fn injector_out_of_step_is_named() {
    const NAMES: [&str; 3] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
    for seed in 0..50 {
        let slow = Work { rate: 40.0, elapsed: 125.0, ..busy(5, 50.0) };
        let mut made = Made::new(seed, &NAMES);
        let findings = made.go_on(60, &[busy(5, 50.0), slow, busy(5, 50.0)], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Injector], "{findings:#?}");
        assert!(findings[0].what.contains("10.0.0.2 sends fewer"), "{findings:?}");

        let none = Work { rate: 0.0, ..busy(5, 50.0) };
        let mut late = Made::new(seed, &NAMES);
        late.go_on(10, &[busy(5, 50.0), busy(5, 50.0), none], 50.0);
        let findings = late.go_on(60, &[busy(5, 50.0); 3], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Injector], "{findings:#?}");
        assert!(findings[0].what.contains("10.0.0.3 begins 10 s after the others"), "{findings:?}");
        assert_eq!(findings[0].injector.as_deref(), Some("10.0.0.3"));
        let after = &findings[0].figures[0];
        assert_eq!((after.name, after.value, after.unit), ("begins_after", 10.0, "s"));
    }
}

#[test]
fn readings_that_do_not_cover_the_run_are_told() {
    let mut made = Made::new(1, &[""]);
    made.go_on(60, &[busy(5, 50.0)], 50.0);
    made.cpu.retain(|(clock, _)| !(1_700_000_020..1_700_000_040).contains(clock));
    let findings = made.findings();
    assert_eq!(kinds(&findings), [FindingKind::CpuCoverage], "{findings:#?}");
    // The reading of second 19 is good for three seconds more.
    assert_eq!(findings[0].span, span(23, 39));
    made.cpu = vec![(1_600_000_000, 5.0)];
    let findings = made.findings();
    assert_eq!(
        (kinds(&findings), findings[0].span.first),
        (vec![FindingKind::CpuCoverage], 0),
        "{findings:#?}"
    );
    made.cpu.clear();
    assert_eq!(made.findings(), [], "no export was given: that is no finding");
}

#[test]
fn findings_are_a_table_and_nothing_is_one_too() {
    let mut made = Made::new(1, &[""]);
    made.go_on(30, &[busy(5, 50.0)], 50.0).go_on(5, &[Work { rate: 0.0, ..busy(5, 50.0) }], 50.0);
    let findings = made.go_on(30, &[busy(5, 50.0)], 50.0).findings();
    let mut csv = Vec::new();
    finding_table(&findings).write(perfpipe_analyze::table::Format::Csv, &mut csv).unwrap();
    let text = String::from_utf8(csv).unwrap();
    assert!(
        text.starts_with(
            "finding,first,last,what,evidence,figures,injector\npause,30,34,no requests for 5 s,"
        ),
        "{text}"
    );
    assert!(finding_table(&[]).is_empty());
}

#[test]
fn saturation_is_found_in_a_climb_without_steps_too() {
    for seed in 0..20 {
        let mut made = Made::new(seed, &[""]);
        for threads in 1..=120 {
            made.second(&[busy(threads, 13.0 * (threads as f64 / 40.0).max(1.0))], 50.0);
        }
        let findings = made.go_on(60, &[busy(120, 39.0)], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Saturation], "{findings:#?}");
        let about = findings[0].what.split_whitespace().nth(5).unwrap().parse::<f64>().unwrap();
        assert!((36.0..43.0).contains(&about), "{}", findings[0].what);
        assert!((34..=44).contains(&findings[0].span.first) && findings[0].span.last == 178, "{findings:?}");
    }
}

#[test]
fn look_alikes_of_findings_are_none() {
    for seed in 0..20 {
        // The rate follows the threads down.
        let mut fewer = Made::new(seed, &[""]);
        fewer.go_on(60, &[busy(40, 50.0)], 90.0).go_on(60, &[busy(4, 50.0)], 10.0);
        assert_eq!(fewer.findings(), []);
        // An injector with fewer threads sends fewer requests, as many a thread.
        let mut uneven = Made::new(seed, &["10.0.0.1", "10.0.0.2"]);
        uneven.go_on(60, &[busy(40, 50.0), busy(4, 50.0)], 50.0);
        assert_eq!(uneven.findings(), []);
        // So few requests that silence is nothing special.
        let mut rare = Made::new(seed, &[""]);
        rare.go_on(300, &[busy(1, 700.0)], 50.0);
        assert_eq!(rare.findings(), []);
    }
}

#[test]
fn times_that_change_at_equal_load_are_told_and_loads_that_change_are_not() {
    for seed in 0..10 {
        let mut slower = Made::new(seed, &[""]);
        for second in 0..120 {
            slower.second(&[busy(40, 20.0 + 0.4 * f64::from(second))], 50.0);
        }
        let findings = slower.findings();
        assert_eq!(kinds(&findings), [FindingKind::Drift], "{findings:#?}");
        assert!(findings[0].what.contains("ever longer") && findings[0].evidence.starts_with("p50 from 2"));

        let mut tenfold = Made::new(seed, &[""]);
        tenfold.go_on(60, &[busy(20, 20.0)], 50.0);
        let findings = tenfold.go_on(60, &[busy(20, 200.0)], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Shift], "{findings:#?}");
        assert_eq!(findings[0].span.last, 118);
        assert!((59..=61).contains(&findings[0].span.first), "{findings:?}");

        // Threads as many as before, which send a tenth.
        let mut fewer = Made::new(seed, &[""]);
        fewer.go_on(100, &[Work { rate: 500.0, ..busy(20, 20.0) }], 50.0);
        let findings = fewer.go_on(100, &[Work { rate: 50.0, ..busy(20, 20.0) }], 50.0).findings();
        assert_eq!(kinds(&findings), [FindingKind::Shift], "{findings:#?}");
        assert!(findings[0].what.starts_with("requests fall to "), "{findings:?}");
        assert_eq!(findings[0].span, span(100, 198));

        // A ramp to a load at which requests take longer, and a test that goes on to another label.
        let mut ramp = Made::new(seed, &[""]);
        for threads in 1..=60 {
            ramp.second(&[busy(threads, 10.0 + threads as f64 / 4.0)], 50.0);
        }
        assert_eq!(ramp.go_on(60, &[busy(60, 25.0)], 50.0).findings(), []);
        let mut labels = Made::new(seed, &[""]);
        labels.go_on(60, &[busy(20, 20.0)], 50.0).go_on(60, &[busy(20, 200.0)], 50.0);
        labels.cells.iter_mut().for_each(|(key, _)| key.label = u32::from(key.second >= 60));
        let mut run = labels.run();
        run.cells =
            CellTable::new(vec!["Get".into(), "Post".into()], vec![String::new()], labels.cells.clone());
        let findings = diagnose(&run, &View::default(), None).unwrap();
        assert!(findings.iter().all(|finding| !finding.what.contains("as long")), "{findings:#?}");
    }
}

#[test]
fn failures_are_told_with_a_margin_and_when_they_come() {
    // Three of sixty may be one in a hundred of many; nine are not.
    let few = |failing: u32| {
        let mut made = Made::new(5, &[""]);
        made.go_on(60, &[Work { rate: 1.5, ..busy(2, 50.0) }], 50.0);
        let mut left = failing;
        for (key, _) in made.cells.iter_mut().filter(|(key, _)| key.second % 5 == 0 && key.second < 40) {
            if left > 0 {
                key.success = false;
                left -= 1;
            }
        }
        made.findings().into_iter().filter(|finding| !finding.is_note()).collect::<Vec<_>>()
    };
    assert_eq!(few(1), []);
    let findings = few(8);
    assert_eq!(kinds(&findings), [FindingKind::Failures], "{findings:#?}");
    assert!(
        findings[0].what.contains("between second") && findings[0].evidence.contains(" to "),
        "{findings:?}"
    );
}
