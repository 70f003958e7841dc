//! The pages that there are.

use perfpipe_analyze::{RunInfo, Sweep, Timeline};

use super::{comparison, footer, run, sweep, test};
use crate::output::drawing::Text;
use crate::output::page::Page;
use crate::style::Style;

impl Page {
    /// The page of one run, upright: requests, CPU and response times over one time axis.
    ///
    /// Runs of more than 1,500 seconds are gathered into columns of several seconds, extremes kept.
    pub fn run(timeline: &Timeline, style: &Style) -> Self {
        let title = Text::clean(&title(&timeline.info));
        Self::new(run::draw(timeline, style, &title), title)
    }

    /// The page of one run by its load, upright: throughput, response times and CPU over the load, with the knee.
    pub fn sweep(sweep: &Sweep, style: &Style) -> Self {
        let title = Text::clean(&format!("{} by load", title(&sweep.info)));
        Self::new(sweep::draw(sweep, style, &title), title)
    }

    /// The page of one test, lying: the frameworks' requests per second over each other, best first in its key. Of
    /// several repeats of a framework the one in the middle is drawn ([`perfpipe_analyze::median_repeats`]).
    pub fn test<'a>(test: &str, timelines: impl IntoIterator<Item = &'a Timeline>, style: &Style) -> Self {
        let title = Text::clean(&format!("All frameworks – {test}"));
        Self::new(test::draw(timelines.into_iter().collect(), style, &title), title)
    }

    /// The page of two runs over each other, upright: throughput, the first one's percentiles, and CPU over time.
    pub fn comparison(a: &Timeline, b: &Timeline, style: &Style) -> Self {
        let title = Text::clean(&format!("{} against {}", b.info.key, a.info.key));
        Self::new(comparison::draw(a, b, style, &title), title)
    }
}

/// What the page of a run is called.
fn title(info: &RunInfo) -> String {
    let repeat = if info.key.repeat == 1 { String::new() } else { format!(" #{}", info.key.repeat) };
    let partial = if info.is_partial() { footer::PARTIAL } else { "" };
    format!("{} {}{repeat}{partial}", info.key.framework, info.key.test)
}
