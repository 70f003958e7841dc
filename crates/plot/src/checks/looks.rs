//! Tests of the layout of pages: no text overlaps, no data vanish, none are made up.

use perfpipe_analyze::{League, Phases};

use crate::error::Error;
use crate::figure_size::FigureSize;
use crate::output::drawing::{Anchor, Drawing, Point, Shape, TextLine};
use crate::output::page::Page;
use crate::pages::figure::{LoadFigure, RunFigure, TestFigure};
use crate::palette::{FAILURE, PAPER};
use crate::style::{ColorBy, Palette, Paper, Style, Times};
use crate::support::{self, Dice};
use crate::text::fonts;
use crate::time_columns;

/// The left, top, right and bottom of a text.
fn bounds(text: &TextLine) -> [f64; 4] {
    let width = fonts::width(&text.text, text.size);
    let lead = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let (x, y) = text.at;
    let half = text.size * fonts::CAP_HEIGHT / 2.0;
    if text.upwards {
        return [x - half, y - (1.0 - lead) * width, x + half, y + lead * width];
    }
    [x - lead * width, y - half, x + (1.0 - lead) * width, y + half]
}

fn texts(drawing: &Drawing) -> Vec<&TextLine> {
    let mut texts = Vec::new();
    for shape in &drawing.shapes {
        if let Shape::Text(text) = shape {
            texts.push(text);
        }
    }
    texts
}

fn assert_tidy(name: &str, page: &Page) {
    assert_tidy_within(name, page, 20.0);
}

/// Checks that no text overlaps another or comes closer to the edge than `margin` points.
fn assert_tidy_within(name: &str, page: &Page, margin: f64) {
    let texts = texts(page.drawing());
    let (width, height) = page.size();
    for (at, text) in texts.iter().enumerate() {
        let [left, top, right, bottom] = bounds(text);
        let inside = left >= margin && top >= margin && right <= width - margin && bottom <= height - margin;
        assert!(inside, "{name}: {text:?} leaves the page");
        for other in texts.iter().skip(at + 1) {
            let [l, t, r, b] = bounds(other);
            let is_clear = right <= l || r <= left || bottom <= t || b <= top;
            assert!(is_clear, "{name}: {text:?} lies over {other:?}");
        }
    }
    for shape in &page.drawing().shapes {
        let points = match shape {
            Shape::Line { points, .. } | Shape::Area { points, .. } => points.as_slice(),
            Shape::Dot { at, .. } => std::slice::from_ref(at),
            Shape::Text(_) => &[],
        };
        // Plotters moves what lies beyond its area to the edge.
        let inside = points.iter().all(|(x, y)| (0.0..=width).contains(x) && (0.0..=height).contains(y));
        assert!(inside, "{name}: {shape:?} leaves the page");
    }
}

#[test]
fn no_text_overlaps_or_leaves_the_page() {
    for (name, run) in support::cases() {
        for paper in [Paper::A4, Paper::Letter] {
            for color_by in [ColorBy::Load, ColorBy::Cpu, ColorBy::Throughput] {
                let style = Style { paper, color_by, cpu_max: Some(7200.0), ..Style::default() };
                assert_tidy(name, &Page::run(&run, &style));
                let style = style.with_times(Times::Clock).with_log_scale(true);
                assert_tidy(name, &Page::run(&run, &style));
            }
        }
    }
}

#[test]
fn figures_of_any_size_are_tidy_and_can_be_read() {
    let style = Style::default().with_palette(Palette::Blues);
    let styles =
        [style.clone(), style.with_times(Times::Clock).with_log_scale(true).with_color_by(ColorBy::Cpu)];
    for size in ["50mm", "84x90mm", "174mm", "1200x675px"] {
        let size: FigureSize = size.parse().unwrap();
        let check = |name: &str, page: crate::Result<Page>| match page {
            Ok(page) => {
                assert_tidy_within(name, &page, 1.0);
                assert!(texts(page.drawing()).iter().all(|text| (7.0..=9.0).contains(&text.size)), "{name}");
            }
            Err(Error::NothingToDraw { .. }) => {}
            Err(error) => panic!("{name}: {error}"),
        };
        for style in &styles {
            for (name, run) in support::cases() {
                for figure in RunFigure::ALL {
                    let page = Page::run_figure(&run, *figure, &size, style);
                    check(&format!("{name} {} {size}", figure.name()), page);
                }
            }
            for (name, sweep) in support::sweeps() {
                for figure in LoadFigure::ALL {
                    let page = Page::load_figure(&sweep, *figure, &size, style);
                    check(&format!("{name} {} {size}", figure.name()), page);
                }
            }
            let names = |at: usize| format!("framework number {at} with a long name & more");
            let many: Vec<_> =
                (0..50).map(|at| support::steady(&names(at), 1e6 + at as f64, 0.1, 60)).collect();
            for runs in [support::field(), support::repeats(), many] {
                for figure in TestFigure::ALL {
                    // A height that was given may be too low for many frameworks.
                    match Page::test_figure("2048", &runs, *figure, &size, style) {
                        Err(Error::FigureHeight { .. }) if size.height().is_some() => {}
                        page => check(&format!("{} {} {size}", runs.len(), figure.name()), page),
                    }
                }
            }
        }
    }
}

