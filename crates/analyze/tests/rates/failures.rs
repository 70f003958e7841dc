//! Stretches of failures: none in runs whose share of failures is level, and those that are planted.

use perfpipe_analyze::{Finding, FindingKind, View, diagnose};
use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::dice::Dice;
use crate::share::Share;

/// Shares of requests that fail.
const SHARES: [f64; 7] = [0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2];

/// How failures scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scatter {
    /// Each request fails by itself.
    Independent,
    /// The share of a second is exponentially distributed in so large a part, the rest is constant.
    BySecond(f64),
    /// So many requests fail together.
    Together(u64),
}

/// How many events come by chance.
fn poisson(dice: &mut Dice, mean: f64) -> u64 {
    let mut count = 0;
    let mut at = dice.exponential(1.0);
    while at < mean {
        count += 1;
        at += dice.exponential(1.0);
    }
    count
}

/// A run of some seconds with so many requests a second, on average, and their shares of failures.
fn run(seed: u64, rate: f64, scatter: Scatter, seconds: u32, share: impl Fn(u32) -> f64) -> StoredRun {
    let mut dice = Dice::new(seed);
    let mut cells = Vec::new();
    for second in 0..seconds {
        let sent = poisson(&mut dice, rate);
        let mean = share(second);
        let failed = match scatter {
            Scatter::Independent => (0..sent).filter(|_| dice.uniform() < mean).count() as u64,
            Scatter::BySecond(part) => {
                let share = (mean * (1.0 - part + part * dice.exponential(1.0))).min(1.0);
                (0..sent).filter(|_| dice.uniform() < share).count() as u64
            }
            Scatter::Together(number) => {
                let times = poisson(&mut dice, sent as f64 * mean / number as f64);
                (times * number).min(sent)
            }
        };
        for (success, count) in [(true, sent - failed), (false, failed)] {
            let key = CellKey { second, label: 0, success, transaction: false };
            if count > 0 {
                cells.push((key, Cell { elapsed: vec![(20, count)], ..Cell::default() }));
            }
        }
    }
    let info = RunInfo::new(RunKey::new("a", "b"), 0, i64::from(seconds) * 1000 - 1);
    StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells))
}

/// The findings on stretches and bursts of failures.
fn found(run: &StoredRun) -> Vec<Finding> {
    let mut findings = diagnose(run, &View::default(), None).unwrap();
    findings.retain(|finding| {
        finding.kind == FindingKind::Failures
            && finding.figures.iter().any(|figure| figure.name == "share_usual")
    });
    findings
}

/// The share of level runs that are said to have a stretch or a burst.
fn false_stretches(first: u64, runs: u64, rate: f64, scatter: Scatter, share: f64) -> Share {
    (0..runs)
        .into_par_iter()
        .map(|at| {
            let seconds = [75, 300][(at % 2) as usize];
            let findings = found(&run(first + at, rate, scatter, seconds, |_| share));
            Share::of(!findings.is_empty())
        })
        .reduce(Share::default, Share::merged)
}

const SCATTERS: [Scatter; 4] =
    [Scatter::Independent, Scatter::BySecond(0.5), Scatter::BySecond(1.0), Scatter::Together(3)];

#[test]
fn level_shares_of_failures_have_no_stretches() {
    let mut all = Share::default();
    for rate in [20.0, 200.0] {
        for scatter in SCATTERS {
            let of = |(at, share): (u64, f64)| false_stretches(1000 * at, 10, rate, scatter, share);
            let shares: Vec<Share> = (0..).zip(SHARES).map(of).collect();
            println!(
                "{rate}/s, {scatter:?}: {:?}",
                shares.iter().map(|share| share.count).collect::<Vec<_>>()
            );
            all = shares.into_iter().fold(all, Share::merged);
        }
    }
    assert!(all.ratio() <= 0.01, "{all}");
}

/// Prints the table of `docs/rates.md`.
#[test]
#[ignore = "minutes: .ci/long truth"]
fn whole_trial_of_failures() {
    let mut worst: f64 = 0.0;
    println!(
        "| failures | requests a second | level runs | with a stretch or burst | the most at one share | 10 points more \
         for 25 s: found |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, scatter) in [
        ("independent", SCATTERS[0]),
        ("a second's share scatters by half", SCATTERS[1]),
        ("a second's share is exponential", SCATTERS[2]),
        ("three at a time", SCATTERS[3]),
    ] {
        for rate in [20.0, 200.0] {
            let of = |(at, share): (u64, f64)| false_stretches(100_000 * at, 100, rate, scatter, share);
            let shares: Vec<Share> = (1..).zip(SHARES).map(of).collect();
            let all = shares.iter().copied().fold(Share::default(), Share::merged);
            let most = shares.into_iter().max_by(|a, b| a.ratio().total_cmp(&b.ratio())).unwrap();
            worst = worst.max(all.ratio());
            let seen = (0..200_u64).into_par_iter().map(|seed| {
                let low = SHARES[seed as usize % 4];
                let planted =
                    run(7_000_000 + seed, rate, scatter, 75, |at| if at < 50 { low } else { low + 0.1 });
                let near = |finding: &Finding| {
                    finding.span.first.abs_diff(50) <= 5 && finding.span.last.abs_diff(74) <= 5
                };
                Share::of(found(&planted).iter().any(near))
            });
            let seen = seen.reduce(Share::default, Share::merged);
            println!(
                "| {name} | {rate} | {} | {} | {} of {} | {} of {} |",
                all.all, all.count, most.count, most.all, seen.count, seen.all
            );
        }
    }
    assert!(worst <= 0.01, "see the table above");
}
