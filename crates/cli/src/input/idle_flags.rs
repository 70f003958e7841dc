//! Refusal of flags that have no effect: whoever gives one expects the output to depend on it.

use anyhow::Result;

use crate::args::{NoStoreArgs, PageFormat, PageOptions, StoreArgs};
use crate::error::CliError;

/// Refuses flags on pages if none are drawn. `by` is the flag that draws pages; flags in `others` have other effects
/// too.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_no_pages(pages: &PageOptions<'_>, by: &str, others: &[&str]) -> Result<()> {
    match pages.given().find(|flag| !others.contains(flag)) {
        None => Ok(()),
        Some(idle) => {
            let problem = format!("{idle} is about pages, and none are drawn");
            Err(CliError::usage(problem, format!("Leave it out, or have pages drawn by {by} DIR.")).into())
        }
    }
}

/// Refuses flags on pages that are for another format than the requested ones.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_formats(pages: &PageOptions<'_>) -> Result<()> {
    let flag = pages.flag;
    if pages.sheet.scale.is_some() && !pages.formats().contains(&PageFormat::Png) {
        let problem = "--scale is about PNG pages, and none are drawn";
        return Err(
            CliError::usage(problem, format!("Leave it out, or have them drawn by {flag} png.")).into()
        );
    }
    if pages.sheet.paper.is_some() && !pages.wants_pages() {
        let problem = "--paper is about pages, and an html report has none";
        let remedy = format!("Leave it out, or have pages drawn by {flag} svg, pdf or png.");
        return Err(CliError::usage(problem, remedy).into());
    }
    Ok(())
}

/// Refuses the flags of the store for a command that opens none.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn check_no_store(args: &NoStoreArgs, global: &StoreArgs) -> Result<()> {
    match args.given(global) {
        None => Ok(()),
        Some(flag) => {
            Err(CliError::usage(format!("{flag} does nothing here: no store is opened"), "Leave it out.")
                .into())
        }
    }
}
