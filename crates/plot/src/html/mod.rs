//! The report as a single HTML file: pages, tables, and interactive charts with their data.

mod data;
mod document;
mod first;
pub(crate) mod one_file;
pub(crate) mod report;
mod scripts;
mod sections;
pub(crate) mod site;
mod table;

use perfpipe_analyze::format::one_line;
use perfpipe_analyze::table::Table;

use self::document::{HtmlParts, document, sheet};
use self::table::TableLook;
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::escaped;
use crate::style::Style;

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

    /// Writes the report as a single HTML file that needs no network.
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
