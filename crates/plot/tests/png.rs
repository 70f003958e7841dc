//! Pages as pixels: their size, their colours where these must be, and the scales that are refused.

#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use perfpipe_plot::{Error, PNG_SCALES, Page, Paper, Style, png};
use tiny_skia::Pixmap;

fn page(paper: Paper) -> Page {
    Page::run(&support::outage(), &Style::default().with_paper(paper))
}

fn drawn(page: &Page, scale: f64) -> Pixmap {
    Pixmap::decode_png(&png(page, scale).unwrap()).unwrap()
}

#[test]
fn picture_has_the_pixels_of_its_paper() {
    for (paper, scale, size) in [
        (Paper::A4, 2.0, (1191, 1684)),
        (Paper::A4, 0.5, (298, 421)),
        (Paper::Letter, 1.0, (612, 792)),
        (Paper::Letter, 8.0, (4896, 6336)),
    ] {
        let picture = drawn(&page(paper), scale);
        assert_eq!((picture.width(), picture.height()), size, "{paper:?} {scale}");
    }
    let lying = drawn(&Page::test("2048", [&support::outage()], &Style::default()), 1.0);
    assert_eq!((lying.width(), lying.height()), (842, 595));
}

#[test]
fn picture_says_how_large_it_is_on_paper() {
    for (scale, per_metre) in [(2.0, 5669), (300.0 / 72.0, 11_811)] {
        let bytes = png(&page(Paper::A4), scale).unwrap();
        let part = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(
            (part(33), &bytes[37..41], part(41), part(45), bytes[49]),
            (9, b"pHYs".as_slice(), per_metre, per_metre, 1)
        );
    }
}

#[test]
fn other_scales_are_refused() {
    for scale in [0.49, 8.01, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(png(&page(Paper::A4), scale), Err(Error::Scale(_))), "{scale}");
    }
    assert!(PNG_SCALES.contains(&0.5) && PNG_SCALES.contains(&8.0));
}

/// The share of a picture's pixels, within a part of it, that are darker than `limit`.
fn dark(picture: &Pixmap, [left, top, right, bottom]: [f64; 4], limit: u8) -> f64 {
    let at = |share: f64, of: u32| (share * f64::from(of)) as u32;
    let (xs, ys) = (
        at(left, picture.width())..at(right, picture.width()),
        at(top, picture.height())..at(bottom, picture.height()),
    );
    let all = xs.len() * ys.len();
    let pixels = ys.flat_map(|y| xs.clone().map(move |x| picture.pixel(x, y).unwrap()));
    pixels.filter(|pixel| pixel.green() < limit).count() as f64 / all as f64
}

#[test]
fn picture_shows_what_is_on_the_page() {
    let picture = drawn(&page(Paper::A4), 2.0);
    assert!(picture.pixels().iter().all(|pixel| pixel.alpha() == 255), "the paper is not opaque");
    assert_eq!(dark(&picture, [0.0, 0.0, 1.0, 0.04], 255), 0.0, "the margin is not white");
    let title = dark(&picture, [0.06, 0.04, 0.4, 0.065], 128);
    assert!(title > 0.03 && title < 0.5, "{title} of the title's place is ink");
    let charts = dark(&picture, [0.1, 0.1, 0.85, 0.9], 250);
    assert!(charts > 0.1 && charts < 0.9, "{charts} of the charts' place is inked");
}

#[test]
fn larger_picture_is_the_same_picture() {
    let page = page(Paper::A4);
    let (small, large) = (drawn(&page, 1.0), drawn(&page, 4.0));
    for row in 0..12 {
        for column in 0..12 {
            let [left, top] = [column, row].map(|at| f64::from(at) / 12.0);
            let part = [left, top, left + 1.0 / 12.0, top + 1.0 / 12.0];
            let (a, b) = (dark(&small, part, 200), dark(&large, part, 200));
            assert!((a - b).abs() < 0.06, "{part:?}: {a} and {b}");
        }
    }
}

#[test]
fn same_page_gives_the_same_bytes() {
    assert!(png(&page(Paper::A4), 1.5).unwrap() == png(&page(Paper::A4), 1.5).unwrap());
}
