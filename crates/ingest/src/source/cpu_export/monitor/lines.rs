//! The lines of a text that a monitoring tool printed.

use std::borrow::Cow;

use super::found::flaw;
use crate::formats::steps;
use crate::run::fault::Fault;

/// The maximum length of a line, in bytes.
const LONGEST: usize = 64 << 10;

/// The lines of a text with their numbers, from 1.
///
/// # Errors
/// If a line is too long.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Result<(u64, Cow<'_, str>), Fault>> {
    text.split(|byte| *byte == b'\n').zip(1..).map(|(line, number)| decoded(line, number))
}

fn decoded(line: &[u8], number: u64) -> Result<(u64, Cow<'_, str>), Fault> {
    steps::count(line.len() + 1);
    if line.len() > LONGEST {
        return Err(flaw("the line is longer than 64 KiB").at_line(number, 0));
    }
    Ok((number, String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))))
}
