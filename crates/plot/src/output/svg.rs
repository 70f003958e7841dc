//! The SVG backend: vector graphics, with text as text.

use std::fmt::Write as _;

use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle};

use super::backend::Surface;
use super::canvas::{self, UNITS};
use crate::palette::Color;
use crate::text::font;

/// Writes an SVG document into a string.
pub(crate) struct SvgSurface<'a> {
    out: &'a mut String,
    size: (u32, u32),
}

impl<'a> SvgSurface<'a> {
    /// Begins a document for a page whose size is in points.
    pub(crate) fn new(out: &'a mut String, points: (f64, f64), title: &str) -> Self {
        let size = canvas::size(points);
        let (width, height) = (number(size.0.cast_signed()), number(size.1.cast_signed()));
        put(
            out,
            format_args!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" "
            ),
        );
        put(out, format_args!("viewBox=\"0 0 {width} {height}\" font-family=\"{}\" ", font::STACK));
        put(out, format_args!("role=\"img\" xml:space=\"preserve\" "));
        put(out, format_args!("stroke-linejoin=\"round\" stroke-linecap=\"round\">\n"));
        put(out, format_args!("<title>{}</title>\n", escaped(title)));
        put(out, format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"));
        Self { out, size }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        put(self.out, text);
    }

    /// Writes a path's data, with coordinates relative to the point before.
    fn places(&mut self, places: impl IntoIterator<Item = BackendCoord>) {
        let mut last: Option<BackendCoord> = None;
        for (x, y) in places {
            match last {
                None => self.put(format_args!("M{} {}", number(x), number(y))),
                Some((x0, y0)) if y == y0 => self.put(format_args!("h{}", number(x - x0))),
                Some((x0, y0)) if x == x0 => self.put(format_args!("v{}", number(y - y0))),
                Some((x0, y0)) => self.put(format_args!("l{} {}", number(x - x0), number(y - y0))),
            }
            last = Some((x, y));
        }
    }

    fn fill(&mut self, color: BackendColor) {
        self.put(format_args!("fill=\"{}\"", hex(rgb(color))));
        self.opacity("fill", color);
    }

    fn stroke<S: BackendStyle>(&mut self, style: &S) {
        let width = number(style.stroke_width().try_into().unwrap_or(i32::MAX));
        self.put(format_args!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"",
            hex(rgb(style.color()))
        ));
        self.opacity("stroke", style.color());
    }

    fn opacity(&mut self, of: &str, color: BackendColor) {
        if color.alpha < 1.0 {
            self.put(format_args!(" {of}-opacity=\"{:.2}\"", color.alpha.max(0.0)));
        }
    }
}

impl Surface for SvgSurface<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn line<S: BackendStyle>(&mut self, points: impl IntoIterator<Item = BackendCoord>, style: &S) {
        self.put(format_args!("<path "));
        self.stroke(style);
        self.put(format_args!(" d=\""));
        self.places(points);
        self.put(format_args!("\"/>\n"));
    }

    fn area(&mut self, points: impl IntoIterator<Item = BackendCoord>, color: BackendColor) {
        self.put(format_args!("<path "));
        self.fill(color);
        self.put(format_args!(" d=\""));
        self.places(points);
        self.put(format_args!("z\"/>\n"));
    }

    fn circle<S: BackendStyle>(&mut self, (x, y): BackendCoord, radius: u32, style: &S, filled: bool) {
        let radius = number(radius.try_into().unwrap_or(i32::MAX));
        self.put(format_args!("<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" ", number(x), number(y)));
        if filled {
            self.fill(style.color())
        } else {
            self.stroke(style)
        }
        self.put(format_args!("/>\n"));
    }

    fn text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) {
        let (x, y) = (number(x), number(y));
        let anchor = match canvas::lead(style) {
            lead if lead < 0.25 => "",
            lead if lead < 0.75 => " text-anchor=\"middle\"",
            _ => " text-anchor=\"end\"",
        };
        self.put(format_args!("<text font-size=\"{}\"{anchor} ", number(style.size().round() as i32)));
        self.fill(style.color());
        let drop = canvas::drop(style).round() as i32;
        match canvas::turn(style) {
            0 => self.put(format_args!(" x=\"{x}\" y=\"{y}\" dy=\"{}\"", number(drop))),
            turn => {
                let turned =
                    format_args!(" transform=\"translate({x} {y})rotate({turn})\" y=\"{}\"", number(drop));
                self.put(turned);
            }
        }
        self.put(format_args!(">{}</text>\n", escaped(text)));
    }
}

/// Ends the document.
pub(crate) fn finish(out: &mut String) {
    out.push_str("</svg>\n");
}

/// Appends formatted text. Writing to a String can't fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Converts units to points, displayed in the shortest form.
fn number(units: i32) -> Points {
    Points(units)
}

/// A length in units, displayed in points.
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

fn rgb(BackendColor { rgb: (r, g, b), .. }: BackendColor) -> Color {
    Color(r, g, b)
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
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let told: Vec<String> = [0, 5, 50, 100, -1234].map(|n| number(n).to_string()).into();
        assert_eq!(told, ["0", "0.05", "0.5", "1", "-12.34"]);
    }
}
