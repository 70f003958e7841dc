//! Tests of the colours for all kinds of colour vision.

use crate::layout::legend::Swatch;
use crate::pages::sweep;
use crate::palette::{Color, SERIES, STEPS, quantile_color};
use crate::style::{Palette, Style};
use crate::support;

/// Normal vision, and full protanopia, deuteranopia and tritanopia, on linear RGB: Machado, Oliveira & Fernandes, "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.0.
const EYES: [(&str, [[f64; 3]; 3]); 4] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protan",
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    ),
    (
        "deutan",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    (
        "tritan",
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ),
];

/// sRGB (D65) to XYZ: IEC 61966-2-1.
const XYZ: [[f64; 3]; 3] = [
    [0.412_456_4, 0.357_576_1, 0.180_437_5],
    [0.212_672_9, 0.715_152_2, 0.072_175],
    [0.019_333_9, 0.119_192, 0.950_304_1],
];

fn times(matrix: [[f64; 3]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

fn linear(Color(red, green, blue): Color) -> [f64; 3] {
    [red, green, blue].map(|part| match f64::from(part) / 255.0 {
        part if part <= 0.04045 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    })
}

/// A colour in CIELAB, as seen by given eyes.
fn seen(color: Color, eyes: [[f64; 3]; 3]) -> [f64; 3] {
    let white = times(XYZ, [1.0; 3]);
    let light = times(XYZ, times(eyes, linear(color)).map(|part| part.clamp(0.0, 1.0)));
    let curve = |part: f64| {
        if part > 216.0 / 24_389.0 { part.cbrt() } else { (24_389.0 / 27.0 * part + 16.0) / 116.0 }
    };
    let [x, y, z] = [0, 1, 2].map(|at| curve(light[at] / white[at]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The smallest difference of two colours for any eyes (CIE76), and a description of the pair.
fn least_difference(colors: &[Color]) -> (f64, String) {
    let mut least = (f64::INFINITY, String::new());
    for (name, eyes) in EYES {
        for (at, one) in colors.iter().enumerate() {
            for other in &colors[at + 1..] {
                let (a, b) = (seen(*one, eyes), seen(*other, eyes));
                let distance = (0..3).map(|at| (a[at] - b[at]).powi(2)).sum::<f64>().sqrt();
                if distance < least.0 {
                    least = (distance, format!("{one:?} and {other:?} to {name} eyes"));
                }
            }
        }
    }
    least
}

fn assert_distinct(colors: &[Color], least: f64) {
    let (distance, what) = least_difference(colors);
    assert!(distance >= least, "{what} differ by {distance:.1}, not {least}");
}

/// The contrast of two colours (WCAG 2).
fn contrast(one: Color, other: Color) -> f64 {
    let lightness = |color| times(XYZ, linear(color))[1] + 0.05;
    let (a, b) = (lightness(one), lightness(other));
    a.max(b) / a.min(b)
}

#[test]
fn simulation_knows_what_is_known() {
    // Black and white differ by 100 for all; pure red and a dark green of the same lightness look equal to protan eyes.
    assert!((least_difference(&[Color(0, 0, 0), Color(255, 255, 255)]).0 - 100.0).abs() < 0.1);
    assert!((contrast(Color(0, 0, 0), Color(255, 255, 255)) - 21.0).abs() < 1e-3);
    let [red, olive] = [Color(0xff, 0, 0), Color(0x6c, 0x5f, 0)];
    let to = |at: usize| {
        let (a, b) = (seen(red, EYES[at].1), seen(olive, EYES[at].1));
        (0..3).map(|at| (a[at] - b[at]).powi(2)).sum::<f64>().sqrt()
    };
    assert!(to(1) < 12.0 && to(0) > 60.0, "{} {}", to(1), to(0));
}

#[test]
fn frameworks_lines_are_distinguishable_by_anyone() {
    assert_distinct(&SERIES, 20.0);
    assert_distinct(&SERIES[..6], 26.0);
    assert_distinct(&SERIES[..4], 35.0);
    for color in SERIES {
        assert!(contrast(color, Color(0xff, 0xff, 0xff)) >= 3.0, "{color:?}");
    }
}

/// The colours of a variable of the app, in the light and in the dark scheme.
fn of_app(name: &str) -> [Color; 2] {
    let (light, dark) =
        include_str!("../../app/src/style/tokens.css").split_once("[data-theme=\"dark\"]").unwrap();
    let color = |css: &str| {
        let digits = css.split_once(&format!("--{name}: #"))?.1;
        let part = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
        Some(Color(part(0), part(1), part(2)))
    };
    let light = color(light).unwrap();
    [light, color(dark).unwrap_or(light)]
}

#[test]
fn frameworks_of_the_app_are_distinguishable_by_anyone() {
    let slots: Vec<[Color; 2]> = (1..=8).map(|slot| of_app(&format!("slot-{slot}"))).collect();
    let pages = of_app("page");
    for scheme in [0, 1] {
        let colors: Vec<Color> = slots.iter().map(|slot| slot[scheme]).collect();
        // Markers and dashes tell them apart, too.
        assert_distinct(&colors, 11.0);
        assert!(colors.iter().all(|color| contrast(*color, pages[scheme]) >= 2.95));
    }
}

#[test]
fn failures_are_distinguishable_from_successes_at_any_load_by_anyone() {
    let [failure, page] = ["fail", "page"].map(of_app);
    for scheme in [0, 1] {
        assert!(contrast(failure[scheme], page[scheme]) >= 4.5, "a text about failures");
        for level in 1..=7 {
            let load = of_app(&format!("load-{level}"))[scheme];
            assert_distinct(&[load, failure[scheme]], 25.0);
            assert_distinct(&[load, page[scheme]], 10.0);
        }
    }
}

#[test]
fn percentile_lines_are_distinguishable_by_anyone() {
    for count in [2, 3, 4] {
        let colors: Vec<Color> = (0..count).map(|at| quantile_color(at, count)).collect();
        assert_distinct(&colors, 16.0);
    }
}

#[test]
fn sweeps_lines_are_distinguishable_by_anyone() {
    for chart in sweep::charts(&support::sweep(), &Style::default()) {
        let line = |entry: crate::layout::legend::LegendEntry| match entry.swatch {
            Swatch::Line(color, _) => Some(color),
            _ => None,
        };
        let colors: Vec<Color> = chart.legend().entries.into_iter().filter_map(line).collect();
        assert_distinct(&colors, 16.0);
    }
}

#[test]
fn blues_grow_darker_all_the_way_in_print_too() {
    let grey = |color: Color| times(XYZ, linear(color))[1];
    let steps: Vec<Color> = (0..STEPS).map(|step| Palette::Blues.step(step)).collect();
    assert!(steps.windows(2).all(|pair| grey(pair[0]) >= grey(pair[1])), "{steps:?}");
    // The lightest is told from paper, the darkest from failures, and half from the whole.
    for (one, other, least) in
        [(steps[0], crate::palette::PAPER, 1.7), (steps[STEPS - 1], crate::palette::FAILURE, 2.0)]
    {
        assert!(contrast(one, other) >= least, "{one:?} {other:?}: {}", contrast(one, other));
    }
    assert!(
        contrast(steps[0], steps[STEPS / 2]) >= 1.7 && contrast(steps[STEPS / 2], steps[STEPS - 1]) >= 1.7
    );
}

#[test]
fn viridis_grows_lighter_all_the_way_to_any_eyes() {
    for (name, eyes) in EYES {
        let lightness: Vec<f64> = (0..STEPS).map(|step| seen(Palette::Viridis.step(step), eyes)[0]).collect();
        assert!(lightness.is_sorted(), "{name}: {lightness:?}");
    }
}
