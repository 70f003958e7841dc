//! Reads any bytes as the outputs of load tools.

use crate::formats::summaries::point::Figures;
use crate::formats::summaries::tools::ab::AbFile;
use crate::points::{FoundSection, PointNames, named_points, sections};

/// Reads any bytes as outputs of load tools. Each section has figures or a reason why it has none, no figure is negative
/// or without end, and sections get different keys.
pub fn summaries(data: &[u8]) {
    let found = sections(data);
    // Where there are no line feeds, lines end in carriage returns.
    let lines = data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    assert!(found.ignored <= lines && found.first_ignored.is_some() == (found.ignored > 0));
    for section in &found.sections {
        assert!((1..=lines).contains(&section.line), "{section:?}");
        check(section);
    }
    let names = PointNames { framework: Some("f".into()), test: Some("t".into()), ..PointNames::default() };
    let points = named_points(&[("f".to_owned(), found.sections.clone())], &names).unwrap();
    assert_eq!(points.len(), found.sections.len());
    for point in &points {
        let text = serde_json::to_string(point).unwrap();
        assert_eq!(serde_json::from_str::<crate::points::Point>(&text).unwrap(), *point);
    }
    if let Some(kind) = AbFile::of(data) {
        let _ = kind.refine(&mut &*data, &mut Figures::default()).unwrap();
    }
}

fn check(section: &FoundSection) {
    let figures = &section.figures;
    assert!(
        figures.aborted.is_some() || figures.requests.is_some(),
        "neither figures nor a reason: {section:?}"
    );
    let latencies = &figures.latencies;
    let told = [
        figures.duration,
        figures.throughput(),
        figures.little_ms(),
        figures.answers_per_second,
        figures.bytes_per_second,
        latencies.mean_ms,
        latencies.max_ms,
    ];
    let percentiles = latencies.percentiles.iter().map(|percentile| percentile.ms);
    assert!(
        told.into_iter().flatten().chain(percentiles).all(|number| number.is_finite() && number >= 0.0),
        "{section:?}"
    );
    assert!(figures.failures.is_none_or(|failures| failures.least <= failures.greatest));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::summaries;
    use crate::formats::summaries::fixtures::{FORMS, path};

    proptest! {
        #[test]
        fn cut_and_changed_outputs_do_no_harm(
            which in 0..FORMS.len(), at in any::<[prop::sample::Index; 3]>(), byte in any::<u8>(),
        ) {
            let mut bytes = std::fs::read(path(FORMS[which])).unwrap();
            summaries(&bytes[..at[0].index(bytes.len())]);
            summaries(&bytes[at[1].index(bytes.len())..]);
            let place = at[2].index(bytes.len());
            bytes[place] = byte;
            summaries(&bytes);
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            summaries(&bytes);
        }
    }
}
