//! The comparison of a baseline with other sides: runs, or repeats of a run.

use super::change::{Change, Direction, Noise, Outcome};
use super::difference::{
    DifferenceSide, EstimatedDifference, MISSED, OfMean, OfSeconds, degrees_of_both, difference, percent_at,
};
use super::figure::{PartFigure, SumNoise};
use super::measure::{Measure, Part};
use super::measured::{Measured, PartFigures};
use super::memory::ENDLESS;
use super::pairing::{ComparedSides, PairedValues};
use super::repeats::{OfRepeats, Repeats};
use crate::compare::difference;
use crate::stats::mean;
use crate::timeline::unseen::long_failures::LongFailures;
use crate::view::View;

/// The least degrees of freedom of the repeats, for their scatter to be used as noise.
const ENOUGH: usize = 2;

/// One side of a comparison: a run, or all repeats of one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Side {
    /// The side's name in output.
    pub name: String,
    /// The side's runs, at least one.
    pub runs: Vec<Measured>,
}

/// One figure of all runs of a side; none if a run does not have it.
#[derive(Default)]
pub(super) struct SideValues<'a> {
    pub(super) figures: Vec<&'a PartFigure>,
    /// The mean of the runs' values.
    pub(super) mean: Option<f64>,
}

/// One figure of both sides.
pub(super) struct FigurePair<'a> {
    pub(super) part: Part,
    pub(super) measure: Measure,
    pub(super) a: SideValues<'a>,
    pub(super) b: SideValues<'a>,
    /// How much of the figure's noise is slow; `None` if the noise is that of the repeats.
    pub(super) memory: Option<f64>,
    /// True if the figures of both sides are pairs, in one order.
    is_paired: bool,
}

impl<'a> FigurePair<'a> {
    fn new(part: Part, measure: Measure, a: SideValues<'a>, b: SideValues<'a>, is_paired: bool) -> Self {
        let by_repeats = a.figures.len() + b.figures.len() >= ENOUGH + 2;
        let memory = (!by_repeats).then(|| PartFigure::memory(&a.with(&b)));
        Self { part, measure, a, b, memory, is_paired }
    }

    /// Returns the values pair by pair; `None` if the runs are no pairs.
    pub(super) fn paired(&self) -> Option<PairedValues> {
        let (of_a, of_b) = (self.is_paired.then_some(&self.a.figures)?, &self.b.figures);
        let both = of_a.iter().zip(of_b);
        let values: Option<Vec<(f64, f64)>> = both.clone().map(|(a, b)| a.value.zip(b.value)).collect();
        let least: Vec<f64> = both.map(|(a, b)| a.least_error().powi(2) + b.least_error().powi(2)).collect();
        PairedValues::new(&values?, mean(&least))
    }

