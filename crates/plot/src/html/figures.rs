//! The report of a comparison, a trend or a sweep as a single HTML file: drawn pages, and a table that can be sorted.

use perfpipe_analyze::format::one_line;
use perfpipe_analyze::table::Table;

use super::policy_source;
use super::table::table;
use crate::output::page::Page;
use crate::output::svg::escaped;

/// What the file does, and how it looks.
const SCRIPT: &str = include_str!("figures.js");
const STYLE: &str = include_str!("figures.css");

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

    /// Writes the report as a single HTML file that needs no network. Its content security policy forbids it to load anything.
    pub fn html(&self) -> String {
        let title = escaped(&one_line(&self.title));
        let notes: String =
            self.notes.iter().map(|note| format!("<p>{}</p>\n", escaped(&one_line(note)))).collect();
        let pages: String = self.pages.iter().map(plate).collect();
        let more: String = self.more.iter().map(sheet).collect();
        let (script, style) = (policy_source(SCRIPT), policy_source(STYLE));
        let (table, version) = (table("figures", self.table), env!("CARGO_PKG_VERSION"));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
            <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src{script}; \
            style-src{style}; base-uri 'none'; form-action 'none'\">\n\
            <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
            <title>{title} – perfpipe</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
            <header>\n<h1>{title}</h1>\n{notes}<button type=\"button\" class=\"tool\" id=\"theme\">Light or dark</button>\n</header>\n\
            <main>\n<section id=\"pages\">\n{pages}{more}</section>\n<section id=\"table\">\n<h2>Figures</h2>\n\
            <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\">\n{table}</div>\n</section>\n\
            <details class=\"help\"><summary>How to read and use this report</summary>\n<p>{HELP}</p>\n</details>\n</main>\n\
            <footer>perfpipe {version}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

/// How such a report is read.
const HELP: &str = "Click a heading of the table to sort it. Columns that are narrow on paper have all their digits in the \
                    formats for programs.";

/// Returns a page as an image with its words.
fn plate(page: &Page) -> String {
    format!("<div class=\"plate\">\n{}</div>\n", page.svg())
}

/// Returns a page that is printed, and shown to readers without scripts; with scripts, a button shows it. Until then it is only
/// text to the browser, so that the report is shown at once.
fn sheet(page: &Page) -> String {
    let (svg, title) = (page.svg(), escaped(page.title()));
    let button = "<button type=\"button\" class=\"tool\" aria-expanded=\"false\">";
    format!(
        "<div class=\"sheet-slot\">\n{button}{title}</button>\n<noscript><div class=\"sheet\">\n{svg}</div></noscript>\n</div>\n"
    )
}
