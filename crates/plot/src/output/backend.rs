//! The plotters backend common to all formats: reduces all shapes to lines, areas, circles and texts.

use std::convert::Infallible;

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::canvas;

type Drawn<T = ()> = Result<T, DrawingErrorKind<Infallible>>;

/// A surface to draw on. Places and lengths are in units of the canvas.
pub(crate) trait Surface {
    /// Returns width and height.
    fn size(&self) -> (u32, u32);

    /// Draws a line through points.
    fn line<S: BackendStyle>(&mut self, points: impl IntoIterator<Item = BackendCoord>, style: &S);

    /// Fills the area within points.
    fn area(&mut self, points: impl IntoIterator<Item = BackendCoord>, color: BackendColor);

    /// Draws or fills a circle.
    fn circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, filled: bool);

    /// Draws a text at a place.
    fn text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord);
}

/// A plotters backend that draws on a surface.
pub(crate) struct Backend<S>(pub(crate) S);

impl<T: Surface> DrawingBackend for Backend<T> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.0.size()
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect((x, y), (x + 1, y + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (x0, y0): BackendCoord,
        (x1, y1): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)];
        match fill {
            true => self.fill_polygon(corners, style),
            false => self.draw_path(corners.into_iter().chain([(x0, y0)]), style),
        }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.0.line(path, style);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.0.circle(center, radius, style, fill);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.0.area(vert, style.color());
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        self.0.text(text, style, at);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(&self, text: &str, style: &S) -> Drawn<(u32, u32)> {
        Ok(canvas::text_size(text, style))
    }
}