    /// Computes the difference for a view, not judged yet. `server` is the memory seen in the server's figures.
    fn compared(self, run: &str, view: &View, server: f64) -> Compared<'a> {
        let paired = self.paired();
        let Self { measure, a, b, memory, is_paired, .. } = self;
        let repeats = match is_paired {
            true => paired.and_then(|paired| paired.compared()),
            false => memory.is_none().then(|| a.by_repeats(&b)).flatten(),
        };
        let seconds = memory.and_then(|memory| a.by_seconds(&b, memory, server));
        let known = repeats.map(|repeats| repeats.difference).or(seconds.as_ref().map(|(known, _)| *known));
        let noise = match (memory, repeats) {
            _ if is_paired => Noise::Pairs,
            (Some(_), _) => Noise::Seconds,
            (None, Some(repeats)) if repeats.by_least => Noise::SecondsOfRepeats,
            (None, _) => Noise::Repeats,
        };
        let change = Change {
            run: run.to_owned(),
            part: self.part.within(view),
            measure,
            a: a.mean,
            b: b.mean,
            interval: known.map(|known| known.interval),
            percent_interval: known.and_then(|known| known.percent),
            joint_percent: None,
            p: known.map(|known| known.p),
            p_adjusted: None,
            noise,
            outcome: Outcome::Unknown,
            power: None,
            variance_share: paired.and_then(|paired| paired.variance_share()),
        };
        let (is_sure, of_seconds) = match seconds {
            Some((_, limits)) => (limits.is_sure, Some(JointLimits::Seconds(limits))),
            None => (true, None),
        };
        let limits = match (is_paired, paired, repeats) {
            (true, Some(paired), _) => Some(JointLimits::Pairs(paired)),
            (_, _, Some(repeats)) => Some(JointLimits::Repeats(repeats)),
            _ => of_seconds,
        };
        Compared { change, is_of_whole: self.part == Part::Run, is_sure, repeats, limits }
    }

    /// Returns true if the runs wander. Only throughput over the whole run is tested: it has the least memory of its
    /// own.
    fn wanders(&self) -> bool {
        let is_tested = self.part == Part::Run && self.measure == Measure::Throughput;
        is_tested && self.memory.is_some() && PartFigure::wanders(&self.a.with(&self.b))
    }
}

/// A change, with what is needed to judge it.
struct Compared<'a> {
    change: Change,
    /// True of all that the view has, and not of the hold in it.
    is_of_whole: bool,
    /// True if the noise is known well enough to rule out a difference beyond it.
    is_sure: bool,
    /// The scatter of the repeats, if that is the noise.
    repeats: Option<OfRepeats>,
    /// What gives an interval at any level.
    limits: Option<JointLimits<'a>>,
}

/// What an interval at another level is computed of.
enum JointLimits<'a> {
    Pairs(PairedValues),
    Repeats(OfRepeats),
    Seconds(SecondsLimits<'a>),
}

/// Both sides with the noise of their seconds.
struct SecondsLimits<'a> {
    a: Box<dyn DifferenceSide + 'a>,
    b: Box<dyn DifferenceSide + 'a>,
    /// True if that noise is known well enough to rule out a difference beyond it.
    is_sure: bool,
}

impl JointLimits<'_> {
    /// Returns the interval of the change in percent that a share `level` of intervals misses.
    fn percent(&self, level: f64) -> Option<(f64, f64)> {
        match self {
            Self::Pairs(paired) => paired.percent(level),
            Self::Repeats(repeats) => repeats.percent(level),
            Self::Seconds(SecondsLimits { a, b, .. }) => {
                percent_at(&**a, &**b, degrees_of_both(&**a, &**b), level)
            }
        }
    }
}

impl Compared<'_> {
    /// Returns the place of the figure among those that decide; `None` if it is exploratory.
    fn place(&self, decide: &[Measure]) -> Option<usize> {
        if decide.is_empty() {
            return Some(0);
        }
        decide.iter().position(|measure| self.is_of_whole && *measure == self.change.measure)
    }
}

impl Side {
    /// Creates a side from runs. Its name is the key of the only run, or of several the first key without a repeat
    /// number.
    pub fn of(runs: Vec<Measured>) -> Self {
        let name = match runs.as_slice() {
            [] => String::new(),
            [only] => only.info().key.to_string(),
            [first, ..] => first.info().key.clone().with_repeat(1).to_string(),
        };
        Self { name, runs }
    }

    /// Returns the figures of the side's runs, by their names in the summary: of series, those of any run.
    pub fn measures(&self) -> Vec<&Measure> {
        measures(self, &[], Part::Run)
    }

    /// Returns the mean of a figure over the side's runs, of all seconds that their views have; `None` if a run lacks it.
    pub(crate) fn mean(&self, measure: &Measure) -> Option<f64> {
        self.values(Part::Run, measure)?.mean
    }

