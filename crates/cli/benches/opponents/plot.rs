//! Draws the wall times of all jobs as bars.

use std::fmt::Write;

use crate::measure::{Result, median};

/// The width of the drawing, in px.
const WIDTH: usize = 860;

/// Where the bars begin, and the length of the longest.
const BARS: (usize, usize) = (330, 430);

/// The height of a line.
const LINE: usize = 26;

/// Above the first line.
const TOP: usize = 52;

/// Returns the median wall time of each contender as an SVG, and its least and greatest as a line on the bar's end.
pub(crate) fn bars(results: &[Result], title: &str) -> String {
    let longest = results.iter().flat_map(Result::walls).fold(0.0, f64::max);
    let x = |wall: f64| BARS.0 as f64 + wall / longest * BARS.1 as f64;
    let height = TOP + results.len() * LINE + 12;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"28\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    );
    for (result, y) in results.iter().zip((TOP..).step_by(LINE)) {
        let (wall, middle) = (median(result.walls()), y + LINE / 2);
        let least = result.walls().fold(f64::INFINITY, f64::min);
        let greatest = result.walls().fold(0.0, f64::max);
        let fill = if result.name.starts_with("perfpipe") { "#0b6fb8" } else { "#9aa5b1" };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" fill=\"{fill}\"/>\
             <path d=\"M{:.1} {middle}H{:.1}\" stroke=\"#222\"/>\
             <text x=\"{:.1}\" y=\"{}\">{wall:.2} s</text>",
            BARS.0 - 10,
            middle + 5,
            escaped(result.name),
            BARS.0,
            y + 4,
            x(wall) - BARS.0 as f64,
            LINE - 8,
            x(least),
            x(greatest),
            x(greatest) + 6.0,
            middle + 5,
        );
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
