//! The adapter that draws a page onto a canvas of the plotters crate.
//!
//! SVG, PDF and PNG are drawn without plotters, since they need only lines, areas, discs and texts, and an SVG then can't
//! fail. The adapter stays because it gives a program what the formats do not: a page beside the program's own plotters
//! charts, or on a canvas that this crate does not know, such as a window.

use plotters::coord::Shift;
use plotters::prelude::{
    Circle, Color as _, DrawingArea, DrawingAreaErrorKind, DrawingBackend, FontTransform, IntoFont,
    PathElement, Polygon, RGBAColor, ShapeStyle, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::Grid;
use super::drawing::{Anchor, Shape, Text};
use super::page::Page;
use crate::palette::Color;
use crate::text::fonts;

impl Page {
    /// Draws the page onto an area of any plotters backend, as wide as the area is.
    ///
    /// The area should have the proportions of [`Page::size`]; what is below a lower one is not cut off. Places are
    /// whole pixels, so that a page needs some 1,200 of them in width to look like its PNG. Texts are drawn by the
    /// backend, which must have the font `DejaVu Sans` or a substitute.
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
        let drawing = self.drawing();
        let grid = Grid::new(area.dim_in_pixel().0, drawing);
        drawing.shapes.iter().try_for_each(|shape| draw_shape(shape, area, &grid))
    }
}

fn draw_shape<DB: DrawingBackend>(
    shape: &Shape,
    area: &DrawingArea<DB, Shift>,
    grid: &Grid,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    match shape {
        Shape::Line { points, width, color } => {
            let style = ShapeStyle::from(rgba(*color, 1.0)).stroke_width(grid.length(*width));
            area.draw(&PathElement::new(grid.places(points), style))
        }
        Shape::Area { points, color, alpha } => {
            area.draw(&Polygon::new(grid.places(points), rgba(*color, *alpha).filled()))
        }
        Shape::Dot { at, radius, color } => {
            area.draw(&Circle::new(grid.place(at), grid.length(*radius), rgba(*color, 1.0).filled()))
        }
        Shape::Text(text) => area.draw_text(&text.text, &style(text, grid), grid.place(&text.at)),
    }
}

fn style(text: &Text, grid: &Grid) -> TextStyle<'static> {
    let h_pos = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let turn = if text.upwards { FontTransform::Rotate270 } else { FontTransform::None };
    TextStyle {
        font: (fonts::FAMILY, grid.scaled(text.size)).into_font().transform(turn),
        color: rgba(text.color, 1.0).to_backend_color(),
        pos: Pos::new(h_pos, VPos::Center),
    }
}

fn rgba(Color(red, green, blue): Color, alpha: f64) -> RGBAColor {
    RGBAColor(red, green, blue, alpha)
}
