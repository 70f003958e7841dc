//! The first pages of a document of a test: what was tested and when, the league, and the list of the pages that follow.

use perfpipe_analyze::format::counted;
use perfpipe_analyze::table::{Column, Table};
use perfpipe_analyze::{League, Timeline};

use super::sheet::{self, PageTexts};
use super::{footer, page};
use crate::layout::frame::Rect;
use crate::output::drawing::{Anchor, Drawing, PagePart, Point, TextLine};
use crate::output::page::Page;
use crate::palette::{Color, GRID, INK, SOFT};
use crate::style::Style;
use crate::text::clock::utc_minute;
use crate::text::fonts::Fonts;

/// The sizes of headings, of rows and of notes, in points.
const SIZES: (f64, f64, f64) = (11.0, 8.0, 7.5);
/// The heights of headings with the gap below them, of rows and of lines of notes, in points.
const ROWS: (f64, f64, f64) = (19.0, 13.0, 10.5);
/// The gap between sections and between notes, in points.
const GAPS: (f64, f64) = (14.0, 3.0);
/// The gap between columns, and the largest width of a column, in points.
const COLUMN: (f64, f64) = (14.0, 170.0);
/// The share of the width of a list of pages in which their titles stand.
const TITLES: f64 = 0.4;
/// Columns that are left out if the table is too wide, the first of these first.
const SPARE: [&str; 6] =
    ["throughput_min", "throughput_max", "cpu_coverage", "requests_per_cpu_second", "p50", "p99"];
/// Figures of a page that are no charts of their own.
const NO_CHARTS: [&str; 2] = ["Phases", "Colours"];
/// The height of the number of a page above its lower edge, and its size, in points.
const NUMBER: (f64, f64) = (26.0, 7.0);

impl Page {
    /// Creates the pages of a document of a test from its league, its runs and the pages of its charts: before these stand a
    /// title, the dates of the runs, the league, and a list of the pages; all have their number.
    ///
    /// ```
    /// use perfpipe_analyze::{League, Timeline, View};
    /// use perfpipe_plot::{Page, Style, pdf};
    /// # use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// # use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    ///
    /// # let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    /// # let cell = Cell { elapsed: vec![(10, 2)], ..Cell::default() };
    /// # let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 999);
    /// # let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]));
    /// let timelines = [Timeline::new(&run, &View::default())?];
    /// let style = Style::default();
    /// let pages = vec![Page::run(&timelines[0], &style)];
    /// let pages = Page::document(&League::new(&timelines)?, &timelines, pages, &style);
    /// assert_eq!((pages.len(), pages[0].title()), (2, "Report: 2048"));
    /// let bytes = pdf(&pages)?;
    /// # assert!(bytes.len() > 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn document(league: &League, timelines: &[Timeline], pages: Vec<Self>, style: &Style) -> Vec<Self> {
        let contents = Contents { league, timelines, pages: &pages, style, fonts: style.fonts() };
        // The numbers in the list depend on how many pages the list takes, which does not depend on the numbers.
        let before = contents.draw(0).len();
        let date = timelines.iter().map(|timeline| timeline.info.t0_ms).min();
        let page = |drawing| Self::new(drawing, contents.title(), date);
        let first: Vec<Self> = contents.draw(before).into_iter().map(page).collect();
        let all: Vec<Self> = first.into_iter().chain(pages).collect();
        let count = all.len();
        all.into_iter()
            .zip(1..)
            .map(|(page, at)| page.with_note(|drawing| number(drawing, at, count)))
            .collect()
    }
}

/// Draws the number of a page at its foot.
fn number(drawing: &mut Drawing, at: usize, count: usize) {
    let (width, height) = drawing.size;
    drawing.begin(PagePart::Decoration);
    let place = (width - sheet::MARGIN, height - NUMBER.0);
    let words = format!("Page {at} of {count}");
    drawing.text(TextLine::new(&words, place, NUMBER.1, Anchor::End, SOFT));
}

/// What the first pages show.
struct Contents<'a> {
    league: &'a League,
    timelines: &'a [Timeline],
    pages: &'a [Page],
    style: &'a Style,
    fonts: Fonts,
}

