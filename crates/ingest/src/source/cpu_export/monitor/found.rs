//! What is found in the text of a monitoring tool, and what is wrong with one.

use crate::error::ErrorKind;
use crate::formats::date::DateForm;
use crate::run::fault::Fault;
use crate::source::cpu_export::row::Reading;

/// What a text holds.
#[derive(Debug, Default, PartialEq)]
pub(in crate::source::cpu_export) struct Found {
    pub(in crate::source::cpu_export) readings: Vec<Reading>,
    /// The number of rows without a value.
    pub(in crate::source::cpu_export) empty_values: u64,
    /// The date format of the first time, if that is a date.
    pub(in crate::source::cpu_export) date: Option<DateForm>,
    /// The number of the machine's cores, if the text tells it.
    pub(in crate::source::cpu_export) cores: Option<u32>,
}

/// The use of a CPU in percent: all but idle time, time that waited for disks, and time that was stolen.
pub(super) fn used(idle: [f64; 3]) -> f64 {
    // The parts have two decimals, and so has their sum.
    (idle.into_iter().fold(100.0, |rest, part| rest - part) * 1e4).round().max(0.0) / 1e4
}

/// The fault of a text that can't be read.
pub(super) fn flaw(problem: impl Into<String>) -> Fault {
    Fault::new(
        ErrorKind::CpuReading,
        problem,
        "Export the readings again, or give them as CSV with the columns clock and value.",
    )
}

/// Parses a JSON text.
pub(super) fn json<'a, T: serde::Deserialize<'a>>(text: &'a [u8], what: &str) -> Result<T, Fault> {
    serde_json::from_slice(text).map_err(|error| flaw(format!("is not {what} as perfpipe knows it: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_of_a_cpu_is_what_is_neither_idle_nor_waiting_nor_stolen() {
        assert_eq!((used([99.5, 0.0, 0.0]), used([98.99, 0.01, 0.3])), (0.5, 0.7));
        assert_eq!(used([100.01, 0.0, 0.0]), 0.0);
    }
}
