//! Asks Prometheus for the readings of a query, by windows.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::access::Access;
use super::answered::{Answered, answer, no_readings};
use super::http::{Client, Request};
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::source::cpu_export::monitor::{Found, Monitor};

/// The number of points that are asked for at once. Prometheus answers up to 11,000.
const POINTS: i64 = 10_000;

/// The maximum number of points.
const MOST_POINTS: i64 = 4_000_000;

/// Reads what a query gives for each step from `first` to `last`, epoch seconds.
pub(super) fn read(
    client: &mut Client,
    url: &str,
    (query, step): (&str, u32),
    (first, last): (i64, i64),
    access: &Access,
) -> Result<Answered, Fault> {
    let step = i64::from(step);
    // The steps of all windows are those of one.
    let first = first.div_euclid(step) * step;
    if last.saturating_sub(first) / step > MOST_POINTS {
        let remedy = "Ask for fewer points: step=60 in the URL.";
        return Err(Fault::new(
            ErrorKind::CpuTooLarge,
            "there are more than 4,000,000 points to ask for",
            remedy,
        ));
    }
    let query = utf8_percent_encode(query, NON_ALPHANUMERIC).to_string();
    let mut found = Found::default();
    let mut start = first;
    while start <= last {
        let end = last.min(start + (POINTS - 1) * step);
        let url = format!("{url}?query={query}&start={start}&end={end}&step={step}");
        let answered =
            client.send(&Request { url: &url, body: None, authorization: authorization(access) })?;
        let window = Monitor::Prometheus.read(&answered.body, &Default::default());
        let window = window.map_err(|fault| match answered.status.is_success() {
            true => fault,
            false if fault.problem.contains("error of Prometheus") => Fault::new(
                ErrorKind::SourceAnswer,
                fault.problem,
                "Check the query in the URL, and try again.",
            ),
            false => answer(format!("answers {}", answered.status)),
        })?;
        found.empty_values += window.empty_values;
        found.readings.extend(window.readings);
        start = end + step;
    }
    if found.readings.is_empty() {
        return Err(no_readings((first, last), None));
    }
    Ok(Answered { found, scale: None, notes: Vec::new() })
}

fn authorization(access: &Access) -> Option<String> {
    use base64::Engine as _;

    if let Some(token) = &access.token {
        return Some(format!("Bearer {}", token.text()));
    }
    let (user, password) = access.login.as_ref()?;
    let both = format!("{user}:{}", password.text());
    Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(both)))
}
