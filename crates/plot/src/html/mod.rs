//! The report as a single HTML file: pages, tables, and interactive charts with their data.

mod data;
mod document;
mod first;
pub(crate) mod report;
mod scripts;
mod sections;
pub(crate) mod site;
mod table;

use perfpipe_analyze::format::one_line;
use perfpipe_analyze::table::Table;

use self::document::{HELP, HtmlParts, document, sheet};
use self::report::{Grouped, Report, grouped};
use self::table::TableLook;
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::escaped;
use crate::style::Style;

/// Writes the report of a test as a single HTML file that needs no network.
///
/// Its first screen says what was tested, when, for how long and how much, whether the rules hold, what stands out, and
/// the league. Below are the frameworks laid over each other, and each run with its charts, phases, figures by load,
/// failures and labels.
///
/// With scripts enabled, a cross-hair reads all charts at a second, dragging zooms in, and a bar shows the figures of the
/// part that is shown: numbers of requests exactly, percentiles exactly for the whole run, its phases and runs of up to
/// half an hour, otherwise to 1 % and marked so. Without scripts, the printed pages and the tables are shown. The file's
/// content security policy forbids it to load anything.
///
/// The same runs give the same text. A run of 7 minutes takes at most 0.3 MB, one of half an hour 1 MB, one of a day 4 MB.
///
/// # Errors
/// [`crate::Error::Html`] if the data can't be written.
pub fn html(report: &Report<'_>, style: &Style) -> Result<String> {
    let runs = grouped(&report.runs);
    let verdicts = first::verdicts(report.verdicts);
    let findings = first::findings(&runs);
    let mut main = verdicts.clone() + &first::league(report, &runs) + &findings;
    let several = runs.iter().filter(|run| run.median).count() > 1;
    let compared = runs.len() > 1;
    if compared {
        main +=
            &sections::all_frameworks(&Page::test(report.test, runs.iter().map(|run| run.timeline), style));
    }
    main += &sections::runs(&runs, style);
    let sections = [
        ("verdicts", "Rules", !verdicts.is_empty()),
        ("league", "League", true),
        ("findings", "What stands out", !findings.is_empty()),
        ("all", if several { "All frameworks" } else { "All repeats" }, compared),
    ];
    let sections: Vec<(&str, &str)> =
        sections.iter().filter(|(_, _, there)| *there).map(|(id, name, _)| (*id, *name)).collect();
    let title = title(report, &runs);
    let parts = HtmlParts {
        title: &title,
        head: first::head(&title, report, &runs),
        nav: first::contents(&sections, &runs),
        main,
        help: HELP,
    };
    document(&parts, &runs, style)
}

/// Returns the title: the run, or the test of several frameworks.
fn title(report: &Report<'_>, runs: &[Grouped<'_>]) -> String {
    match runs {
        [run] => one_line(&run.title()),
        _ => format!("All frameworks – {}", one_line(report.test)),
    }
}

/// How such a report is read.
const FIGURES_HELP: &str = "Click a heading of the table to sort it. Columns that are narrow on paper have all their digits \
                    in the formats for programs.";

/// The parts of a report of pages and a table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Figures<'a> {
    /// The title.
    pub title: String,
    /// Sentences below the title.
    pub notes: Vec<String>,
    /// The pages that are shown.
    pub pages: Vec<Page>,
    /// Further pages, which a button shows.
    pub more: Vec<Page>,
    /// The table below the pages.
    pub table: &'a Table,
}

impl<'a> Figures<'a> {
    /// Starts a report from its title and its table.
    pub fn new(title: impl Into<String>, table: &'a Table) -> Self {
        Self { title: title.into(), notes: Vec::new(), pages: Vec::new(), more: Vec::new(), table }
    }

    /// Writes the report as a single HTML file that needs no network, as [`html()`] does.
    ///
    /// # Errors
    /// [`crate::Error::Html`] if the data can't be written.
    pub fn html(&self, style: &Style) -> Result<String> {
        let notes: String =
            self.notes.iter().map(|note| format!("<p>{}</p>\n", escaped(&one_line(note)))).collect();
        let pages: String = self.pages.iter().map(figure).collect();
        let more: String =
            self.more.iter().map(|page| sheet(page, &escaped(page.title()), "upright")).collect();
        let table = TableLook::default().table("figures", self.table);
        let main = format!(
            "<section id=\"pages\">\n{pages}{more}</section>\n<section id=\"table\">\n<h2>Figures</h2>\n\
            <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\">\n{table}</div>\n</section>\n"
        );
        let title = one_line(&self.title);
        let head = format!("<h1>{}</h1>\n{notes}", escaped(&title));
        let parts = HtmlParts { title: &title, head, nav: String::new(), main, help: FIGURES_HELP };
        document(&parts, &[], style)
    }
}

/// Returns a page as an image with its words.
fn figure(page: &Page) -> String {
    format!("<div class=\"plate\">\n{}</div>\n", page.svg())
}
