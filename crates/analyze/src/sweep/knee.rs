//! The knee of throughput over load: the point at which the two asymptotic bounds of a closed system meet.

/// The load at which throughput stops growing.
///
/// By its asymptotic bounds (Denning & Buzen, "The operational analysis of queueing network models", 1978; Lazowska et
/// al., "Quantitative system performance", 1984, chapter 5), a closed system has at most the throughput min(N / R, X),
/// with N clients, each of which gets an answer every R while nobody waits, and the capacity X. The two bounds meet at
/// N* = R · X: with fewer clients the system is partly idle, with more of them requests wait.
///
/// R is measured at the load with the highest throughput per thread; X is the highest throughput. If the least load
/// already has at least 95 % of X, nothing was seen below the knee, which is then at that load or below it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Knee {
    /// N*, in threads; the least load if the sweep begins beyond the knee.
    pub load: f64,
    /// X, in successes per second.
    pub throughput: f64,
    /// The index in [`crate::Sweep::steps`] of the first step that is not below N*.
    pub step: usize,
    /// True if the sweep begins beyond the knee, which is then at `load` or below.
    pub begins_beyond: bool,
}

impl Knee {
    /// Returns the words before the load in a sentence: `at about`, or `at or below`.
    pub fn at(&self) -> &'static str {
        if self.begins_beyond { "at or below" } else { "at about" }
    }
}

/// The course of throughput over the loads that last at least 3 seconds. Describes a sweep without a knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// There are fewer than three such loads.
    Untold,
    /// Throughput is nowhere more than 5 % above that at the least load.
    Flat,
    /// Throughput is highest at one step, an index in [`crate::Sweep::steps`], and more than 5 % lower at the greatest
    /// load.
    Peaks(usize),
    /// Otherwise: throughput is not seen to stop growing.
    GoesOn,
}

impl Growth {
    /// Classifies steps, given as indexes with their throughput, in ascending order of load.
    pub(crate) fn of(steps: &[(usize, f64)]) -> Self {
        let largest = |one: (usize, f64), next: &(usize, f64)| if next.1 > one.1 { *next } else { one };
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else { return Self::Untold };
        let most = steps.iter().fold(*first, largest);
        if steps.len() < POINTS {
            Self::Untold
        } else if most.1 * ALL_BUT <= first.1 {
            Self::Flat
        } else if last.1 < most.1 * ALL_BUT {
            Self::Peaks(most.0)
        } else {
            Self::GoesOn
        }
    }
}

/// The throughput at one load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) load: f64,
    /// The median throughput of the seconds.
    pub(crate) throughput: f64,
    /// The standard error of the throughput.
    pub(crate) error: f64,
    /// The index of the step.
    pub(crate) step: usize,
}

/// The least number of loads for a conclusion.
const POINTS: usize = 3;
/// This share of a throughput counts as all of it.
const ALL_BUT: f64 = 0.95;
/// The least ratio of the greatest load to that at the knee.
const BEYOND: f64 = 1.25;
/// The least share of the capacity that is reached at the knee.
pub(crate) const REACHED: f64 = 0.8;
/// The largest share of the load's growth beyond the knee that throughput may follow.
const FOLLOWED: f64 = 1.0 / 3.0;
/// The number of standard errors by which throughput must fall short of growing with the load.
const ERRORS: f64 = 3.0;

