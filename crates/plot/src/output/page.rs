//! Pages: charts laid out on paper, which can be written in any format.

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, DrawingBackend};

use super::drawing::Drawing;
use super::{canvas, svg};

/// A page of charts, laid out and ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    title: String,
    /// When the test began, as an epoch time in ms.
    date: Option<i64>,
    drawing: Drawing,
}

impl Page {
    /// Creates a page from a finished drawing; `date` is when the test began, as an epoch time in ms.
    pub(crate) fn new(drawing: Drawing, title: String, date: Option<i64>) -> Self {
        Self { title, date, drawing }
    }

    /// Draws something on the page in addition.
    pub(crate) fn with_note(mut self, draw: impl FnOnce(&mut Drawing)) -> Self {
        draw(&mut self.drawing);
        self
    }

    /// Returns when the test began, as an epoch time in ms; `None` if nothing was tested.
    pub(crate) fn date(&self) -> Option<i64> {
        self.date
    }

    /// Returns the page's title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the page's width and height, in points of 1/72 inch.
    pub fn size(&self) -> (f64, f64) {
        self.drawing.size
    }

    /// Returns the shapes on the page.
    pub(crate) fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// Returns the page as an SVG document. The same page gives the same text.
    pub fn svg(&self) -> String {
        svg::document(&self.drawing, &self.title)
    }
    /// Draws the page onto an area of any plotters backend, as wide as the area is.
    ///
    /// SVG, PDF and PNG are drawn in the same way, on backends of this crate. The area should have the proportions of
    /// [`Page::size`]: plotters draws what is below a lower one at its lower edge. Places are whole pixels, so that a
    /// page needs some 1,200 of them in width to look like its PNG. Texts are drawn by the backend, which must have the
    /// font `DejaVu Sans` or a substitute.
    ///
    /// # Errors
    /// The backend's errors.
    ///
    /// ```
    /// use perfpipe_analyze::{Timeline, View};
    /// # use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
    /// # use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
    /// use perfpipe_plot::{Page, Style};
    /// use plotters::prelude::*;
    /// # use plotters_backend::{BackendColor, DrawingErrorKind};
    ///
    /// # let key = CellKey { second: 0, label: 0, success: true, transaction: false };
    /// # let cell = Cell { elapsed: vec![(10, 2)], ..Cell::default() };
    /// # let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 999);
    /// # let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], [(key, cell)]));
    /// # struct Window<'a> { dark: &'a mut usize }
    /// # impl DrawingBackend for Window<'_> {
    /// #     type ErrorType = std::convert::Infallible;
    /// #     fn get_size(&self) -> (u32, u32) { (1200, 849) }
    /// #     fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> { Ok(()) }
    /// #     fn present(&mut self) -> Result<(), DrawingErrorKind<Self::ErrorType>> { Ok(()) }
    /// #     fn draw_pixel(
    /// #         &mut self, _: (i32, i32), color: BackendColor,
    /// #     ) -> Result<(), DrawingErrorKind<Self::ErrorType>> {
    /// #         *self.dark += usize::from(color.rgb != (255, 255, 255));
    /// #         Ok(())
    /// #     }
    /// #     fn draw_text<S: plotters_backend::BackendTextStyle>(
    /// #         &mut self, _: &str, _: &S, _: (i32, i32),
    /// #     ) -> Result<(), DrawingErrorKind<Self::ErrorType>> { Ok(()) }
    /// # }
    /// # let mut dark = 0;
    /// # let window = Window { dark: &mut dark };
    /// let timeline = Timeline::new(&run, &View::default())?;
    /// let page = Page::run(&timeline, &Style::default());
    /// {
    ///     // Any plotters backend, such as `BitMapBackend::new("charts.png", (1200, 849))`.
    ///     let root = window.into_drawing_area();
    ///     root.fill(&WHITE)?;
    ///     let (left, _right) = root.split_horizontally(600);
    ///     page.draw(&left)?;
    ///     root.present()?;
    /// }
    /// # assert!(dark > 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn draw<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
        canvas::draw(&self.drawing.shapes, self.drawing.size.0, area)
    }
}
