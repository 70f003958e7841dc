//! The HTML file around the sections: head, policy, style and scripts.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

use super::data::{DetailData, RunIndex, SeriesData, packed, plain};
use super::report::Grouped;
use super::scripts::{SCRIPT, STYLE};
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::{escaped, hex};
use crate::palette::{Color, SERIES, SERIES_DARK};
use crate::style::Style;

/// The help text on using the charts.
pub(super) const HELP: &str = "Point at a chart, or tap it, to read all charts at that second. Drag to zoom in on a part of the \
                    time: the bar above the charts shows the figures of that part. Double-click for the whole. Keys, \
                    with the focus on the bar's slider: <kbd>←</kbd> <kbd>→</kbd> move by a second, <kbd>+</kbd> \
                    <kbd>−</kbd> zoom, <kbd>Esc</kbd> shows the whole. Keys in a chart by percentile or by load: \
                    <kbd>←</kbd> <kbd>→</kbd> move from point to point. Click a legend entry to hide its line, and a heading to \
                    sort its table.";

/// The parts of a file.
pub(super) struct HtmlParts<'a> {
    pub(super) title: &'a str,
    /// The heading with what is directly below it.
    pub(super) head: String,
    /// The contents.
    pub(super) nav: String,
    pub(super) main: String,
    /// How the report is read, as HTML.
    pub(super) help: &'static str,
}

/// Returns the whole file.
pub(super) fn document(parts: &HtmlParts<'_>, runs: &[Grouped<'_>], style: &Style) -> Result<String> {
    let css = format!("{}{}", colors(), *STYLE);
    let script: &str = &SCRIPT;
    let (title, policy) = (escaped(parts.title), policy(script, &css));
    let version = env!("CARGO_PKG_VERSION");
    let HtmlParts { head, nav, main, help, .. } = parts;
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
        <title>{title} – perfpipe</title>\n<style>{css}</style>\n</head>\n<body>\n\
        <header>\n{head}<button type=\"button\" class=\"tool\" id=\"theme\">Light or dark</button>\n</header>\n{nav}\
        <main>\n{main}<details class=\"help\"><summary>How to read and use this report</summary>\n<p>{help}</p>\n</details>\n</main>\n\
        <footer>perfpipe {version}</footer>\n"
    );
    plain(&mut html, "index", &RunIndex::new(runs, style))?;
    for (at, run) in runs.iter().enumerate() {
        packed(&mut html, &format!("series-{at}"), &SeriesData::new(run.timeline, run.details))?;
        packed(&mut html, &format!("detail-{at}"), &DetailData::new(run.details))?;
    }
    html += &format!("<script>{script}</script>\n</body>\n</html>\n");
    Ok(html)
}

/// Returns the content security policy: the file may use its own style and script, and load nothing.
fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    )
}

/// Returns the frameworks' colours as CSS variables, and as classes for swatches.
fn colors() -> String {
    let color = |(at, (light, dark)): (usize, (&Color, &Color))| {
        format!("--series-{at}:light-dark({},{});", hex(*light), hex(*dark))
    };
    let colors: String = SERIES.iter().zip(&SERIES_DARK).enumerate().map(color).collect();
    let swatches: String =
        (0..SERIES.len()).map(|at| format!(".of-{at}{{background:var(--series-{at})}}")).collect();
    format!(":root{{{colors}}}{swatches}")
}

/// Returns a page as printed. It is shown to readers without scripts and printed; with scripts, a button shows it. Until
/// then it is only text to the browser, so that the report is shown at once.
pub(super) fn sheet(page: &Page, name: &str, way: &str) -> String {
    let svg = page.svg();
    let button = "<button type=\"button\" class=\"tool\" aria-expanded=\"false\">";
    format!(
        "<div class=\"sheet-slot\">\n{button}{name}</button>\n<noscript><div class=\"sheet {way}\">\n{svg}</div></noscript>\n</div>\n"
    )
}

/// Returns the swatch of a framework's colour.
pub(super) fn swatch(color: usize) -> String {
    format!("<i class=\"swatch of-{}\"></i>", color % SERIES.len())
}
