//! The lines of a text that a monitoring tool printed, and their times.

use std::borrow::Cow;

use jiff::civil::Date;

use super::found::{flaw, shown};
use perfpipe_formats::date::{DateForm, DateParser};
use perfpipe_formats::work_count;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::time_zone::TimeZone;

/// Reads dates with times, in a zone where they name none.
pub(super) struct LineDates {
    parser: DateParser,
    /// The format of the first date.
    pub(super) form: Option<DateForm>,
}

impl LineDates {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { parser: DateParser::new(zone), form: None }
    }

    /// Returns the epoch second of a day and a time of it, in UTC or else in the zone that is given.
    pub(super) fn second(&mut self, day: &str, time: &str, utc: bool) -> Result<i64, Fault> {
        let text = format!("{day} {time}{}", if utc { "Z" } else { "" });
        if self.form.is_none() {
            self.form = self.parser.form(text.as_bytes());
        }
        match self.parser.parse(text.as_bytes()) {
            Some(ms) => Ok(ms.div_euclid(1000)),
            None => Err(flaw(format!(
                "the time {:?} is none that perfpipe reads",
                shown(&format!("{day} {time}"))
            ))),
        }
    }
}

/// Finds the days of times that follow each other.
#[derive(Default)]
pub(super) struct Days {
    day: Option<Date>,
    last: String,
}

impl Days {
    /// Returns the day of the next time. `first` is the day of the first one.
    pub(super) fn of(&mut self, first: &str, time: &str) -> Result<String, Fault> {
        let day = match self.day {
            // Midnight has passed.
            Some(day) if *time < *self.last => day.tomorrow().unwrap_or(day),
            Some(day) => day,
            None => date(first)?,
        };
        (self.day, self.last) = (Some(day), time.to_owned());
        Ok(day.to_string())
    }
}

/// Reads `2026-11-22`, `11/22/26`, `11/22/2026` or `22.11.2026`: the month is second where the first number can be none.
fn date(text: &str) -> Result<Date, Fault> {
    let parts: Vec<&str> = text.split(['/', '.']).collect();
    let parsed = match parts.as_slice() {
        [first, second, year] => {
            let century = if year.len() == 2 { "20" } else { "" };
            let day_first = text.contains('.') || first.parse::<u32>().is_ok_and(|first| first > 12);
            let (month, day) = if day_first { (second, first) } else { (first, second) };
            format!("{century}{year}-{month}-{day}").parse()
        }
        _ => text.parse(),
    };
    parsed.map_err(|_| {
        let remedy = "Let it write dates as in 2026-11-22, by S_TIME_FORMAT=ISO in its environment.";
        Fault {
            remedy: remedy.to_owned(),
            ..flaw(format!("the date {:?} is none that perfpipe reads", shown(text)))
        }
    })
}

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
    work_count::count(line.len() + 1);
    if line.len() > LONGEST {
        return Err(flaw("the line is longer than 64 KiB").at_line(number, 0));
    }
    Ok((number, String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))))
}
