//! Pages as SVG: vector graphics, with text as text.

use std::convert::Infallible;

use plotters::prelude::{DrawingBackend, IntoDrawingArea};
use plotters::style::text_anchor::HPos;
use plotters_backend::{BackendColor, BackendStyle, BackendTextStyle};

use super::canvas::{self, Done, GridPoint, UNITS};
use super::drawing::Drawing;
use crate::palette::Color;
use crate::text::fonts;

/// Returns the document of a page.
pub(super) fn document(drawing: &Drawing, title: &str) -> String {
    let size = canvas::size(drawing.size);
    let mut out = head(size, title);
    // This backend has no errors, and nobody else has its area.
    let _ = canvas::draw(&drawing.shapes, drawing.size.0, &Svg { out: &mut out, size }.into_drawing_area());
    out.push_str("</svg>\n");
    out
}

/// Returns the head of a document, with the paper.
fn head((width, height): (u32, u32), title: &str) -> String {
    let (width, height, fonts, title) = (length(width), length(height), fonts::STACK, escaped(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{fonts}\" role=\"img\" xml:space=\"preserve\" \
         stroke-linejoin=\"round\" stroke-linecap=\"round\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    )
}

/// Writes shapes into a document.
struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
}

impl Svg<'_> {
    fn put(&mut self, element: &str) -> Done {
        self.out.push_str(element);
        Ok(())
    }
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: GridPoint, color: BackendColor) -> Done {
        self.draw_path([at, at], &color)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = GridPoint>>(&mut self, at: I, style: &S) -> Done {
        let (stroke, width) = (paint("stroke", style.color()), length(style.stroke_width()));
        self.put(&format!("<path fill=\"none\"{stroke} stroke-width=\"{width}\" d=\"{}\"/>\n", data(at)))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = GridPoint>>(&mut self, at: I, style: &S) -> Done {
        self.put(&format!("<path{} d=\"{}z\"/>\n", paint("fill", style.color()), data(at)))
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): GridPoint, radius: u32, style: &S, _: bool) -> Done {
        let (x, y, radius) = (Points(x), Points(y), length(radius));
        let fill = paint("fill", style.color());
        self.put(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{fill}/>\n"))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): GridPoint) -> Done {
        let (x, y) = (Points(x), Points(y));
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let (size, drop) = (Points(style.size().round() as i32), Points(canvas::drop(style).round() as i32));
        let place = match canvas::degrees(style) {
            0 => format!(" x=\"{x}\" y=\"{y}\" dy=\"{drop}\""),
            turn => format!(" transform=\"translate({x} {y})rotate({turn})\" y=\"{drop}\""),
        };
        let (fill, text) = (paint("fill", style.color()), escaped(text));
        self.put(&format!("<text font-size=\"{size}\"{anchor}{fill}{place}>{text}</text>\n"))
    }
}

/// Returns a colour as an attribute, with its opacity as another unless it is opaque.
fn paint(attribute: &str, BackendColor { rgb: (red, green, blue), alpha }: BackendColor) -> String {
    let color = hex(Color(red, green, blue));
    match alpha < 1.0 {
        true => format!(" {attribute}=\"{color}\" {attribute}-opacity=\"{:.2}\"", alpha.max(0.0)),
        false => format!(" {attribute}=\"{color}\""),
    }
}

/// Returns a path's data, with coordinates relative to the place before.
fn data(places: impl IntoIterator<Item = GridPoint>) -> String {
    let mut out = String::new();
    let mut last: Option<GridPoint> = None;
    for (x, y) in places {
        out.push_str(&match last {
            None => format!("M{} {}", Points(x), Points(y)),
            Some((x0, y0)) if y == y0 => format!("h{}", Points(x - x0)),
            Some((x0, y0)) if x == x0 => format!("v{}", Points(y - y0)),
            Some((x0, y0)) => format!("l{} {}", Points(x - x0), Points(y - y0)),
        });
        last = Some((x, y));
    }
    out
}

fn length(units: u32) -> Points {
    Points(units.try_into().unwrap_or(i32::MAX))
}

/// A length in units, displayed in points in the shortest form.
struct Points(i32);

impl std::fmt::Display for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const HUNDRED: u32 = UNITS as u32;
        let (whole, rest) = (self.0.unsigned_abs() / HUNDRED, self.0.unsigned_abs() % HUNDRED);
        let sign = if self.0 < 0 { "-" } else { "" };
        match rest {
            0 => write!(f, "{sign}{whole}"),
            _ if rest % 10 == 0 => write!(f, "{sign}{whole}.{}", rest / 10),
            _ => write!(f, "{sign}{whole}.{rest:02}"),
        }
    }
}

/// Returns a colour in CSS notation.
pub(crate) fn hex(Color(r, g, b): Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes a text for XML and HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            // Neither XML nor HTML allows these.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use plotters::coord::Shift;
    use plotters::prelude::{
        DrawingArea, FontTransform, IntoFont, PathElement, Pixel, RED, ShapeStyle, TextStyle,
    };
    use plotters::style::Color as _;

    use super::*;

    /// What `draw` writes onto a page of 3 by 2 units.
    fn drawn(draw: impl FnOnce(&DrawingArea<Svg<'_>, Shift>)) -> String {
        let mut out = String::new();
        draw(&Svg { out: &mut out, size: (3, 2) }.into_drawing_area());
        out
    }

    #[test]
    fn elements_that_no_page_has_are_drawn() {
        assert_eq!(
            drawn(|area| area.draw(&Pixel::new((1, 2), RED)).unwrap()),
            "<path fill=\"none\" stroke=\"#ff0000\" stroke-width=\"0.01\" d=\"M0.01 0.02h0\"/>\n"
        );
        let style = ShapeStyle { color: RED.mix(0.25), filled: false, stroke_width: 2 };
        let line = "<path fill=\"none\" stroke=\"#ff0000\" stroke-opacity=\"0.25\" stroke-width=\"0.02\" d=\"M0 0h0.03\"/>\n";
        assert_eq!(drawn(|area| area.draw(&PathElement::new([(0, 0), (3, 0)], style)).unwrap()), line);
        let downwards = TextStyle::from(("DejaVu Sans", 1000).into_font()).transform(FontTransform::Rotate90);
        let place = "transform=\"translate(1 2)rotate(90)\" y=\"3.65\"";
        assert_eq!(
            drawn(|area| area.draw_text("<a>", &downwards, (100, 200)).unwrap()),
            format!("<text font-size=\"10\" fill=\"#000000\" {place}>&lt;a&gt;</text>\n")
        );
        let filled = drawn(|area| area.fill(&RED).unwrap());
        for pixel in [(0, 0), (2, 0), (0, 1), (2, 1)].map(|(x, y)| format!("M{} {}h0", Points(x), Points(y)))
        {
            assert!(filled.contains(&pixel), "{pixel}: {filled}");
        }
    }

    #[test]
    fn lengths_are_short() {
        let written: Vec<String> = [0, 5, 50, 100, -1234].map(|n| Points(n).to_string()).into();
        assert_eq!(written, ["0", "0.05", "0.5", "1", "-12.34"]);
    }
}