/// Finds the knee, if throughput stops growing while the load still grows, and noise does not explain that. The points
/// must be in ascending order of load.
pub(crate) fn find(points: &[Point]) -> Option<Knee> {
    let (least, top) = points.first().zip(points.last()).filter(|_| points.len() >= POINTS)?;
    let throughput = points.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let best = points.iter().map(|point| point.throughput / point.load).fold(0.0, f64::max);
    let begins_beyond = least.throughput >= ALL_BUT * throughput;
    let load = if begins_beyond { least.load } else { throughput / best };
    let knee = points.iter().find(|point| point.load >= load * (1.0 - 1e-9))?;
    let grown = top.load / knee.load;
    let follows = throughput / knee.throughput - 1.0 > FOLLOWED * (grown - 1.0);
    if grown < BEYOND || knee.throughput < REACHED * throughput || follows {
        return None;
    }
    let short = knee.throughput * grown - top.throughput;
    let error = (grown * knee.error).hypot(top.error);
    (short >= ERRORS * error).then_some(Knee { load, throughput, step: knee.step, begins_beyond })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knee_of(throughput: impl Fn(f64) -> f64, loads: &[f64]) -> Option<Knee> {
        let point = |(step, load): (usize, &f64)| {
            let throughput = throughput(*load);
            Point { load: *load, throughput, error: throughput.sqrt() / 3.0, step }
        };
        let points: Vec<Point> = loads.iter().enumerate().map(point).collect();
        find(&points)
    }

    /// Mean value analysis (Reiser & Lavenberg, 1980) of clients that think for `think` s and share a server that
    /// takes `service` s per request.
    fn closed_system(think: f64, service: f64) -> impl Fn(f64) -> f64 {
        move |clients| {
            let mut waiting = 0.0;
            let mut throughput = 0.0;
            for n in 1..=clients as u32 {
                let response = service * (1.0 + waiting);
                throughput = f64::from(n) / (think + response);
                waiting = throughput * response;
            }
            throughput
        }
    }

    const STEPS: [f64; 8] = [5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 80.0];

    #[test]
    fn closed_system_has_its_knee_where_its_bounds_meet() {
        // 20 clients keep the server busy: (0.019 + 0.001) / 0.001.
        let knee = knee_of(closed_system(0.019, 0.001), &STEPS).unwrap();
        assert!((knee.load - 20.0).abs() < 1.5, "{knee:?}");
        assert!((knee.throughput - 1000.0).abs() < 1.0, "{knee:?}");
        let sharp = knee_of(|load| (load * 76.0).min(1750.0), &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]).unwrap();
        assert!((sharp.load - 1750.0 / 76.0).abs() < 1e-9 && sharp.step == 2, "{sharp:?}");
    }

    #[test]
    fn sweep_that_begins_beyond_its_knee_says_so() {
        // The knee is at 8 clients.
        let noisy = |load: f64| closed_system(0.007, 0.001)(load) * if load == 60.0 { 1.02 } else { 1.0 };
        let knee = knee_of(noisy, &[20.0, 40.0, 60.0, 80.0]).unwrap();
        assert_eq!((knee.load, knee.step, knee.begins_beyond), (20.0, 0, true));
        assert_eq!(knee.at(), "at or below");
        let falling = knee_of(|load| 1000.0 - 5.0 * load, &[20.0, 40.0, 60.0, 80.0]).unwrap();
        assert_eq!((falling.load, falling.step, falling.begins_beyond), (20.0, 0, true));
        let within = knee_of(closed_system(0.029, 0.001), &[20.0, 40.0, 60.0, 80.0]).unwrap();
        assert!(!within.begins_beyond && within.at() == "at about", "{within:?}");
    }

    #[test]
    fn throughput_without_a_knee_is_classified() {
        let of =
            |throughputs: &[f64]| Growth::of(&throughputs.iter().copied().enumerate().collect::<Vec<_>>());
        assert_eq!(of(&[]), Growth::Untold);
        assert_eq!(of(&[50.0, 40.0]), Growth::Untold);
        assert_eq!(of(&[50.0, 51.0, 52.0]), Growth::Flat);
        assert_eq!(of(&[50.0, 40.0, 30.0]), Growth::Flat);
        assert_eq!(of(&[0.0, 0.0, 0.0]), Growth::Flat);
        assert_eq!(of(&[10.0, 50.0, 30.0]), Growth::Peaks(1));
        assert_eq!(of(&[10.0, 20.0, 30.0]), Growth::GoesOn);
        assert_eq!(of(&[10.0, 30.0, 29.0]), Growth::GoesOn);
    }

    #[test]
    fn throughput_that_falls_beyond_the_knee_has_one_too() {
        let knee =
            knee_of(|load| if load <= 20.0 { 50.0 * load } else { 1000.0 - 5.0 * (load - 20.0) }, &STEPS);
        assert_eq!(knee.unwrap().step, 3);
    }

    #[test]
    fn throughput_that_goes_on_to_grow_has_no_knee() {
        assert_eq!(knee_of(|load| 50.0 * load, &STEPS), None);
        assert_eq!(knee_of(|load| 50.0 * load.powf(0.9), &STEPS), None);
        assert_eq!(knee_of(|load| 300.0 * load.sqrt(), &STEPS), None);
        assert_eq!(knee_of(closed_system(0.5, 0.001), &STEPS), None, "far below its knee");
        // It flattens at the last load only, which may also be due to the end of the test.
        assert_eq!(knee_of(|load| (50.0 * load).min(3500.0), &STEPS), None);
    }

    #[test]
    fn few_loads_and_few_requests_tell_nothing() {
        assert_eq!(knee_of(|load| (load * 76.0).min(1750.0), &[10.0, 60.0]), None);
        let few = |load: f64| Point { load, throughput: load.min(20.0) / 10.0, error: 2.0, step: 0 };
        assert!(find(&STEPS.map(few)).is_none());
        assert!(find(&STEPS.map(|load| Point { throughput: 0.0, ..few(load) })).is_none());
    }
}
