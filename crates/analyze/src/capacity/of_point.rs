//! What the summary of a load tool shows of an objective: bounds of the share of the requests that were served well.

use perfpipe_model::points::Figures;

use crate::check::Objective;

/// What makes a share smaller than another one.
const LESS: f64 = 1e-9;

/// Returns the least and the greatest share of the requests that an objective may have been kept by, 0 to 1; `None` if the
/// tool reports neither.
///
/// Between two percentiles that were reported, the share is anything between them. Failures count among all requests, by
/// the bounds that the output allows.
pub(super) fn share_bounds(figures: &Figures, objective: &Objective) -> Option<(f64, f64)> {
    let (failures, successes) = (figures.failures?, figures.successes? as f64);
    let of = |failed: u64| {
        let all = successes + failed as f64;
        (all > 0.0).then(|| failed as f64 / all)
    };
    let (least, greatest) = (of(failures.least)?, of(failures.greatest)?);
    if objective.is_of_failures() {
        return Some((1.0 - greatest, 1.0 - least));
    }
    let ms = objective.within_ms()?;
    let latencies = &figures.latencies;
    let extremes = latencies.max_ms.map(|max| (1.0, max));
    let known = latencies.percentiles.iter().map(|one| (one.percent / 100.0, one.ms)).chain(extremes);
    let known: Vec<(f64, f64)> = known.filter(|(share, ms)| share.is_finite() && ms.is_finite()).collect();
    if known.is_empty() {
        return None;
    }
    let within = known.iter().filter(|(_, value)| *value <= ms).map(|(share, _)| *share).fold(0.0, f64::max);
    // Less than so many are within the time.
    let beyond =
        known.iter().filter(|(_, value)| *value > ms).map(|(share, _)| *share - LESS).fold(1.0, f64::min);
    // Some tools' latencies are those of the successes, others' those of all requests: the bounds hold for both.
    Some(((within - greatest).max(0.0), beyond.max(within).min(1.0 - least)))
}

#[cfg(test)]
mod tests {
    use perfpipe_model::points::{Bounds, Latencies};

    use super::*;

    fn figures(failures: Option<Bounds>, percentiles: Vec<(f64, f64)>) -> Figures {
        Figures {
            successes: Some(980),
            failures,
            latencies: Latencies::printed(None, None, percentiles),
            ..Figures::default()
        }
    }

    #[test]
    fn percentiles_bound_the_share() {
        let bounds = |failed: u64, text: &str| {
            let printed = vec![(50.0, 10.0), (90.0, 50.0), (99.0, 300.0)];
            share_bounds(&figures(Some(Bounds::exactly(failed)), printed), &text.parse().unwrap()).unwrap()
        };
        let (least, greatest) = bounds(0, "within 200ms >= 99%");
        assert!(least == 0.9 && greatest < 0.99 && greatest > 0.98999);
        assert_eq!(bounds(0, "within 300ms >= 99%"), (0.99, 1.0));
        let (least, greatest) = bounds(0, "within 5ms >= 99%");
        assert!(least == 0.0 && greatest < 0.5);
        let (least, greatest) = bounds(20, "within 200ms >= 99%");
        assert!((least - 0.88).abs() < 1e-12 && greatest <= 0.98);
        assert_eq!(bounds(20, "failures < 1%"), (0.98, 0.98));
    }

    #[test]
    fn figures_that_are_missing_bound_nothing() {
        let within = "within 200ms >= 99%".parse().unwrap();
        assert_eq!(share_bounds(&Figures::default(), &within), None);
        assert_eq!(share_bounds(&figures(None, vec![(99.0, 1.0)]), &within), None);
        assert_eq!(share_bounds(&figures(Some(Bounds::exactly(0)), Vec::new()), &within), None);
        let odd = figures(Some(Bounds::exactly(0)), vec![(99.0, f64::NAN)]);
        assert_eq!(share_bounds(&odd, &within), None);
        let zero = Figures { successes: Some(0), ..figures(Some(Bounds::exactly(0)), vec![(99.0, 1.0)]) };
        assert_eq!(share_bounds(&zero, &within), None);
        let apdex = "apdex 500ms >= 0.9".parse().unwrap();
        assert_eq!(share_bounds(&figures(Some(Bounds::exactly(0)), vec![(99.0, 1.0)]), &apdex), None);
    }
}
