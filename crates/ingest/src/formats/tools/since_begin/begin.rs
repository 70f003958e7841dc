//! When the tools of logs without a clock began.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::run::options::time_unit::TimeUnit;

/// The note on a log without a clock if the begin of its tool was not given.
pub(crate) const NOTE: &str = "it has no clock, only times since the tool began: they are stored as times since \
                               1970-01-01 00:00 UTC";

/// The remedy where that moment is needed.
const REMEDY: &str = "Give the time at which the tool started as the origin, in milliseconds since 1970 \
                      (IngestOptions::origin), or ingest the log alone.";

/// Checks the logs of a run, each with whether it has a clock. Returns true if one has none.
///
/// # Errors
/// If a log without a clock is combined with something that has one, a log or the CPU readings at `cpu`, and `origin` is
/// not the begin of its tool in epoch ms.
pub(crate) fn check<'a>(
    logs: impl Iterator<Item = (&'a Place, bool)> + Clone,
    cpu: Option<&Place>,
    origin: Option<i64>,
) -> Result<bool> {
    let Some((without, _)) = logs.clone().find(|(_, has_clock)| !has_clock) else { return Ok(false) };
    let with = logs.clone().find(|(_, has_clock)| *has_clock).map(|(place, _)| place).or(cpu);
    match (with, origin.map(|origin| (origin, TimeUnit::of(origin)))) {
        (Some(with), None) => Err(no_clock(format!(
            "{without} has no clock, only times since its tool began, so {with} can't be matched with it"
        ))),
        (_, Some((origin, Some(unit)))) => {
            Err(no_clock(format!("the origin, {origin}, is a time of this century only in {}", unit.name())))
        }
        _ => Ok(true),
    }
}

/// The error for what needs the moment at which a tool began.
fn no_clock(problem: impl Into<String>) -> Error {
    Error::usage(ErrorKind::NoClock, problem, REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_a_clock_needs_the_moment_of_the_begin() {
        let (hey, jtl, cpu) = (Place::file("hey.csv"), Place::file("run.jtl"), Place::file("cpu.csv"));
        let run = |logs: &[(&Place, bool)], cpu, origin| check(logs.iter().copied(), cpu, origin);
        let begin = Some(1_795_347_884_603);
        assert!(!run(&[(&jtl, true)], Some(&cpu), begin).unwrap());
        assert!(run(&[(&hey, false), (&hey, false)], None, None).unwrap());
        assert!(run(&[(&jtl, true), (&hey, false)], Some(&cpu), begin).unwrap());
        for (logs, cpu, origin, named) in [
            (&[(&hey, false)][..], Some(&cpu), None, "cpu.csv"),
            (&[(&jtl, true), (&hey, false)][..], None, None, "run.jtl"),
            (&[(&hey, false)][..], None, Some(1_795_347_884), "seconds"),
        ] {
            let error = run(logs, cpu, origin).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NoClock);
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