impl Contents<'_> {
    fn title(&self) -> String {
        TextLine::clean(&format!("Report: {}", self.league.test))
    }

    /// Draws the pages, after which the others have numbers from `before` + 1 on.
    fn draw(&self, before: usize) -> Vec<Drawing> {
        let mut sheets = Sheets {
            contents: self,
            done: Vec::new(),
            drawing: Drawing::new((0.0, 0.0)),
            room: Rect { left: 0.0, top: 0.0, right: 0.0, bottom: 0.0 },
            y: 0.0,
        };
        sheets.begin();
        self.draw_league(&mut sheets);
        sheets.y += GAPS.0;
        self.draw_list(&mut sheets, before);
        sheets.done.push(sheets.drawing);
        sheets.done
    }

    /// Returns the number of runs and when they were, each with its words.
    fn subtitle(&self) -> Vec<String> {
        let timelines: Vec<&Timeline> = self.timelines.iter().collect();
        let starts = || self.timelines.iter().map(|timeline| timeline.info.t0_ms);
        let dates = match (starts().min().map(utc_minute), starts().max().map(utc_minute)) {
            (Some(first), Some(last)) if first != last => Some(format!("from {first} to {last}")),
            (Some(only), _) => Some(only),
            _ => None,
        };
        let runs = counted(self.timelines.len() as u64, "run");
        [page::frameworks(&timelines), runs].into_iter().chain(dates).collect()
    }

    fn draw_league(&self, sheets: &mut Sheets<'_, '_>) {
        let table = self.league.table();
        let columns = self.columns(&table, sheets.room.width());
        sheets.heading("League", ROWS.0 + 3.0 * ROWS.1);
        sheets.columns(&columns);
        for row in 0..table.len() {
            if sheets.room_for(ROWS.1) {
                sheets.columns(&columns);
            }
            let cells = columns.iter().map(|column| column.cell(&table, row, &self.fonts));
            sheets.row(&columns, cells.collect(), INK);
        }
        sheets.y += GAPS.1;
        for note in self.league.notes().into_iter().chain(self.league.note_on_hold()) {
            sheets.y += GAPS.1;
            let lines = footer::broken(&note, &self.fonts, SIZES.2, sheets.room.width());
            sheets.room_for(ROWS.2 * lines.len() as f64);
            sheets.drawing.begin(PagePart::Paragraph);
            for line in lines {
                sheets.text(&line, (sheets.room.left, sheets.y + ROWS.2 / 2.0), SIZES.2, Anchor::Start, SOFT);
                sheets.y += ROWS.2;
            }
        }
    }

    /// Returns the columns of the league that fit into `room` points.
    fn columns<'t>(&self, table: &'t Table, room: f64) -> Vec<DrawnColumn<'t>> {
        let shown = table.columns().iter().enumerate().filter(|(_, column)| column.is_shown());
        let column = |(at, column): (usize, &'t Column)| {
            let texts = (0..table.len()).map(|row| column.shown(&table.value(row, at)));
            let widths = texts.chain([column.heading()]).map(|text| self.fonts.width(&text, SIZES.1));
            DrawnColumn { at, column, width: widths.fold(0.0, f64::max).min(COLUMN.1) }
        };
        let mut columns: Vec<DrawnColumn<'t>> = shown.map(column).collect();
        let width = |columns: &[DrawnColumn<'_>]| {
            columns.iter().map(|column| column.width + COLUMN.0).sum::<f64>() - COLUMN.0
        };
        let mut spare = SPARE.iter();
        while width(&columns) > room {
            match spare.next() {
                Some(name) => columns.retain(|column| column.column.name() != *name),
                None if columns.len() > 1 => columns.truncate(columns.len() - 1),
                None => break,
            }
        }
        columns
    }

    fn draw_list(&self, sheets: &mut Sheets<'_, '_>, before: usize) {
        sheets.heading("Pages", ROWS.0 + 2.0 * ROWS.1);
        for (page, at) in self.pages.iter().zip(before + 1..) {
            sheets.room_for(ROWS.1);
            let charts: Vec<&str> = page
                .drawing()
                .parts()
                .filter_map(|(part, _)| match part {
                    PagePart::Figure(figure) => Some(figure.name.as_str()),
                    _ => None,
                })
                .filter(|name| !NO_CHARTS.contains(name))
                .collect();
            let (Rect { left, right, .. }, y) = (sheets.room, sheets.y + ROWS.1 / 2.0);
            let middle = left + (right - left) * TITLES;
            let number = at.to_string();
            let end = right - self.fonts.width(&number, SIZES.1) - COLUMN.0;
            let title = self.fonts.fitted(page.title(), SIZES.1, middle - left - COLUMN.0);
            let charts = self.fonts.fitted(&charts.join(", "), SIZES.2, end - middle);
            sheets.rule();
            sheets.drawing.begin(PagePart::Paragraph);
            sheets.text(&title, (left, y), SIZES.1, Anchor::Start, INK);
            sheets.text(&charts, (middle, y), SIZES.2, Anchor::Start, SOFT);
            sheets.text(&number, (right, y), SIZES.1, Anchor::End, INK);
            sheets.y += ROWS.1;
        }
    }
}

