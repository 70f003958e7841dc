//! The pages of a sweep: one of all frameworks and tools, and one of each.

use std::path::Path;

use anyhow::Result;
use perfpipe_analyze::points::{Level, SweepBy};
use perfpipe_ingest::RunKey;
use perfpipe_ingest::points::Point;
use perfpipe_plot::{Page, Style};

use super::args::SweepArgs;
use crate::output::fonts;
use crate::output::pages::{Pages, Subject, chosen_text, looks};

/// Draws the pages into a folder. `all` are the points of the store: names of files are unique among them.
pub(super) fn draw<'a>(
    args: &'a SweepArgs,
    test: &str,
    out: &'a Path,
    all: &[Point],
    (levels, by): (&[Level], SweepBy),
) -> Result<Pages<'a>> {
    let named = |point: &Point| RunKey::new(&point.key.framework, &point.key.test);
    let keys: Vec<RunKey> = all.iter().map(named).collect();
    let mut pages = Pages::new(out, args.pages(), &keys);
    let texts = levels.iter().flat_map(|level| [level.framework.as_str(), &level.tool]);
    let style = fonts::styled(&args.pages(), texts.chain([test]));
    let kind = [format!("by-{}", word(by))];
    let tools = args.tool.iter().map(|tool| chosen_text("tool", tool));
    let only = args.framework.iter().map(|framework| chosen_text("only", framework));
    let choices: Vec<String> = kind.iter().cloned().chain(only).chain(tools).collect();
    let page = Page::levels(test, levels, by, &style);
    pages.page(&page, Subject::Test(test), &choices)?;
    for sweep in levels.chunk_by(is_same_sweep) {
        let Some(first) = sweep.first() else { continue };
        let other = first.other.map(|other| format!("{}-{other}", other_word(by)));
        let choices: Vec<String> = kind
            .iter()
            .cloned()
            .chain([chosen_text("tool", &first.tool)])
            .chain(other)
            .chain(looks(&args.pages()))
            .collect();
        let page = Page::level_details(test, sweep, by, &style);
        pages.page(&page, Subject::Run(&RunKey::new(&first.framework, test)), &choices)?;
    }
    Ok(pages)
}

/// Returns the pages, that of all first.
pub(super) fn all(test: &str, levels: &[Level], by: SweepBy, style: &Style) -> Vec<Page> {
    let each = levels.chunk_by(is_same_sweep).map(|sweep| Page::level_details(test, sweep, by, style));
    std::iter::once(Page::levels(test, levels, by, style)).chain(each).collect()
}

fn is_same_sweep(a: &Level, b: &Level) -> bool {
    (&a.framework, &a.tool, a.other) == (&b.framework, &b.tool, b.other)
}

/// Returns what a sweep goes by.
pub(super) fn word(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Workers => "workers",
        _ => "concurrency",
    }
}

/// Returns what is the same for all levels of a sweep.
fn other_word(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Workers => "concurrency",
        _ => "workers",
    }
}
