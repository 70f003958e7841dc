//! The page of one test: the frameworks' successes per second, p95 and CPU, and the server's series, drawn over each other.

mod framework;
mod overlay;

use std::collections::BTreeSet;

use perfpipe_analyze::league::{failing_frameworks, in_league_order};
use perfpipe_analyze::{League, Timeline};

use self::framework::Framework;
use self::overlay::{Key, Overlay, OverlayChart};
use super::figure::TestFigure;
use super::footer::chosen;
use super::sheet::{LEAST_LABEL, PageTexts};
use crate::charts::chart::TimeChart;
use crate::charts::reach::Reach;
use crate::charts::series::SharedSeries;
use crate::layout::frame::{LABEL_GAP, Rect, TimeAxis};
use crate::output::drawing::Drawing;
use crate::style::Style;
use crate::text::clock::duration;
use crate::text::fonts::Fonts;
use crate::text::number::LONG_MS;
use crate::time_columns;

/// The height of the time axis' labels and title, in points.
const BELOW: f64 = 26.0;
/// The number of best frameworks that are named; the rest are counted.
const BEST: usize = 4;

/// Draws the page of a test.
pub(crate) fn draw(runs: Vec<&Timeline>, style: &Style, title: &str) -> Drawing {
    let best = best(&runs);
    let failing = failing_frameworks(runs.iter().copied());
    let timelines = in_league_order(runs);
    let span = span(&timelines);
    let width = time_columns::width((span.1 - span.0) as u32);
    let fonts = style.fonts();
    let frameworks = frameworks(&timelines, &failing, (span.0 as u32, width), &fonts);
    let (series, left_out) = SharedSeries::of_runs(&timelines);
    let others = [response(&timelines, style), Overlay::Cpu { top: style.cpu_top() }];
    let others = others.into_iter().filter(|overlay| overlay.is_measured(&frameworks));
    let overlays: Vec<Overlay> = std::iter::once(Overlay::Successes)
        .chain(others)
        .chain(series.into_iter().map(Overlay::Series))
        .collect();
    let is_lying = overlays.len() <= LYING.0 && frameworks.len() <= LYING.1;
    let paper = if is_lying { style.paper.landscape() } else { style.paper.portrait() };
    let mut drawing = Drawing::new(paper).with_fonts(style.fonts());
    let subtitle = &[subtitle(&frameworks, best.as_deref())];
    let chosen = chosen(timelines.iter().map(|timeline| (&timeline.view, &timeline.info)));
    let footer = facts(&frameworks, width, &overlays, left_out);
    let room = PageTexts { title, chosen: &chosen, subtitle, footer: &footer }.draw(&mut drawing);
    charts(&mut drawing, &frameworks, &overlays, room, span, &fonts);
    drawing
}

/// The most charts and the most frameworks of a page in landscape format; more of them need the height.
const LYING: (usize, usize) = (3, 24);
/// The percentile that frameworks are compared by, in percent.
const COMPARED: f64 = 95.0;

/// Calls `draw` with the chart of a figure of all frameworks, with at most so many columns, and with the time that it spans.
pub(super) fn with_chart<R>(
    runs: Vec<&Timeline>,
    figure: TestFigure,
    most: u32,
    style: &Style,
    draw: impl FnOnce(&dyn TimeChart, (f64, f64)) -> R,
) -> R {
    let failing = failing_frameworks(runs.iter().copied());
    let timelines = in_league_order(runs);
    let span = span(&timelines);
    let width = time_columns::width_of((span.1 - span.0) as u32, most);
    let fonts = style.fonts();
    let frameworks = frameworks(&timelines, &failing, (span.0 as u32, width), &fonts);
    let overlay = match figure {
        TestFigure::Overview => Overlay::Successes,
        TestFigure::OverviewResponse => response(&timelines, style),
        TestFigure::OverviewCpu => Overlay::Cpu { top: style.cpu_top() },
    };
    draw(&OverlayChart { overlay: &overlay, frameworks: &frameworks, width }, span)
}

/// Returns the response times that all frameworks are compared by.
fn response(timelines: &[&Timeline], style: &Style) -> Overlay {
    let percentiles = timelines.first().map(|run| run.percentiles.as_slice()).unwrap_or_default();
    let highest = percentiles.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let compared = percentiles.iter().enumerate().find(|(_, percent)| **percent == COMPARED);
    let (at, percent) = compared.or(highest).map_or((0, COMPARED), |(at, percent)| (at, *percent));
    let reach = Reach::of(timelines, |second| second.percentile(at)).map(|reach| reach.on(style.log_scale));
    let unit = if reach.is_some_and(|reach| reach.top >= LONG_MS) { 1000.0 } else { 1.0 };
    Overlay::Response { at, percent, reach, unit, log_scale: style.log_scale }
}

