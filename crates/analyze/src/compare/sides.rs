//! A baseline against others: runs, or repeats of one.

use super::change::{Change, Noise, Outcome};
use super::difference::{Difference, MISSED, OfMean, OfSeconds, Side as Known, difference};
use super::family;
use super::figure::{Figure, Noise as FigureNoise};
use super::measured::{Growth, Measure, Measured, Part};
use super::memory::ENDLESS;

/// Degrees of freedom without which repeats say too little of their noise.
const ENOUGH: usize = 2;

/// What is compared as one: a run, or all repeats of one.
#[derive(Debug, Clone)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Its runs, one or more.
    pub runs: Vec<Measured>,
}

/// One figure of all runs of a side.
struct Values<'a> {
    figures: Vec<&'a Figure>,
    /// Their mean.
    mean: Option<f64>,
}

/// A figure of two sides.
struct Pair<'a> {
    part: &'static str,
    measure: &'a Measure,
    a: Values<'a>,
    b: Values<'a>,
    /// How much of the figure's noise is slow, where it is that of the seconds.
    memory: Option<f64>,
}

impl<'a> Pair<'a> {
    fn new(part: &'static str, measure: &'a Measure, a: Values<'a>, b: Values<'a>) -> Self {
        let by_repeats = a.figures.len() + b.figures.len() >= ENOUGH + 2;
        let memory = (!by_repeats).then(|| Figure::memory(&a.with(&b)));
        Self { part, measure, a, b, memory }
    }

    /// The difference, not judged yet, where so long a memory is seen of the server.
    fn compared(&self, run: &str, server: f64) -> Compared {
        let Self { part, measure, a, b, memory } = self;
        let (known, is_sure, noise) = match memory {
            None => (a.by_repeats(b), true, Noise::Repeats),
            Some(memory) => {
                let (known, is_sure) = a.by_seconds(b, *memory, server).unzip();
                (known, is_sure.unwrap_or(false), Noise::Seconds)
            }
        };
        let change = Change {
            run: run.to_owned(),
            part,
            measure: measure.name.clone(),
            unit: measure.unit,
            a: a.mean,
            b: b.mean,
            interval: known.map(|known| known.interval),
            p: known.map(|known| known.p),
            p_adjusted: None,
            noise,
            outcome: Outcome::Unknown,
        };
        Compared { change, growth: measure.growth, is_sure }
    }

    /// Whether the whole run wanders, by the figure that has the least memory of its own.
    fn wanders(&self) -> bool {
        let is_told = self.part == "run" && self.measure.name == "throughput";
        is_told && self.memory.is_some() && Figure::wanders(&self.a.with(&self.b))
    }
}

/// A change, and what it takes to judge it.
struct Compared {
    change: Change,
    growth: Growth,
    /// Whether the noise is known well enough to say that there is nothing beyond it.
    is_sure: bool,
}

impl Side {
    /// A side of these runs, called as the first of them; without its number, where there are several.
    pub fn of(runs: Vec<Measured>) -> Self {
        let name = match runs.as_slice() {
            [] => String::new(),
            [only] => only.key.to_string(),
            [first, ..] => first.key.clone().with_repeat(1).to_string(),
        };
        Self { name, runs }
    }

    /// One figure, if all runs have it.
    fn values(&self, part: &str, measure: &Measure) -> Option<Values<'_>> {
        let figures: Option<Vec<&Figure>> = self.runs.iter().map(|run| run.figure(part, measure)).collect();
        let figures = figures.filter(|figures| !figures.is_empty())?;
        let sum: Option<f64> = figures.iter().map(|figure| figure.value).sum();
        let mean = sum.map(|sum| sum / figures.len() as f64);
        Some(Values { figures, mean })
    }
}

/// Compares other sides with a baseline, each by itself: throughput, failures, CPU, and elapsed by its mean and the
/// baseline's percentiles; for the whole run, and for the hold where all runs have one.
///
/// A difference is held against noise. With three repeats on one side and one or more on the other, or two on each,
/// that is the scatter of the repeats (Welch's t test; a single run is taken to scatter as the other side's do): it has
/// in it what differs from one start of a server to the next. Else it is the scatter of the seconds within the runs, each
/// phase by itself, with the memory that they have: how long a second acts on those after it is told from the runs
/// (Politis and White 2004), the variance of a mean from the slowest cosines of the seconds, as many as there are blocks
/// of that length (Müller 2007), and the widening of intervals for few of them by Student's t. Percentiles are bounded by
/// the times at the limits of how many requests exceed them (Woodruff 1952), failures as counts.
///
/// A change is called where chance would make so large a one, in any of all figures that are compared at once, in one of
/// a hundred comparisons (Holm 1979). It is unknown where a run has fewer than 24 seconds, or fewer than seven blocks by
/// any figure that tells of the server, unless the difference is beyond noise even if all seconds of a run went up and
/// down as one.
pub fn compare_sides(baseline: &Side, others: &[Side]) -> Vec<Change> {
    let mut all: Vec<Compared> = others.iter().flat_map(|other| against(baseline, other)).collect();
    judge(&mut all);
    all.into_iter().map(|compared| compared.change).collect()
}