/// A column of the league as it is drawn.
struct DrawnColumn<'t> {
    /// Its place in the table.
    at: usize,
    column: &'t Column,
    width: f64,
}

impl DrawnColumn<'_> {
    fn cell(&self, table: &Table, row: usize, fonts: &Fonts) -> String {
        fonts.fitted(&self.column.shown(&table.value(row, self.at)), SIZES.1, self.width)
    }
}

/// Pages that are filled from top to bottom.
struct Sheets<'c, 'a> {
    contents: &'c Contents<'a>,
    /// The pages that are full.
    done: Vec<Drawing>,
    drawing: Drawing,
    /// The room of the current page, and how far it is filled.
    room: Rect,
    y: f64,
}

impl Sheets<'_, '_> {
    /// Begins a page.
    fn begin(&mut self) {
        let Contents { timelines, style, fonts, .. } = self.contents;
        let mut drawing = Drawing::new(style.paper.landscape()).with_fonts(fonts.clone());
        let title = self.contents.title();
        let chosen = footer::chosen(timelines.iter().map(|timeline| (&timeline.view, &timeline.info)));
        let subtitle = &[self.contents.subtitle()];
        let percentiles = timelines.first().map(|timeline| footer::percentiles(&timeline.percentiles));
        let footer: Vec<String> = percentiles.into_iter().collect();
        self.room =
            PageTexts { title: &title, chosen: &chosen, subtitle, footer: &footer }.draw(&mut drawing);
        self.y = self.room.top;
        self.drawing = drawing;
    }

    /// Begins a page if so many points do not fit on the current one. Returns true if it did.
    fn room_for(&mut self, height: f64) -> bool {
        let is_full = self.y + height > self.room.bottom && self.y > self.room.top;
        if is_full {
            self.done.push(std::mem::replace(&mut self.drawing, Drawing::new((0.0, 0.0))));
            self.begin();
        }
        is_full
    }

    fn text(&mut self, text: &str, at: Point, size: f64, anchor: Anchor, color: Color) {
        self.drawing.text(TextLine::new(text, at, size, anchor, color));
    }

    /// Draws a heading, on a page where at least so many points fit.
    fn heading(&mut self, words: &str, height: f64) {
        self.room_for(height);
        self.drawing.begin(PagePart::Paragraph);
        self.text(words, (self.room.left, self.y + SIZES.0 / 2.0), SIZES.0, Anchor::Start, INK);
        self.y += ROWS.0;
    }

    /// Draws the line below a row.
    fn rule(&mut self) {
        let y = self.y + ROWS.1;
        self.drawing.begin(PagePart::Decoration);
        self.drawing.line(vec![(self.room.left, y), (self.room.right, y)], 0.4, GRID);
    }

    /// Draws the headings of columns.
    fn columns(&mut self, columns: &[DrawnColumn<'_>]) {
        let fonts = &self.contents.fonts;
        let headings =
            columns.iter().map(|column| fonts.fitted(&column.column.heading(), SIZES.1, column.width));
        self.row(columns, headings.collect(), SOFT);
    }

    /// Draws a row.
    fn row(&mut self, columns: &[DrawnColumn<'_>], cells: Vec<String>, color: Color) {
        self.rule();
        self.drawing.begin(PagePart::Paragraph);
        let (mut x, y) = (self.room.left, self.y + ROWS.1 / 2.0);
        for (column, cell) in columns.iter().zip(cells) {
            let (at, anchor) = match column.column.is_number() {
                true => (x + column.width, Anchor::End),
                false => (x, Anchor::Start),
            };
            self.text(&cell, (at, y), SIZES.1, anchor, color);
            x += column.width + COLUMN.0;
        }
        self.y += ROWS.1;
    }
}
