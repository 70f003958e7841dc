//! Pages as SVG: vector graphics, with text as text.

use std::fmt::Write as _;

use super::canvas::{self, GridPoint, Surface, UNITS};
use super::drawing::{Anchor, Drawing, Text};
use crate::palette::Color;
use crate::text::fonts;

/// Returns the document of a page.
pub(super) fn document(drawing: &Drawing, title: &str) -> String {
    let mut out = String::new();
    begin(&mut out, drawing.size, title);
    canvas::draw(drawing, &mut Svg { out: &mut out });
    out.push_str("</svg>\n");
    out
}

/// Begins a document for a page whose size is in points.
fn begin(out: &mut String, points: (f64, f64), title: &str) {
    let (width, height) = canvas::size(points);
    let (width, height) = (number(width.cast_signed()), number(height.cast_signed()));
    put(
        out,
        format_args!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" "),
    );
    put(out, format_args!("viewBox=\"0 0 {width} {height}\" font-family=\"{}\" ", fonts::STACK));
    put(out, format_args!("role=\"img\" xml:space=\"preserve\" "));
    put(out, format_args!("stroke-linejoin=\"round\" stroke-linecap=\"round\">\n"));
    put(out, format_args!("<title>{}</title>\n", escaped(title)));
    put(out, format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"));
}

/// Writes shapes into a document.
struct Svg<'a> {
    out: &'a mut String,
}

impl Svg<'_> {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        put(self.out, text);
    }

    /// Writes a path's data, with coordinates relative to the place before.
    fn places(&mut self, places: &[GridPoint]) {
        let mut last: Option<GridPoint> = None;
        for &(x, y) in places {
            match last {
                None => self.put(format_args!("M{} {}", number(x), number(y))),
                Some((x0, y0)) if y == y0 => self.put(format_args!("h{}", number(x - x0))),
                Some((x0, y0)) if x == x0 => self.put(format_args!("v{}", number(y - y0))),
                Some((x0, y0)) => self.put(format_args!("l{} {}", number(x - x0), number(y - y0))),
            }
            last = Some((x, y));
        }
    }
}

impl Surface for Svg<'_> {
    fn line(&mut self, places: &[GridPoint], width: u32, color: Color) {
        let (color, width) = (hex(color), length(width));
        self.put(format_args!("<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" d=\""));
        self.places(places);
        self.put(format_args!("\"/>\n"));
    }

    fn area(&mut self, places: &[GridPoint], color: Color, alpha: f64) {
        self.put(format_args!("<path fill=\"{}\"", hex(color)));
        if alpha < 1.0 {
            self.put(format_args!(" fill-opacity=\"{:.2}\"", alpha.max(0.0)));
        }
        self.put(format_args!(" d=\""));
        self.places(places);
        self.put(format_args!("z\"/>\n"));
    }

    fn dot(&mut self, (x, y): GridPoint, radius: u32, color: Color) {
        let (x, y, radius) = (number(x), number(y), length(radius));
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>\n", hex(color)));
    }

    fn text(&mut self, text: &Text, (x, y): GridPoint, size: f64) {
        let (x, y) = (number(x), number(y));
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (size, drop) = (number(size.round() as i32), number(canvas::drop(size).round() as i32));
        self.put(format_args!("<text font-size=\"{size}\"{anchor} fill=\"{}\"", hex(text.color)));
        match text.upwards {
            false => self.put(format_args!(" x=\"{x}\" y=\"{y}\" dy=\"{drop}\"")),
            true => self.put(format_args!(" transform=\"translate({x} {y})rotate(270)\" y=\"{drop}\"")),
        }
        self.put(format_args!(">{}</text>\n", escaped(&text.text)));
    }
}

/// Appends formatted text. Writing to a String can't fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Converts units to points, displayed in the shortest form.
fn number(units: i32) -> Points {
    Points(units)
}

fn length(units: u32) -> Points {
    Points(units.try_into().unwrap_or(i32::MAX))
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
    use super::*;

    #[test]
    fn lengths_are_short() {
        let written: Vec<String> = [0, 5, 50, 100, -1234].map(|n| number(n).to_string()).into();
        assert_eq!(written, ["0", "0.05", "0.5", "1", "-12.34"]);
    }
}