/// The differences of one side, not judged yet.
fn against<'a>(baseline: &'a Side, other: &'a Side) -> impl Iterator<Item = Compared> {
    let parts = baseline.runs.first().map_or(&[][..], |run| &run.parts);
    let measures = |(part, figures): &'a Part| figures.iter().map(move |(measure, _)| (*part, measure));
    let pairs: Vec<Pair<'_>> = parts
        .iter()
        .flat_map(measures)
        .filter_map(|(part, measure)| {
            Some(Pair::new(part, measure, baseline.values(part, measure)?, other.values(part, measure)?))
        })
        .collect();
    let server = memory_of_server(&pairs);
    pairs.into_iter().map(move |pair| pair.compared(&other.name, server))
}

/// The longest memory of what requests tell of the server: slow noise of one figure is slow noise of the server, and so
/// may be in all others.
fn memory_of_server(pairs: &[Pair<'_>]) -> f64 {
    if pairs.iter().any(Pair::wanders) {
        return ENDLESS;
    }
    let of_server = pairs.iter().filter(|pair| pair.measure.is_of_server());
    of_server.filter_map(|pair| pair.memory).fold(0.0, f64::max)
}

/// Says what each difference is, among all of them.
fn judge(all: &mut [Compared]) {
    // Where nothing could ever be called (no failure on either side), nothing is called by chance.
    let could_be = |change: &Change| change.p.is_some() && !(change.a == Some(0.0) && change.b == Some(0.0));
    let members = || all.iter().filter(|compared| could_be(&compared.change));
    let likelihoods: Vec<f64> = members().filter_map(|compared| compared.change.p).collect();
    let mut adjusted = family::adjusted(&likelihoods).into_iter();
    for Compared { change, growth, is_sure } in all {
        change.p_adjusted = if could_be(change) { adjusted.next() } else { change.p };
        change.outcome = match change.p_adjusted {
            Some(p) if p < MISSED => Outcome::beyond_noise(*growth, change.b > change.a),
            Some(_) if *is_sure => Outcome::Noise,
            _ => Outcome::Unknown,
        };
        if change.outcome == Outcome::Unknown {
            (change.interval, change.p, change.p_adjusted) = (None, None, None);
        }
    }
}

impl Values<'_> {
    /// The figures of both sides.
    fn with(&self, other: &Self) -> Vec<&Figure> {
        self.figures.iter().chain(&other.figures).copied().collect()
    }

    /// The difference held against the scatter of the seconds, and whether that is known well enough to say that there
    /// is none.
    fn by_seconds(&self, other: &Self, own: f64, server: f64) -> Option<(Difference, bool)> {
        let all = self.with(other);
        if self.mean.is_none() || other.mean.is_none() || all.iter().any(|figure| figure.scatters.is_empty())
        {
            return None;
        }
        let enough = |memory| all.iter().all(|figure| figure.has_enough(memory));
        let memory = if enough(server) { own } else { server };
        let is_sure = self.mean == other.mean || enough(memory);
        Some((difference(&*self.side(memory), &*other.side(memory))?, is_sure))
    }

    fn side(&self, memory: f64) -> Box<dyn Known + '_> {
        if let [figure] = self.figures.as_slice() {
            return Box::new(OfSeconds { figure, noise: figure.noise(memory) });
        }
        let noises: Vec<(&Figure, FigureNoise)> =
            self.figures.iter().map(|figure| (*figure, figure.noise(memory))).collect();
        let squares: f64 = noises.iter().map(|(figure, noise)| figure.error(*noise).powi(2)).sum();
        let degrees = noises.iter().map(|(_, noise)| noise.degrees).fold(f64::INFINITY, f64::min);
        let error = squares.sqrt() / self.figures.len() as f64;
        Box::new(OfMean { mean: self.mean.unwrap_or(f64::NAN), error, degrees })
    }

    /// The difference held against the scatter of the repeats.
    fn by_repeats(&self, other: &Self) -> Option<Difference> {
        let (a, b) = (self.mean?, other.mean?);
        let (of_a, of_b) = (self.between(), other.between());
        let side = |values: &Self, mean, own: Option<f64>, others: Option<f64>| {
            let variance = own.or(others)?;
            let repeats = values.figures.len() as f64;
            Some(OfMean { mean, error: (variance / repeats).sqrt(), degrees: repeats - 1.0 })
        };
        let (mut one, mut two) = (side(self, a, of_a, of_b)?, side(other, b, of_b, of_a)?);
        // One noise for both sides is known by the repeats of the side that has several.
        let most = one.degrees.max(two.degrees);
        if of_a.is_none() || of_b.is_none() {
            let together = OfMean { mean: 0.0, error: one.error.hypot(two.error), degrees: most };
            (one, two) = (OfMean { mean: a, ..together }, OfMean { mean: b, error: 0.0, degrees: most });
        }
        difference(&one, &two)
    }

    /// The variance of the repeats, and no less than that of the seconds within them; `None` of a single one.
    fn between(&self) -> Option<f64> {
        let mean = self.mean.filter(|_| self.figures.len() > 1)?;
        let squares = self.figures.iter().filter_map(|figure| Some((figure.value? - mean).powi(2)));
        let variance = squares.sum::<f64>() / (self.figures.len() - 1) as f64;
        let memory = Figure::memory(&self.figures);
        let errors = self.figures.iter().map(|figure| figure.error(figure.noise(memory)));
        let within: f64 = errors.filter(|error| error.is_finite()).map(|error| error * error).sum();
        Some(variance.max(within / self.figures.len() as f64))
    }
}
