//! Refusal of flags that have no effect: a user who gives one expects the output to depend on it.

use anyhow::Result;

use crate::args::{LinePagesArgs, NoStoreArgs, PageFormat, PageOptions, StoreArgs};
use crate::error::CliError;
use crate::output::fonts;

/// Refuses flags on pages if none are drawn. `by` is the flag that draws pages; flags in `others` have other effects
/// too.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_no_pages(pages: &PageOptions<'_>, by: &str, others: &[&str]) -> Result<()> {
    match pages.given().find(|flag| !others.contains(flag)) {
        None => Ok(()),
        Some(idle) => {
            let problem = format!("{idle} has no effect, since no pages are drawn");
            Err(CliError::usage(problem, format!("Leave it out, or draw pages with {by} DIR.")).into())
        }
    }
}

/// Refuses flags on pages of lines that are invalid or have no effect. A report draws pages too, but into itself.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_line_pages(drawn: &LinePagesArgs, is_report: bool) -> Result<()> {
    let pages = drawn.options();
    if pages.wants_html() {
        let remedy = "Give --page-format svg, pdf or png; --format html writes all in one file.";
        return Err(CliError::usage("a single page can't be written as html", remedy).into());
    }
    if drawn.out.is_none() {
        let of_report: &[&str] = if is_report { &["--paper", "--log-scale"] } else { &[] };
        check_no_pages(&pages, "--out", of_report)?;
    }
    check_formats(&pages)?;
    if drawn.out.is_some() { fonts::check(&pages) } else { Ok(()) }
}

/// Refuses flags on pages that are for another format than the requested ones.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_formats(pages: &PageOptions<'_>) -> Result<()> {
    let flag = pages.flag;
    if pages.sheet.scale.is_some() && !pages.formats().contains(&PageFormat::Png) {
        let problem = "--scale has no effect, since no PNG pages are drawn";
        return Err(CliError::usage(problem, format!("Leave it out, or draw them with {flag} png.")).into());
    }
    let drawn = |format: &PageFormat| matches!(format, PageFormat::Pdf | PageFormat::Png);
    if pages.sheet.fonts.is_some() && !pages.formats().iter().any(drawn) {
        let problem = "--fonts has no effect, since no PDF or PNG pages are drawn";
        return Err(CliError::usage(problem, format!("Leave it out, or draw them with {flag} pdf.")).into());
    }
    let of_pages = |flag: &&str| ["--paper", "--log-scale"].contains(flag);
    match pages.given().find(of_pages) {
        Some(idle) if !pages.wants_pages() => {
            let problem = format!("{idle} has no effect, since an html report has no pages");
            let remedy = format!("Leave it out, or draw pages with {flag} svg, pdf or png.");
            Err(CliError::usage(problem, remedy).into())
        }
        _ => Ok(()),
    }
}

/// Refuses the flags of the store for a command that opens none.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_no_store(args: &NoStoreArgs, global: &StoreArgs) -> Result<()> {
    match args.given(global) {
        None => Ok(()),
        Some(flag) => Err(CliError::usage(
            format!("{flag} has no effect, since the command opens no store"),
            "Leave it out.",
        )
        .into()),
    }
}