#[test]
fn any_length_and_number_of_percentiles_is_tidy() {
    for length in [2, 3, 7, 13, 45, 61, 90, 119, 121, 300, 599, 900, 1499, 1501, 3599, 7201, 20_000] {
        let mut run = support::steady("spring", 1e7, 0.1, length);
        run.percentiles = vec![1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
        for second in &mut run.seconds {
            second.percentiles = [3.0; 11].into_iter().collect();
            second.failures = 1_000_000;
        }
        run.summary.failures = 1_000_000;
        assert_tidy(&length.to_string(), &Page::run(&run, &Style::default()));
        assert_tidy(&length.to_string(), &Page::test("2048", [&run], &Style::default()));
    }
}

#[test]
fn test_pages_of_any_size_are_tidy() {
    for count in [0, 1, 10, 30, 100] {
        let name = |at: usize| format!("framework number {at} with a long name & more");
        let runs: Vec<_> =
            (0..count).map(|at| support::steady(&name(at), 1e6 + at as f64, 0.1, 60)).collect();
        assert_tidy(&count.to_string(), &Page::test(&"2048".repeat(40), &runs, &Style::default()));
    }
}

#[test]
fn documents_of_any_number_of_pages_are_tidy_and_numbered() {
    for (count, first) in [(1, 1), (2, 1), (30, 2), (120, 8)] {
        let name = |at: usize| {
            format!("framework number {at} with a name that is longer than its column is wide & more")
        };
        let mut runs: Vec<_> =
            (0..count).map(|at| support::steady(&name(at), 1e6 + at as f64, 0.1, 30)).collect();
        runs.iter_mut().zip(0..).for_each(|(run, at)| run.info.t0_ms += at * 1_000_000);
        for paper in [Paper::A4, Paper::Letter] {
            let style = Style::default().with_paper(paper);
            let pages = runs.iter().map(|run| Page::run(run, &style)).collect();
            let pages = Page::document(&League::new(&runs).unwrap(), &runs, pages, &style);
            assert_eq!(pages.len(), count + first, "{paper:?}");
            for page in pages.iter().take(first + 1) {
                assert_tidy(&format!("{count} {paper:?}"), page);
            }
            // The list names each page with its number, and rows are not lost where a page ends.
            let listed: Vec<String> = pages
                .iter()
                .take(first)
                .flat_map(|page| texts(page.drawing()))
                .map(|text| text.text.clone())
                .collect();
            for at in first + 1..=first + count {
                assert!(listed.contains(&at.to_string()), "{at} of {count}");
            }
            let rows = listed.iter().filter(|text| text.starts_with("framework number")).count();
            // The only framework is named below the title, too.
            assert_eq!(rows, 2 * count + usize::from(count == 1), "the league and the list");
        }
    }
}

#[test]
fn sweeps_are_tidy_and_name_their_knee() {
    for (name, sweep) in support::sweeps() {
        for paper in [Paper::A4, Paper::Letter] {
            let page = Page::sweep(&sweep, &Style { paper, ..Style::default() });
            assert_tidy(name, &page);
            let drawn = texts(page.drawing());
            let has_text = |words: &str| drawn.iter().any(|text| text.text.contains(words));
            let (begun_before, begun_beyond) = (has_text("Knee: 23"), has_text("Knee: at or below 30"));
            let expected = sweep.knee.map(|knee| knee.begins_beyond);
            assert_eq!(
                (begun_before, begun_beyond),
                (expected == Some(false), expected == Some(true)),
                "{name}"
            );
            assert_eq!(
                has_text("throughput does not grow beyond the least load"),
                name == "falling",
                "{name}"
            );
            let few = sweep.steps.len() < 3;
            assert_eq!(has_text("too few load levels to find a knee"), few, "{name}");
        }
    }
}

/// True if `point` is within a filled area, by the number of crossings.
fn covers(area: &[Point], (x, y): Point) -> bool {
    let ends = area.iter().cycle().skip(1);
    let crossed = area
        .iter()
        .zip(ends)
        .filter(|((x0, y0), (x1, y1))| (*y0 > y) != (*y1 > y) && x < x0 + (y - y0) / (y1 - y0) * (x1 - x0));
    crossed.count() % 2 == 1
}

/// The areas of the requests chart, and its left, right and bottom.
fn requests(page: &Page) -> (Vec<&[Point]>, [f64; 3]) {
    let frame = page.drawing().shapes.iter().find_map(|shape| match shape {
        Shape::Line { points, .. } if points.len() == 5 => Some(points),
        _ => None,
    });
    let frame = frame.unwrap();
    let [(left, top), (right, _), (_, bottom), ..] = frame[..] else { panic!("{frame:?}") };
    let within = |points: &[Point]| {
        points
            .iter()
            .all(|(x, y)| *x >= left - 1e-6 && *x <= right + 1e-6 && *y >= top - 1e-6 && *y <= bottom + 1e-6)
    };
    let area = |shape| match shape {
        &Shape::Area { ref points, color, .. } if color != PAPER && within(points) => Some(points.as_slice()),
        _ => None,
    };
    (page.drawing().shapes.iter().filter_map(area).collect(), [left, right, bottom])
}

#[test]
fn every_busy_second_has_a_bar_and_no_silent_one() {
    for length in [1, 2, 17, 420, 1500, 1501, 9000] {
        let mut dice = Dice::new(u64::from(length));
        let row = |at: u32| {
            let successes = if dice.roll() < 0.4 { (dice.roll().powi(8) * 1e6) as u64 + 1 } else { 0 };
            let mut row = support::second(at, successes, 10.0, &mut dice);
            row.load = Some(dice.roll()).into();
            row
        };
        let mut run = support::timeline("spring", "2048", (0..length).map(row).collect());
        // Phases would add areas of their own.
        run.phases = Phases::default();
        let page = Page::run(&run, &Style::default());
        let (areas, [left, right, bottom]) = requests(&page);
        let width = time_columns::width(length);
        for start in (0..length).step_by(width as usize) {
            let end = (start + width).min(length);
            let busy = run.seconds[start as usize..end as usize].iter().any(|second| second.successes > 0);
            let x = left + (right - left) * f64::from(start + end) / 2.0 / f64::from(length);
            let drawn = areas.iter().any(|area| covers(area, (x, bottom - 0.1)));
            assert_eq!(drawn, busy, "second {start} of {length}");
        }
    }
}

#[test]
fn seconds_outside_the_hold_are_shaded_and_all_phases_are_named() {
    let run = support::ramp("perfectnio");
    let page = Page::run(&run, &Style::default());
    let names: Vec<&str> = texts(page.drawing()).iter().map(|text| text.text.as_str()).collect();
    let named = |name: &str| names.iter().filter(|text| **text == name).count();
    assert_eq!((named("ramp"), named("hold"), named("tail")), (1, 1, 0), "{}", run.phases);
    assert!(names.iter().any(|text| text.starts_with("Hold  ·  throughput")), "{names:?}");

    let (areas, [left, right, bottom]) = requests(&page);
    // The bars begin with the first request: just below the frame's upper edge, there is only shade.
    let top = areas.iter().flat_map(|area| area.iter().map(|(_, y)| *y)).fold(f64::MAX, f64::min);
    let shaded = |share: f64| {
        let at = (left + share * (right - left), top + 0.1);
        areas.iter().any(|area| area.len() == 4 && covers(area, at))
    };
    let hold = run.phases.hold.unwrap();
    let edge = f64::from(hold.first) / 420.0;
    assert!(shaded(0.01) && shaded(edge - 0.005) && !shaded(edge + 0.005), "{hold:?}");
    assert!(bottom > top);

    let mut whole = support::hopeless();
    assert_eq!(whole.phases.all().count(), 1);
    let page = Page::run(&whole, &Style::default());
    whole.phases = Phases::default();
    assert_eq!(page, Page::run(&whole, &Style::default()), "one phase alone is not shown");
}

#[test]
fn single_failure_in_a_day_is_drawn() {
    let mut run = support::steady("spring", 1000.0, 0.1, 86_400);
    let count = |run: &_| {
        let page = Page::run(run, &Style::default());
        let failure = |shape: &&Shape| matches!(shape, Shape::Area { color, .. } if *color == FAILURE);
        page.drawing().shapes.iter().filter(failure).count()
    };
    assert_eq!(count(&run), 0);
    run.seconds[50_000].failures = 1;
    (run.summary.failures, run.info.failures) = (1, 1);
    // The bar in the strip, and a swatch in each of two keys; on a minute's successes it would be too small to draw.
    assert_eq!(count(&run), 3);
    // A minute of failures is stacked on its successes too.
    run.seconds[60_000..60_060].iter_mut().for_each(|second| second.failures = 500);
    run.summary.failures += 30_000;
    assert_eq!(count(&run), 5);
}
