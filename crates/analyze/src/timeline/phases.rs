//! The phases of a run: the ramp in which its load climbs, the hold in which it is level, and the tail after the hold.

use std::fmt;

use perfpipe_model::StoredRun;

use super::load::LoadCurve;
use crate::error::{Error, NoPhaseReason, Result};
use crate::stats::percentile::upper_median;
use crate::timeline::hold;
use crate::view::View;
use crate::view::phases::{Phase, Phases, Span};

/// A gap in the reports is a silence if it is longer than this many times the usual distance of seconds with a report.
/// If requests come at random, that happens once in a million times.
const SILENCE: f64 = 20.0;

impl Phases {
    /// Finds the phases of a run from all of its seconds, whatever part of it the view selects.
    ///
    /// # Errors
    /// If the run's counts can't be read.
    pub fn of_run(run: &StoredRun, view: &View) -> Result<Self> {
        Ok(Self::of_loads(&LoadCurve::of_run(run, view)?.heard()))
    }

    /// Finds the phases of a load curve: the load of each second from second 0, `None` where it is not known.
    ///
    /// ```
    /// use perfpipe_analyze::{Phases, Span};
    ///
    /// // Four minutes up to 9,000 threads, three minutes held, and ten seconds in which they end.
    /// let ramp = (0..240).map(|second| 37.5 * f64::from(second));
    /// let hold = std::iter::repeat_n(9000.0, 180);
    /// let tail = (1..=10).map(|second| 9000.0 - 900.0 * f64::from(second));
    /// let loads: Vec<Option<f64>> = ramp.chain(hold).chain(tail).map(Some).collect();
    ///
    /// let phases = Phases::of_loads(&loads);
    /// assert_eq!(phases.hold, Some(Span { first: 238, last: 419 }));
    /// assert_eq!(phases.tail, Some(Span { first: 420, last: 429 }));
    ///
    /// // The same without the hold.
    /// assert_eq!(Phases::of_loads(&loads[..240]).hold, None);
    /// ```
    pub fn of_loads(loads: &[Option<f64>]) -> Self {
        let known = |load: &Option<f64>| load.is_some_and(f64::is_finite);
        let (Some(first), Some(last)) = (loads.iter().position(known), loads.iter().rposition(known)) else {
            return Self::default();
        };
        let filled = filled(loads.get(first..=last).unwrap_or_default());
        let span = |first: usize, end: usize| {
            let second = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            (first < end).then(|| Span { first: second(first), last: second(end - 1) })
        };
        match hold::hold_at_peak(&filled).or_else(|| hold::hold_below_peak(&filled)) {
            Some(hold) => Self {
                ramp: span(0, first + hold.start),
                hold: span(first + hold.start, first + hold.end),
                tail: span(first + hold.end, loads.len()),
            },
            None if hold::climbs(&filled) => Self { ramp: span(0, loads.len()), ..Self::default() },
            None => Self::default(),
        }
    }

    /// Returns the seconds of a phase, if the run has it.
    pub fn get(&self, phase: Phase) -> Option<Span> {
        match phase {
            Phase::Ramp => self.ramp,
            Phase::Hold => self.hold,
            Phase::Tail => self.tail,
        }
    }

    /// Returns the phases that the run has, in the order of time.
    pub fn all(&self) -> impl Iterator<Item = (Phase, Span)> + use<> {
        let phases = *self;
        Phase::ALL.into_iter().filter_map(move |phase| Some((phase, phases.get(phase)?)))
    }

    /// Returns the seconds of a phase that must exist.
    ///
    /// # Errors
    /// [`Error::NoPhase`] if the run does not have the phase; an error of reading its counts.
    pub fn require(&self, phase: Phase, run: &StoredRun) -> Result<Span> {
        if let Some(span) = self.get(phase) {
            return Ok(span);
        }
        Err(Error::NoPhase {
            run: run.info.key.to_string(),
            phase,
            because: self.lack(phase, run)?,
            phases: *self,
        })
    }

    /// Returns the reason why the run does not have a phase.
    fn lack(&self, phase: Phase, run: &StoredRun) -> Result<NoPhaseReason> {
        let is_known = |load: &perfpipe_model::counts::InjectorLoad| load.samples > 0;
        let mut known = false;
        for cell in run.cells.sums() {
            known |= cell?.1.injectors.iter().any(is_known);
        }
        if !known {
            return Ok(NoPhaseReason::NoLoad);
        }
        Ok(match (phase, self.hold) {
            (Phase::Ramp, Some(_)) => NoPhaseReason::HeldFromFirst,
            (Phase::Tail, Some(_)) => NoPhaseReason::HeldToLast,
            _ => NoPhaseReason::LevelNowhere,
        })
    }
}

/// Fills gaps in the loads: a second without a report has the load of the one before it, or 0 if the gap is a silence.
fn filled(loads: &[Option<f64>]) -> Vec<f64> {
    let known = |load: &Option<f64>| load.filter(|load| load.is_finite());
    let places: Vec<usize> =
        loads.iter().enumerate().filter(|(_, load)| known(load).is_some()).map(|(at, _)| at).collect();
    let distances: Vec<f64> =
        places.iter().zip(places.iter().skip(1)).map(|(one, next)| (next - one) as f64).collect();
    let longest = SILENCE * upper_median(&distances).unwrap_or(1.0);
    let mut filled = Vec::with_capacity(loads.len());
    for row in loads.chunk_by(|one, next| known(one).is_some() == known(next).is_some()) {
        let before = if row.len() as f64 > longest { 0.0 } else { filled.last().copied().unwrap_or(0.0) };
        filled.extend(row.iter().map(|load| known(load).unwrap_or(before)));
    }
    filled
}

impl fmt::Display for Phases {
    /// Formats the phases as in `ramp (seconds 0 to 49), hold (seconds 50 to 77)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phases: Vec<String> = self
            .all()
            .map(|(phase, Span { first, last })| format!("{phase} (seconds {first} to {last})"))
            .collect();
        f.write_str(if phases.is_empty() { "none" } else { "" })?;
        f.write_str(&phases.join(", "))
    }
}