/// Prepares the frameworks of runs in the order of the league; all columns begin a number of widths after a second.
fn frameworks<'a>(
    timelines: &[&'a Timeline],
    failing: &BTreeSet<&str>,
    grid: (u32, u32),
    fonts: &Fonts,
) -> Vec<Framework<'a>> {
    let mut frameworks = Vec::new();
    let is_same = |a: &&Timeline, b: &&Timeline| a.info.key.framework == b.info.key.framework;
    for (rank, repeats) in timelines.chunk_by(is_same).enumerate() {
        let failing = repeats.first().is_some_and(|run| failing.contains(&*run.info.key.framework));
        frameworks.extend(Framework::new(rank, repeats, grid, failing, fonts));
    }
    frameworks
}

/// Draws the charts one below the other, each with its key.
fn charts(
    drawing: &mut Drawing,
    frameworks: &[Framework<'_>],
    overlays: &[Overlay],
    room: Rect,
    span: (f64, f64),
    fonts: &Fonts,
) {
    let key = Key::new(frameworks, overlays, fonts);
    let labels = overlays.iter().map(|overlay| overlay.axis(frameworks).label_width());
    let left = room.left + labels.fold(LEAST_LABEL, f64::max) + LABEL_GAP;
    let room = Rect { left, right: room.right - key.width(), bottom: room.bottom - BELOW, ..room };
    let time = TimeAxis::new(span, room.width(), None);
    let last = overlays.len().saturating_sub(1);
    for (at, (overlay, area)) in overlays.iter().zip(overlay::areas(overlays, room)).enumerate() {
        let frame = overlay.draw(drawing, frameworks, area, time);
        if at == last {
            frame.time_labels(drawing);
            frame.time_title(drawing);
        }
        key.draw(drawing, frameworks, overlay, area);
    }
}

/// Returns the time from the first second of any run to the end of the last, in seconds from t0.
fn span(timelines: &[&Timeline]) -> (f64, f64) {
    let spans = timelines.iter().map(|timeline| time_columns::span(timeline));
    let (start, end) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 1));
    (f64::from(start), f64::from(end))
}

/// Returns the frameworks that may have the first rank, none if each may; `None` if the runs are of several tests.
fn best(runs: &[&Timeline]) -> Option<Vec<String>> {
    let league = League::new(runs.iter().copied()).ok()?;
    Some(league.best().into_iter().map(|standing| standing.framework.clone()).collect())
}

