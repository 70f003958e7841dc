//! The parts of the HTML file that do not depend on the runs.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

use super::data::Data;
use crate::error::Result;
use crate::output::page::Page;
use crate::output::svg::escaped;

const STYLE: &str = include_str!("page/style.css");

/// The scripts, each after those that it needs.
const SCRIPTS: [&str; 17] = [
    include_str!("page/format.js"),
    include_str!("charts/scale.js"),
    include_str!("charts/svg.js"),
    include_str!("charts/bins.js"),
    include_str!("charts/frame.js"),
    include_str!("charts/timechart.js"),
    include_str!("charts/requests.js"),
    include_str!("charts/heat.js"),
    include_str!("charts/pointed.js"),
    include_str!("charts/curve.js"),
    include_str!("charts/sweep.js"),
    include_str!("page/view.js"),
    include_str!("page/readout.js"),
    include_str!("page/input.js"),
    include_str!("page/group.js"),
    include_str!("page/table.js"),
    include_str!("page/main.js"),
];

/// The help text on using the charts.
const HELP: &str = "Point at a chart to read all charts at that second. Drag to zoom in on a part of the \
                    time, and double-click for the whole. Keys in a chart over time: <kbd>←</kbd> \
                    <kbd>→</kbd> move by a second, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>Esc</kbd> shows the \
                    whole. Keys in a chart by percentile or by load: <kbd>←</kbd> <kbd>→</kbd> move from \
                    point to point.";

/// Returns the whole file.
pub(super) fn document(
    title: &str,
    heading: &str,
    body: &str,
    data: &Data<'_>,
    colors: &str,
) -> Result<String> {
    let script = format!("\"use strict\";\n(() => {{\n{}\n}})();\n", SCRIPTS.join("\n"));
    let style = format!("{colors}{STYLE}");
    let (title, heading, policy) = (escaped(title), escaped(heading), policy(&script, &style));
    let version = env!("CARGO_PKG_VERSION");
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
        <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n\
        <header><h1>{heading}</h1><p></p>\
        <button type=\"button\" class=\"tool\" id=\"theme\">Light or dark</button></header>\n\
        <p class=\"help\">{HELP}</p>\n{body}\
        <button type=\"button\" class=\"tool\" id=\"whole\">Whole time</button>\n\
        <footer>perfpipe {version}</footer>\n\
        <script type=\"application/json\" id=\"data\">"
    );
    data.write(&mut html)?;
    html += &format!("</script>\n<script>{script}</script>\n</body>\n</html>\n");
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

/// Returns the section of all frameworks, with an element for the interactive comparison if there are several runs.
pub(super) fn all_frameworks(page: &Page, runs: usize) -> String {
    let live = if runs > 1 { "<div class=\"interactive\" id=\"compare\"></div>\n" } else { "" };
    format!("<section>\n<h2>{}</h2>\n{live}{}</section>\n", escaped(page.title()), sheet(page, "lying"))
}

/// Returns a page as printed, with the button that shows it if interactive charts have replaced it.
pub(super) fn sheet(page: &Page, way: &str) -> String {
    let svg = page.svg();
    let button = "<button type=\"button\" class=\"tool sheet-switch\" aria-expanded=\"false\">Page as printed</button>";
    format!("{button}\n<div class=\"sheet {way}\">\n{svg}</div>\n")
}
