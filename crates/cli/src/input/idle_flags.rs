//! Flags that would act on nothing: they are refused, since whoever gives one takes the figures to be of it.

use anyhow::Result;
use perfpipe_ingest::Error;

use crate::args::{PageFormat, StyleArgs};

/// Refuses flags of pages where none are drawn; `flag` would draw some.
///
/// # Errors
/// When there is one.
pub(crate) fn check_no_pages(style: &StyleArgs, flag: &str) -> Result<()> {
    let StyleArgs { format, scale, paper, color_by, palette, cpu_max, cores } = style;
    let made = [
        ("--format", format.is_some()),
        ("--scale", scale.is_some()),
        ("--paper", paper.is_some()),
        ("--color-by", color_by.is_some()),
        ("--palette", palette.is_some()),
        ("--cpu-max", cpu_max.is_some()),
        ("--cores", cores.is_some()),
    ];
    match made.iter().find(|(_, made)| *made) {
        None => Ok(()),
        Some((idle, _)) => {
            let problem = format!("{idle} is about pages, and none are drawn");
            Err(Error::usage(problem, format!("Leave it out, or have pages drawn by {flag} DIR.")).into())
        }
    }
}

/// Refuses flags of pages that are of another format than those asked for.
///
/// # Errors
/// When there is one.
pub(crate) fn check_formats(style: &StyleArgs) -> Result<()> {
    if style.scale.is_none() || style.formats().contains(&PageFormat::Png) {
        return Ok(());
    }
    let problem = "--scale is about PNG pages, and none are drawn";
    Err(Error::usage(problem, "Leave it out, or have them drawn by --format png.").into())
}