/// Returns the number of repeats if there are several, and the best frameworks: those that may have the first rank, or
/// the one with the highest average if each may.
fn subtitle(frameworks: &[Framework<'_>], best: Option<&[String]>) -> Vec<String> {
    let repeats = || frameworks.iter().map(Framework::repeats);
    let which = match (repeats().min(), repeats().max()) {
        (Some(least), Some(most)) if most > 1 && least == most => Some(format!("{most} repeats each")),
        (Some(least), Some(most)) if most > 1 => Some(format!("{least} to {most} repeats each")),
        _ => None,
    };
    let describe =
        |line: &Framework<'_>| format!("{}, {}/s", line.name(), Overlay::Successes.average_of(line));
    let best = best.and_then(|best| match best {
        [] => {
            let highest = frameworks.iter().find(|line| !line.failing);
            highest.map(|line| format!("highest average: {}", describe(line)))
        }
        [only] => {
            let line = frameworks.iter().find(|line| line.name() == only);
            line.map(|line| format!("best: {}", describe(line)))
        }
        several => {
            let named: Vec<&str> = several.iter().take(BEST).map(String::as_str).collect();
            let more = several.len().checked_sub(BEST).filter(|more| *more > 0);
            let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
            Some(format!("may be best: {}{more}", named.join(", ")))
        }
    });
    which.into_iter().chain(best).collect()
}

fn facts(frameworks: &[Framework<'_>], width: u32, overlays: &[Overlay], left_out: usize) -> Vec<String> {
    let mut facts = vec![
        "Average: successes ÷ duration, from the first start to the last end, silences counted".to_owned(),
    ];
    if frameworks.iter().any(|line| line.repeats() > 1) {
        facts.push(
            "Several repeats: line at their median, band from the least to the greatest; the average is the \
             median of theirs"
                .to_owned(),
        );
    }
    if frameworks.iter().any(|line| line.failing) {
        facts
            .push("Failing: more than 1 % of the requests failed, so the framework is not ranked".to_owned());
    }
    if width > 1 {
        let column = duration(width);
        facts.push(format!(
            "Each point stands for {column}: line at the mean, band from the least to the greatest second"
        ));
    }
    facts.extend(overlays.iter().filter_map(Overlay::note));
    if left_out > 0 {
        facts.push(format!("Series that are not drawn: {left_out}"));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::Framework;
    use crate::support::steady;
    use crate::{Page, Style};

    fn page(runs: &[perfpipe_analyze::Timeline]) -> String {
        Page::test("2048", runs, &Style::default()).svg()
    }

    #[test]
    fn framework_that_fails_is_not_the_best() {
        let mut runs = [steady("fast", 2000.0, 0.1, 30), steady("calm", 1000.0, 0.1, 30)];
        assert!(page(&runs).contains("highest average: fast"));
        runs[0].summary.failures = runs[0].summary.successes / 50;
        let shown = page(&runs);
        assert!(shown.contains("best: calm") && shown.contains(">fast (failing)<"), "{shown}");
        assert!(!shown.contains("calm (failing)"));
    }

    #[test]
    fn all_that_may_have_the_first_rank_are_named() {
        let mut runs = Vec::new();
        for (repeat, rates) in [(1, [1000.0, 1010.0, 500.0]), (2, [1012.0, 1002.0, 502.0])] {
            for (framework, rate) in ["go", "rails", "slow"].into_iter().zip(rates) {
                let mut run = steady(framework, rate, 0.0, 30);
                run.info.key.repeat = repeat;
                runs.push(run);
            }
        }
        let shown = page(&runs);
        assert!(
            shown.contains("may be best: go, rails<") || shown.contains("may be best: rails, go<"),
            "{shown}"
        );
    }

    #[test]
    fn page_of_one_framework_is_not_that_of_all() {
        let runs = [steady("go", 900.0, 0.1, 30), steady("rails", 1000.0, 0.1, 30)];
        assert_eq!(Page::test("2048", &runs, &Style::default()).title(), "2 frameworks – 2048");
        assert_eq!(Page::test("2048", &runs[..1], &Style::default()).title(), "go – 2048");
    }

    #[test]
    fn repeats_are_drawn_as_the_league_counts_them() {
        let alone = [steady("go", 900.0, 0.1, 30), steady("rails", 1000.0, 0.1, 30)];
        assert!(!page(&alone).contains("repeats"));
        // Two repeats that differ: on average they are faster than the other framework.
        let mut runs = vec![steady("go", 100.0, 0.0, 30), steady("go", 10.0, 0.0, 30)];
        runs.extend([steady("slow", 20.0, 0.0, 30), steady("slow", 20.0, 0.0, 30)]);
        let shown = page(&runs);
        assert!(shown.contains("2 frameworks") && shown.contains(">2 repeats each"), "{shown}");
        assert!(shown.contains(">55.0<") && shown.contains(">20.0<"), "{shown}");
        let league = perfpipe_analyze::League::new(&runs).unwrap();
        assert_eq!(league.standings[0].throughput, 55.0);
        // The line is at the average, in a band from one repeat to the other.
        let runs: Vec<&perfpipe_analyze::Timeline> = runs[..2].iter().collect();
        let framework = Framework::new(0, &runs, (0, 1), false, &Style::default().fonts()).unwrap();
        let spreads = framework.spreads(&|_, column| column.successes);
        let is_between = |(median, ends): &(Option<f64>, crate::time_columns::ColumnSpread)| {
            (*median, ends.min, ends.max) == (Some(55.0), 10.0, 100.0)
        };
        assert!(spreads.len() == 30 && spreads.iter().all(is_between), "{spreads:?}");
    }

    #[test]
    fn line_ends_with_the_second_of_half_the_repeats() {
        let runs = [steady("go", 100.0, 0.0, 10), steady("go", 100.0, 0.0, 30), steady("go", 100.0, 0.0, 20)];
        let runs: Vec<&perfpipe_analyze::Timeline> = runs.iter().collect();
        let fonts = Style::default().fonts();
        let framework = Framework::new(0, &runs, (0, 1), false, &fonts).unwrap();
        let spreads = framework.spreads(&|_, column| column.successes);
        let known = spreads.iter().filter(|(median, _)| median.is_some()).count();
        assert_eq!((spreads.len(), known), (30, 20));
    }
}