    /// Returns which requests the times of the side's runs leave out, as sentences without their full stops.
    pub fn remarks(&self) -> Vec<String> {
        let long = LongFailures::of_repeats(self.runs.iter().map(|run| run.long_failures));
        let long = long.map(|found| format!("{}: {}", self.name, found.remark()));
        let outstanding = self
            .runs
            .iter()
            .filter_map(|run| run.outstanding.map(|found| format!("{}: {}", run.info().key, found.remark())));
        long.into_iter().chain(outstanding).collect()
    }

    /// Returns true if all runs have this part.
    fn has(&self, part: Part) -> bool {
        self.runs.iter().all(|run| run.parts.iter().any(|own| own.part == part))
    }

    /// Returns one figure of the side, if all its runs have it.
    fn values(&self, part: Part, measure: &Measure) -> Option<SideValues<'_>> {
        let figures: Option<Vec<&PartFigure>> =
            self.runs.iter().map(|run| run.figure(part, measure)).collect();
        let figures = figures.filter(|figures| !figures.is_empty())?;
        let sum: Option<f64> = figures.iter().map(|figure| figure.value).sum();
        let mean = sum.map(|sum| sum / figures.len() as f64);
        Some(SideValues { figures, mean })
    }
}

/// Compares other sides with a baseline, each by itself.
///
/// The figures are throughput, failures, CPU, mean elapsed, the baseline's percentiles, and the mean and the greatest
/// value of each of the server's other series, for the whole run, and for the hold if all runs have one. They are those
/// of each run's [`Timeline`](crate::Timeline). A series that not all runs have in the same unit has no value on the side
/// where it lacks, and an unknown outcome.
///
/// # Figures that decide
/// `decide` names the figures that decide, of all seconds that the views have; they come first, in this order. All others
/// are exploratory: they have an interval and a p-value, and no outcome. Without any, all figures decide jointly. The fewer
/// decide, the smaller are the differences that can be shown.
///
/// # Noise
/// Runs in pairs ([`Pairing`](super::Pairing)) are compared within them, if there are at least two: the noise is the scatter of
/// the differences within pairs (Student's t test), and runs that are in no pair are left out.
///
/// Otherwise, with at least three repeats on one side and one on the other, or two on each, the noise is the scatter of the
/// repeats: Student's t test with a pooled variance for equal numbers, for unequal ones that or Welch's, whichever is
/// wider; a single run is assumed to scatter as the other side's runs do. It contains the differences between starts of a
/// server. Repeats are assumed to scatter at least as much as the seconds within them; where they do not,
/// [`Change::noise`] is [`Noise::SecondsOfRepeats`].
///
/// Of fewer runs the noise is the scatter of the seconds within the runs, each phase by itself. Its memory, that is, how
/// long a second affects those after it, is estimated from the runs (Politis and White 2004). The variance of a mean is
/// estimated from the slowest cosines of the seconds, as many as there are blocks of that length (Müller 2007), and
/// Student's t widens intervals that rest on few of them. Percentiles have limits from the number of requests that
/// exceed them (Woodruff 1952), failures have limits of counts.
///
/// # Outcome
/// A difference is a change if chance makes one as large, in any of the figures that decide, in less than one of a
/// hundred comparisons (Holm 1979): one of these runs only ([`Outcome::TheseRuns`]), where the noise is that of the seconds
/// of single starts. The outcome is unknown if a run has fewer than 24 seconds, or fewer than seven blocks by any figure that
/// depends on the server, unless the difference is beyond noise even if all seconds of a run varied as one.
pub fn compare_sides(baseline: &Side, others: &[Side], decide: &[Measure]) -> Vec<Change> {
    let sides: Vec<(ComparedSides<'_>, &Side)> =
        others.iter().map(|other| (ComparedSides::new(baseline, other), other)).collect();
    let mut all = Vec::new();
    for (sides, other) in &sides {
        let mut of_side = against(baseline, other, sides);
        of_side.sort_by_key(|compared| compared.place(decide).unwrap_or(usize::MAX));
        all.extend(of_side);
    }
    judge(&mut all, decide);
    all.into_iter().map(|compared| compared.change).collect()
}

/// Computes the differences of one side, not judged yet.
fn against<'a>(baseline: &Side, other: &Side, sides: &'a ComparedSides<'_>) -> Vec<Compared<'a>> {
    let figures = figures(sides);
    let server = memory_of_server(&figures);
    let view = baseline.runs.first().map(|run| run.view().clone()).unwrap_or_default();
    figures.into_iter().map(|figure| figure.compared(&other.name, &view, server)).collect()
}

/// Returns the figures that both sides have, of each part.
pub(super) fn figures<'a>(sides: &'a ComparedSides<'_>) -> Vec<FigurePair<'a>> {
    let (baseline, other): (&Side, &Side) = (&sides.a, &sides.b);
    let parts = baseline.runs.first().map_or(&[][..], |run| &run.parts);
    let measures = |PartFigures { part, .. }: &'a PartFigures| {
        measures(baseline, &other.runs, *part).into_iter().map(|measure| (*part, measure))
    };
    parts
        .iter()
        .flat_map(measures)
        .filter_map(|(part, measure)| {
            let (a, b) = (baseline.values(part, measure), other.values(part, measure));
            // A series that only one side has is reported all the same.
            let (a, b) = if measure.series().is_some() && other.has(part) {
                (a.unwrap_or_default(), b.unwrap_or_default())
            } else {
                (a?, b?)
            };
            Some(FigurePair::new(part, measure.clone(), a, b, sides.is_paired))
        })
        .collect()
}

