//! A whole report as one HTML file: pages, tables and data, with charts that can be asked, and no network.

mod data;
mod parts;
mod table;

use perfpipe_analyze::{Details, League, Sweep, Timeline, error_kind_table, in_league_order, label_table};

use self::data::Data;
use self::table::Beneath;
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::{escaped, hex};
use crate::pages::{footer, sweep, test};
use crate::palette::{Color, SERIES, SERIES_DARK};
use crate::style::Style;

/// Kinds of failures that are told one by one.
const ERRORS: usize = 200;

/// Writes the report of a test as one HTML file that needs no network: the league table, the page of all frameworks,
/// and of each run its page, its failures by response code and message, and its labels.
///
/// Where scripts run, charts take the place of the pages: a cross-hair reads all of them at a second, dragging looks at
/// a part of the time, keys in the charts' headings hide series, and tables are sorted by their headings. A click or a key shows the
/// page as it is printed, too, and without scripts there is nothing else. The file's policy lets it load nothing.
///
/// The same runs give the same text. A run of 7 minutes takes 0.2 MB, one of a day 4 MB.
///
/// # Errors
/// [`crate::Error::Drawing`] if a page can't be drawn, [`crate::Error::Html`] if the data can't be written.
pub fn html<'a>(
    test: &str,
    runs: impl IntoIterator<Item = (&'a Timeline, &'a Details)>,
    league: &League,
    style: &Style,
) -> Result<String> {
    let mut runs: Vec<_> = runs.into_iter().collect();
    // As on the page of all, so that each has the same colour there.
    let ranked = in_league_order(runs.iter().map(|(timeline, _)| *timeline));
    runs.sort_by_key(|(timeline, _)| test::place(&ranked, timeline));
    let all = Page::test(test, runs.iter().map(|(timeline, _)| *timeline), style);
    let mut body = league_section(league);
    body += &parts::all_frameworks(&all, runs.len())?;
    for (at, (timeline, details)) in runs.iter().enumerate() {
        body += &section(at, timeline, details, style)?;
    }
    let title = format!("{} – perfpipe", all.title());
    parts::document(&title, all.title(), &body, &Data::new(&runs, style), &colors())
}

/// The range of the repeats' throughput, which stands beneath their median.
const RANGE: [Beneath; 1] = [Beneath {
    column: "throughput",
    names: &["throughput_min", "throughput_max"],
    heading: "least – greatest",
    before: "",
}];

/// The league, and what people should know who read it.
fn league_section(league: &League) -> String {
    let table = table::folded(&league.table(), &RANGE);
    let note = |note: &String| format!("<p>{}</p>\n", escaped(note));
    let notes: String = league.notes().iter().map(note).collect();
    format!("<div class=\"league narrow\">\n<h2>League</h2>\n{table}{notes}</div>\n")
}

/// What there is of a run.
fn section(at: usize, timeline: &Timeline, details: &Details, style: &Style) -> Result<String> {
    let page = Page::run(timeline, style);
    let mut section = format!("<section id=\"run-{at}\">\n<h2>{}</h2>\n", escaped(page.title()));
    for figures in footer::figures(timeline) {
        section += &format!("<p class=\"figures\">{}</p>\n", escaped(&figures.join("  ·  ")));
    }
    section += &format!("<div class=\"interactive\" id=\"live-{at}\"></div>\n");
    section += &parts::sheet(&page, "upright")?;
    section += &details.by_load().map(|sweep| by_load(at, sweep, style)).transpose()?.unwrap_or_default();
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
    Ok(section)
}

/// The run by its load: charts, a page, and a row for each load.
fn by_load(at: usize, sweep: &Sweep, style: &Style) -> Result<String> {
    let page = Page::sweep(sweep, style);
    let mut part = heading(&page, "By load");
    part += &format!("<p>{}</p>\n", escaped(&sweep::figures(sweep).join("  ·  ")));
    part += &format!("<div class=\"interactive\" id=\"load-{at}\"></div>\n");
    part += &parts::sheet(&page, "upright")?;
    part += &format!("<div class=\"narrow\">\n{}</div>\n", table::folded(&sweep.table(), &STEPS));
    Ok(part)
}

/// What stands beneath the figures of a load.
const STEPS: [Beneath; 2] = [
    Beneath { column: "load", names: &["load_min", "load_max"], heading: "least – greatest", before: "" },
    Beneath {
        column: "throughput",
        names: &["throughput_sd"],
        heading: "± standard deviation",
        before: "± ",
    },
];

/// The heading of a table, which names the run where it is printed on a sheet of its own.
fn heading(page: &Page, text: &str) -> String {
    format!("<h3><span class=\"run\">{}: </span>{text}</h3>\n", escaped(page.title()))
}

/// The lines' colours as the style sheet knows them.
fn colors() -> String {
    let color = |(at, (light, dark)): (usize, (&Color, &Color))| {
        format!("--series-{at}:light-dark({},{});", hex(*light), hex(*dark))
    };
    let colors: String = SERIES.iter().zip(&SERIES_DARK).enumerate().map(color).collect();
    format!(":root{{{colors}}}\n")
}
