//! The constructors of all kinds of pages.

use std::collections::BTreeSet;

use perfpipe_analyze::format::counted;
use perfpipe_analyze::points::{Level, SweepBy};
use perfpipe_analyze::{Change, Sweep, Timeline, Trends};
use perfpipe_model::RunInfo;

use super::{changes, comparison, footer, levels, run, sweep, test, trend};
use crate::output::drawing::TextLine;
use crate::output::page::Page;
use crate::style::Style;

impl Page {
    /// Creates the page of one run, in portrait format: requests, CPU and response times over a common time axis.
    ///
    /// The seconds of a run of more than 1,500 seconds are gathered into columns of several seconds, which keep
    /// extremes.
    pub fn run(timeline: &Timeline, style: &Style) -> Self {
        let title = TextLine::clean(&title(&timeline.info));
        Self::new(run::draw(timeline, style, &title), title, Some(timeline.info.t0_ms))
    }

    /// Creates the page of one run by load, in portrait format: throughput, response times and CPU, with the knee.
    pub fn sweep(sweep: &Sweep, style: &Style) -> Self {
        let title = TextLine::clean(&format!("{} by load", title(&sweep.info)));
        Self::new(sweep::draw(sweep, style, &title), title, Some(sweep.info.t0_ms))
    }

    /// Creates the page of a sweep of load tools' points, in landscape format: throughput by level with the spread of the
    /// repeats, a line for each framework and tool, and below it their failures.
    ///
    /// ```
    /// use perfpipe_analyze::points::{SweepBy, levels};
    /// use perfpipe_ingest::points::{Figures, Point, PointKey};
    /// use perfpipe_plot::{Page, Style};
    ///
    /// let point = |concurrency: u32| {
    ///     let mut figures = Figures::default();
    ///     (figures.duration, figures.successes) = (Some(10.0), Some(500 * u64::from(concurrency)));
    ///     Point::new(PointKey::new("wrk", "go", "/hello").with_concurrency(concurrency), figures)
    /// };
    /// let levels = levels(&[point(1), point(2), point(4)], SweepBy::Concurrency);
    /// let page = Page::levels("/hello", &levels, SweepBy::Concurrency, &Style::default());
    /// assert_eq!(page.title(), "go /hello by concurrency");
    /// ```
    pub fn levels(test: &str, levels: &[Level], by: SweepBy, style: &Style) -> Self {
        let names: BTreeSet<&str> = levels.iter().map(|level| level.framework.as_str()).collect();
        let title = TextLine::clean(&format!("{} {test} {}", some_of(&names), by_words(by)));
        Self::new(levels::draw_overview(levels, by, style, &title), title, None)
    }

    /// Creates the page of one framework and tool of a sweep of load tools' points, in portrait format: latencies beside
    /// c/X, and the outcomes of the requests; by workers, also throughput beside the ideal, and bytes per second. All
    /// `levels` are to have the same framework, tool and other number.
    ///
    /// ```
    /// use perfpipe_analyze::points::{SweepBy, levels};
    /// use perfpipe_ingest::points::{Figures, Point, PointKey};
    /// use perfpipe_plot::{Page, Style};
    ///
    /// let point = Point::new(PointKey::new("wrk", "go", "/hello").with_workers(1), Figures::default());
    /// let levels = levels(&[point], SweepBy::Workers);
    /// let page = Page::level_details("/hello", &levels, SweepBy::Workers, &Style::default());
    /// assert_eq!(page.title(), "go /hello by workers: details");
    /// ```
    pub fn level_details(test: &str, levels: &[Level], by: SweepBy, style: &Style) -> Self {
        let names: BTreeSet<&str> = levels.iter().map(|level| level.framework.as_str()).collect();
        let title = TextLine::clean(&format!("{} {test} {}: details", some_of(&names), by_words(by)));
        Self::new(levels::draw_single(levels, by, style, &title), title, None)
    }

    /// Creates the page of one test, in landscape format: the frameworks' successes per second, p95 and CPU, drawn over each
    /// other, with a key that lists the best first; in portrait format, if the server has series too or if there are many
    /// frameworks. For a framework with several repeats, the median of them is drawn, in a band from the least to the greatest.
    pub fn test<'a>(test: &str, timelines: impl IntoIterator<Item = &'a Timeline>, style: &Style) -> Self {
        let timelines: Vec<&Timeline> = timelines.into_iter().collect();
        let title = TextLine::clean(&format!("{} – {test}", frameworks(&timelines)));
        let date = timelines.iter().map(|timeline| timeline.info.t0_ms).min();
        Self::new(test::draw(timelines, style, &title), title, date)
    }

    /// Creates the page that compares two runs, in portrait format: throughput, the percentiles of `a`, and CPU over
    /// time.
    pub fn comparison(a: &Timeline, b: &Timeline, style: &Style) -> Self {
        let title = TextLine::clean(&format!("{} against {}", b.info.key, a.info.key));
        let date = a.info.t0_ms.min(b.info.t0_ms);
        Self::new(comparison::draw(a, b, style, &title), title, Some(date))
    }

    /// Creates the page of the changes from one side of a comparison to another, in portrait format: each figure's change
    /// in percent with its interval. Of the changes, those of the side `b` are drawn.
    pub fn changes(a: &str, b: &str, changes: &[Change], style: &Style) -> Self {
        let title = TextLine::clean(&format!("{b} against {a}: changes"));
        let own: Vec<&Change> = changes.iter().filter(|change| change.run == b).collect();
        Self::new(changes::draw(a, b, &own, style, &title), title, None)
    }

    /// Creates the page of a framework's figures over versions, in portrait format: throughput, response times, failures
    /// and CPU with their intervals, and the changes of their level.
    pub fn trend(test: &str, trends: &Trends, style: &Style) -> Self {
        let title = TextLine::clean(&format!("{} {test} over versions", trends.name));
        let date = trends.versions.iter().map(|version| version.start_ms).min();
        Self::new(trend::draw(trends, style, &title), title, date)
    }
}

/// Returns the name of the framework that runs are of, or the number of frameworks: not all need be drawn.
pub(super) fn frameworks(timelines: &[&Timeline]) -> String {
    some_of(&timelines.iter().map(|timeline| &*timeline.info.key.framework).collect())
}

/// Returns the only name, or the number of frameworks.
fn some_of(names: &BTreeSet<&str>) -> String {
    match names.first() {
        Some(only) if names.len() == 1 => (*only).to_owned(),
        _ => counted(names.len() as u64, "framework"),
    }
}

/// Says what a sweep goes by.
fn by_words(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Workers => "by workers",
        _ => "by concurrency",
    }
}

/// Returns the title of a run's page.
pub(super) fn title(info: &RunInfo) -> String {
    let repeat = if info.key.repeat == 1 { String::new() } else { format!(" #{}", info.key.repeat) };
    let partial = if info.is_partial() { footer::PARTIAL } else { "" };
    format!("{} {}{repeat}{partial}", info.key.framework, info.key.test)
}
