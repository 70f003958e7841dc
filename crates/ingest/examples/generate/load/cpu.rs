//! Writes the CPU export for a log: readings that follow the requests of each second, newest first.

use std::io::{self, Write};

use super::random::Random;
use super::{Plan, Tally};

/// The reading at the plan's full rate, in percent of one core.
const FULL: f64 = 144.0;
/// The number of idle seconds before the log; after it there is one less.
const IDLE: i64 = 3;

/// Writes `clock,value`, one line per second. With `gaps`, some seconds are left out.
pub(crate) fn write_cpu(plan: &Plan, tally: &Tally, gaps: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "clock,value")?;
    let Some((first, last)) =
        tally.span_ms.map(|(first, last)| (first.div_euclid(1000), last.div_euclid(1000)))
    else {
        return Ok(());
    };
    let mut random = Random::new(!plan.seed);
    for clock in (first - IDLE..=last + IDLE - 1).rev() {
        let value = reading(
            plan,
            usize::try_from(clock - first).ok().and_then(|second| tally.seconds.get(second)),
            &mut random,
        );
        if !(gaps && is_gap(clock - first, last - first)) {
            writeln!(out, "{clock},{value:.4}")?;
        }
    }
    Ok(())
}

/// Returns the reading of a second. A failure costs the server a tenth of a success.
fn reading(plan: &Plan, requests: Option<&(u64, u64)>, random: &mut Random) -> f64 {
    let noise = random.share();
    let Some((successes, failures)) = requests else { return noise };
    let work = (*successes as f64 + *failures as f64 / 10.0) / plan.rate;
    (2.0 + FULL * work.min(1.2) + 12.0 * (noise - 0.5)).max(0.0)
}

/// Returns true for seven seconds around the middle, and for one second in 37.
fn is_gap(second: i64, seconds: i64) -> bool {
    (0..7).contains(&(second - seconds / 2)) || second.rem_euclid(37) == 11
}
