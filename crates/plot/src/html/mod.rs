//! The report as a single HTML file: pages, tables, and interactive charts with their data.

mod data;
mod parts;
mod table;

use perfpipe_analyze::breakdown::{Details, error_kind_table, label_table};
use perfpipe_analyze::league::in_league_order;
use perfpipe_analyze::{League, Sweep, Timeline};

use self::data::Data;
use self::table::Beneath;
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::{escaped, hex};
use crate::pages::{footer, sweep, test};
use crate::palette::{Color, SERIES, SERIES_DARK};
use crate::style::Style;

/// The largest number of kinds of failures listed for a run.
const ERRORS: usize = 200;

/// Writes the report of a test as a single HTML file that needs no network. It contains the league table, the page of
/// all frameworks, and for each run its page, its failures by response code and message, and its labels.
///
/// With scripts enabled, interactive charts replace the pages: a cross-hair reads all charts at a second, dragging
/// zooms in, the keys in the headings of the charts hide series, and tables can be sorted by their headings. A button
/// shows the page as printed as well. Without scripts, only the pages are shown. The file's content security policy
/// forbids it to load anything.
///
/// The same runs give the same text. A run of 7 minutes takes 0.2 MB, one of a day 4 MB.
///
/// # Errors
/// [`crate::Error::Html`] if the data can't be written.
pub fn html<'a>(
    test: &str,
    runs: impl IntoIterator<Item = (&'a Timeline, &'a Details)>,
    league: &League,
    style: &Style,
) -> Result<String> {
    let mut runs: Vec<_> = runs.into_iter().collect();
    // In the order of the page of all frameworks, so that each run has the same colour there.
    let ranked = in_league_order(runs.iter().map(|(timeline, _)| *timeline));
    runs.sort_by_key(|(timeline, _)| test::place(&ranked, timeline));
    let all = Page::test(test, runs.iter().map(|(timeline, _)| *timeline), style);
    let mut body = league_section(league);
    body += &parts::all_frameworks(&all, runs.len());
    for (at, (timeline, details)) in runs.iter().enumerate() {
        body += &section(at, timeline, details, style);
    }
    let title = format!("{} – perfpipe", all.title());
    parts::document(&title, all.title(), &body, &Data::new(&runs, style), &colors())
}

/// The range of the repeats' throughput, shown beneath the median.
const RANGE: [Beneath; 1] = [Beneath {
    column: "throughput",
    names: &["throughput_min", "throughput_max"],
    heading: "least – greatest",
    before: "",
}];

/// Returns the section of the league, with its notes.
fn league_section(league: &League) -> String {
    let table = table::folded(&league.table(), &RANGE);
    let note = |note: &String| format!("<p>{}</p>\n", escaped(note));
    let notes: String = league.notes().iter().map(note).collect();
    format!("<div class=\"league narrow\">\n<h2>League</h2>\n{table}{notes}</div>\n")
}

/// Returns the section of a run.
fn section(at: usize, timeline: &Timeline, details: &Details, style: &Style) -> String {
    let page = Page::run(timeline, style);
    let mut section = format!("<section id=\"run-{at}\">\n<h2>{}</h2>\n", escaped(page.title()));
    for figures in footer::figures(timeline) {
        section += &format!("<p class=\"figures\">{}</p>\n", escaped(&figures.join("  ·  ")));
    }
    section += &format!("<div class=\"interactive\" id=\"live-{at}\"></div>\n");
    section += &parts::sheet(&page, "upright");
    section += &details.by_load().map(|sweep| by_load(at, sweep, style)).unwrap_or_default();
    section += &heading(&page, "Failures by response code and message");
    let shown = details.errors.get(..ERRORS).unwrap_or(&details.errors);
    section += &match shown {
        [] => "<p>None.</p>\n".to_owned(),
        shown => table::of(&error_kind_table(shown)),
    };
    if details.errors.len() > shown.len() {
        section += &format!("<p>and {} other kinds</p>\n", details.errors.len() - shown.len());
    }
    section += &heading(&page, "Labels");
    section += &table::of(&label_table(&details.labels));
    section += "</section>\n";
    section
}

/// Returns the part of a run by load: charts, a page, and a table with a row for each load.
fn by_load(at: usize, sweep: &Sweep, style: &Style) -> String {
    let page = Page::sweep(sweep, style);
    let mut part = heading(&page, "By load");
    part += &format!("<p>{}</p>\n", escaped(&sweep::figures(sweep).join("  ·  ")));
    part += &format!("<div class=\"interactive\" id=\"load-{at}\"></div>\n");
    part += &parts::sheet(&page, "upright");
    part += &format!("<div class=\"narrow\">\n{}</div>\n", table::folded(&sweep.table(), &STEPS));
    part
}

/// The columns shown beneath the figures of a load step.
const STEPS: [Beneath; 2] = [
    Beneath { column: "load", names: &["load_min", "load_max"], heading: "least – greatest", before: "" },
    Beneath {
        column: "throughput",
        names: &["throughput_sd"],
        heading: "± standard deviation",
        before: "± ",
    },
];

/// Returns the heading of a table. It names the run, for tables that are printed on a sheet of their own.
fn heading(page: &Page, text: &str) -> String {
    format!("<h3><span class=\"run\">{}: </span>{text}</h3>\n", escaped(page.title()))
}

/// Returns the colours of lines as CSS variables.
fn colors() -> String {
    let color = |(at, (light, dark)): (usize, (&Color, &Color))| {
        format!("--series-{at}:light-dark({},{});", hex(*light), hex(*dark))
    };
    let colors: String = SERIES.iter().zip(&SERIES_DARK).enumerate().map(color).collect();
    format!(":root{{{colors}}}\n")
}