/// Returns the figures of a part: those of the baseline's first run, and the series of all other runs.
fn measures<'a>(baseline: &'a Side, others: &'a [Measured], part: Part) -> Vec<&'a Measure> {
    let mut all: Vec<&Measure> = Vec::new();
    for (at, run) in baseline.runs.iter().chain(others).enumerate() {
        for measure in run.measures(part).filter(|measure| at == 0 || measure.series().is_some()) {
            if !all.contains(&measure) {
                all.push(measure);
            }
        }
    }
    all
}

/// Returns the longest memory among the figures of the server: slow noise in one of them is slow noise of the server,
/// and may be in all others.
pub(super) fn memory_of_server(pairs: &[FigurePair<'_>]) -> f64 {
    if pairs.iter().any(FigurePair::wanders) {
        return ENDLESS;
    }
    let of_server = pairs.iter().filter(|pair| pair.measure.is_of_server());
    of_server.filter_map(|pair| pair.memory).fold(0.0, f64::max)
}

/// Sets the outcome of each difference, adjusted for all that decide.
fn judge(all: &mut [Compared<'_>], decide: &[Measure]) {
    // A figure that is 0 on both sides can't be a false alarm, so it does not count.
    let could_be = |change: &Change| change.p.is_some() && !(change.a == Some(0.0) && change.b == Some(0.0));
    let decides = |compared: &Compared| compared.place(decide).is_some();
    let members = all.iter().filter(|compared| decides(compared) && could_be(&compared.change));
    let likelihoods: Vec<f64> = members.filter_map(|compared| compared.change.p).collect();
    let mut family = difference::adjusted(&likelihoods).into_iter();
    let first = MISSED / likelihoods.len().max(1) as f64;
    for compared in &mut *all {
        let decides = decides(compared);
        let Compared { change, is_sure, repeats, limits, .. } = compared;
        let member = if decides && could_be(change) { family.next() } else { None };
        change.p_adjusted = member.map(|member| member.adjusted).or(change.p.filter(|_| decides));
        let joint = member.zip(change.p).map(|(member, p)| member.joint_level(p));
        let joint = joint.zip(limits.as_ref()).filter(|_| change.percent_interval.is_some());
        change.joint_percent = joint.and_then(|(level, limits)| limits.percent(level));
        change.power = member.zip(*repeats).and_then(|(member, repeats)| repeats.power(member.level, first));
        let direction = Direction::of(change.measure.growth(), change.b > change.a);
        let is_beyond = change.p_adjusted.or(change.p).is_some_and(|p| p < MISSED);
        let shown = if change.noise == Noise::Seconds { Outcome::TheseRuns } else { Outcome::Shown };
        change.outcome = match change.p {
            Some(_) if !decides && (is_beyond || *is_sure) => Outcome::Exploratory,
            Some(_) if is_beyond => shown(direction),
            Some(_) if *is_sure => Outcome::NotShown,
            _ => Outcome::Unknown,
        };
        if change.outcome == Outcome::Unknown {
            (change.interval, change.percent_interval, change.joint_percent) = (None, None, None);
            (change.p, change.p_adjusted) = (None, None);
        }
    }
}

impl<'a> SideValues<'a> {
    /// Returns the figures of both sides.
    fn with(&self, other: &Self) -> Vec<&'a PartFigure> {
        self.figures.iter().chain(&other.figures).copied().collect()
    }

    /// Computes the difference with the scatter of the seconds as noise.
    fn by_seconds(
        &self,
        other: &Self,
        own: f64,
        server: f64,
    ) -> Option<(EstimatedDifference, SecondsLimits<'a>)> {
        let (memory, is_sure) = self.memory_with(other, own, server)?;
        let (a, b) = (self.side(memory), other.side(memory));
        Some((difference(&*a, &*b)?, SecondsLimits { a, b, is_sure }))
    }

    /// Returns the memory of the seconds' noise, and true if that noise is known well enough to rule out a difference
    /// beyond it; `None` if the seconds of a run say nothing about its noise.
    pub(super) fn memory_with(&self, other: &Self, own: f64, server: f64) -> Option<(f64, bool)> {
        let all = self.with(other);
        if self.mean.is_none() || other.mean.is_none() || all.iter().any(|figure| figure.scatters.is_empty())
        {
            return None;
        }
        let enough = |memory| all.iter().all(|figure| figure.has_enough(memory));
        let memory = if enough(server) { own } else { server };
        Some((memory, self.mean == other.mean || enough(memory)))
    }

    /// Returns the side with the noise of its seconds.
    pub(super) fn side(&self, memory: f64) -> Box<dyn DifferenceSide + 'a> {
        if let [figure] = *self.figures.as_slice() {
            return Box::new(OfSeconds { figure, noise: figure.noise(memory) });
        }
        let noises: Vec<(&PartFigure, SumNoise)> =
            self.figures.iter().map(|figure| (*figure, figure.noise(memory))).collect();
        let squares: f64 = noises.iter().map(|(figure, noise)| figure.error(*noise).powi(2)).sum();
        let degrees = noises.iter().map(|(_, noise)| noise.degrees).fold(f64::INFINITY, f64::min);
        let error = squares.sqrt() / self.figures.len() as f64;
        Box::new(OfMean { mean: self.mean.unwrap_or(f64::NAN), error, degrees })
    }

    /// Computes the difference with the scatter of the repeats as noise.
    fn by_repeats(&self, other: &Self) -> Option<OfRepeats> {
        self.repeats()?.compared(other.repeats()?)
    }

    /// Returns the values of the repeats, each of which scatters at least as its seconds do.
    pub(super) fn repeats(&self) -> Option<Repeats> {
        let values: Option<Vec<f64>> = self.figures.iter().map(|figure| figure.value).collect();
        let memory = PartFigure::memory(&self.figures);
        // What may be more, but is not known to be, is no scatter of theirs.
        let errors = self.figures.iter().map(|figure| figure.error(figure.least_noise(memory)));
        let squares: f64 = errors.filter(|error| error.is_finite()).map(|error| error * error).sum();
        Repeats::of(&values?, squares / self.figures.len().max(1) as f64)
    }
}
