//! Compares the date parser with a regular expression and a calendar.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::date::DateParser;
use perfpipe_model::fuzz::Taker;
use perfpipe_model::run::time_zone::TimeZone;

/// The parts of a date.
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(\d{4})([/-])(\d\d)([/-])(\d\d)";
    let time = r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{3}(?:\d{3}){0,2}))?";
    Regex::new(&format!(r"^{date}[ T]{time}(Z|[+-]\d\d(?::?\d\d)?)?$")).unwrap()
});

/// Parses a date by the calendar into epoch ms; `None` if it is invalid. The first and last years are not supported.
pub fn slow(text: &[u8], zone: &str) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let parts = FORM.captures(text)?;
    let number = |part: usize| parts[part].parse::<i64>().unwrap();
    let (year, month, day) = (number(1), number(3), number(5));
    let (hour, minute, second) = (number(6), number(7), number(8));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    if parts[2] != parts[4] || !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days_before: i64 = lengths.iter().take(month as usize - 1).sum();
    let years = |year: i64| year * 365 + year / 4 - year / 100 + year / 400;
    let days = years(year - 1) - years(1969) + days_before + day - 1;
    let local = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let offset = match parts.get(10).map(|zone| zone.as_str()) {
        None => offset_of(zone, &parts, second)?,
        Some("Z") => 0,
        Some(offset) => offset_in(offset)?,
    };
    let fraction = parts.get(9).map_or(0, |fraction| fraction.as_str()[..3].parse().unwrap());
    Some((local - offset) * 1000 + fraction)
}

/// Parses an offset from UTC in seconds.
fn offset_in(text: &str) -> Option<i64> {
    let digits = text[1..].replace(':', "") + "00";
    let (hours, minutes): (i64, i64) = (digits[..2].parse().unwrap(), digits[2..4].parse().unwrap());
    let seconds = hours * 3600 + minutes * 60;
    (hours <= 18 && minutes < 60).then_some(if text.starts_with('-') { -seconds } else { seconds })
}

fn offset_of(zone: &str, parts: &regex_lite::Captures<'_>, second: i64) -> Option<i64> {
    if zone == "UTC" {
        return Some(0);
    }
    let civil = format!("{}-{}-{}T{}:{}:{second:02}", &parts[1], &parts[3], &parts[5], &parts[6], &parts[7]);
    let civil: jiff::civil::DateTime = civil.parse().ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::get(zone).unwrap()).unwrap();
    // In the hour skipped by daylight saving time, the offset before the change applies.
    let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_second();
    Some(utc - zoned.timestamp().as_second())
}

/// Parses each line in some zone. The result must be the date by the calendar, or none, whatever was parsed before.
pub fn dates(data: &[u8]) {
    let mut taker = Taker::new(data);
    let zone = ["UTC", "Europe/Warsaw", "America/New_York", "Asia/Kathmandu"][usize::from(taker.byte() % 4)];
    let mut parser = DateParser::new(zone.parse::<TimeZone>().unwrap());
    for line in taker.rest().split(|byte| *byte == b'\n') {
        let found = parser.parse(line);
        // The calendar has no year 0, and ends on a day of 9999.
        if line.starts_with(b"0000") || line.starts_with(b"9999") {
            continue;
        }
        // Before standard time, offsets had odd seconds.
        if zone != "UTC" && line < &b"1950"[..] {
            continue;
        }
        assert_eq!(found, slow(line, zone), "{:?} in {zone}", String::from_utf8_lossy(line));
    }
}
