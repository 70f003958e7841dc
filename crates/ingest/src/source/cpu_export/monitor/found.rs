//! What is found in the text of a monitoring tool, and what is wrong with one.

use std::collections::BTreeMap;

use perfpipe_formats::date::DateForm;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// The maximum number of readings: 46 days at one a second.
pub(in crate::source::cpu_export) const MOST_READINGS: usize = 4_000_000;
/// The maximum number of series.
pub(in crate::source::cpu_export) const MOST_SERIES: usize = 1000;

/// The epoch second of a reading, the nanoseconds within it, and the value.
pub(in crate::source::cpu_export) type Stamped = (i64, u32, f64);

/// The content of a text, or the answers of a host: readings by series, no more than fit.
#[derive(Debug, Default, PartialEq)]
pub(in crate::source::cpu_export) struct FoundReadings {
    series: Vec<Vec<Stamped>>,
    /// The place of each series by its name, which is empty for one without a name.
    places: BTreeMap<String, usize>,
    /// The number of readings.
    count: usize,
    /// The number of readings that are kept elsewhere.
    others: usize,
    /// The number of rows without a value.
    pub(in crate::source::cpu_export) empty_values: u64,
    /// The date format of the first time, if that is a date.
    pub(in crate::source::cpu_export) date: Option<DateForm>,
    /// Why there may be more than was found, as a clause, if the text says so.
    pub(in crate::source::cpu_export) doubt: Option<String>,
    /// The number of the machine's cores, if it is in the text.
    pub(in crate::source::cpu_export) cores: Option<u32>,
}

impl FoundReadings {
    /// Nothing yet, beside this number of readings that are kept already.
    pub(in crate::source::cpu_export) fn beside(others: usize) -> Self {
        Self { others, ..Self::default() }
    }

    /// Returns the number of readings.
    pub(in crate::source::cpu_export) fn len(&self) -> usize {
        self.count
    }

    /// Returns the place of a series.
    ///
    /// # Errors
    /// If there are too many series.
    pub(in crate::source::cpu_export) fn series(&mut self, name: &str) -> Result<usize, Fault> {
        if let Some(place) = self.places.get(name) {
            return Ok(*place);
        }
        let place = self.series.len();
        if place >= MOST_SERIES {
            return Err(too_many("more than 1,000 series"));
        }
        self.series.push(Vec::new());
        self.places.insert(name.to_owned(), place);
        Ok(place)
    }

    /// Adds a reading to the series at a place.
    ///
    /// # Errors
    /// If there are too many readings.
    pub(in crate::source::cpu_export) fn add(&mut self, place: usize, reading: Stamped) -> Result<(), Fault> {
        if self.count + self.others >= MOST_READINGS {
            return Err(too_many("more than 4,000,000 readings"));
        }
        self.count += 1;
        self.series.get_mut(place).into_iter().for_each(|series| series.push(reading));
        Ok(())
    }

    /// Adds a reading to the only series.
    ///
    /// # Errors
    /// If there are too many readings.
    pub(in crate::source::cpu_export) fn only(&mut self, reading: Stamped) -> Result<(), Fault> {
        let place = self.series("")?;
        self.add(place, reading)
    }

    /// Returns the series that have readings, by name and in the order in which they came.
    pub(in crate::source::cpu_export) fn into_series(
        self,
    ) -> impl Iterator<Item = (Option<String>, Vec<Stamped>)> {
        let mut names: Vec<(usize, String)> =
            self.places.into_iter().map(|(name, place)| (place, name)).collect();
        names.sort_unstable();
        let named = |((_, name), readings)| (Some(name).filter(|name: &String| !name.is_empty()), readings);
        names.into_iter().zip(self.series).map(named).filter(|(_, readings)| !readings.is_empty())
    }
}

/// The fault of more than is read.
pub(in crate::source::cpu_export) fn too_many(problem: &str) -> Fault {
    let remedy = "Export or ask for the time of the run only, and only one item.";
    Fault::new(ErrorKind::CpuTooLarge, format!("there are {problem}"), remedy)
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

/// The begin of a text, for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_of_a_cpu_is_what_is_neither_idle_nor_waiting_nor_stolen() {
        assert_eq!((used([99.5, 0.0, 0.0]), used([98.99, 0.01, 0.3])), (0.5, 0.7));
        assert_eq!(used([100.01, 0.0, 0.0]), 0.0);
    }

    #[test]
    fn readings_are_counted_with_those_that_are_held_elsewhere() {
        let mut found = FoundReadings::beside(MOST_READINGS - 1);
        found.only((1, 0, 1.0)).unwrap();
        assert_eq!(found.only((2, 0, 1.0)).unwrap_err().kind, ErrorKind::CpuTooLarge);
        let mut found = FoundReadings::default();
        for at in 0..MOST_SERIES {
            assert_eq!(found.series(&at.to_string()).unwrap(), at);
        }
        assert_eq!((found.series("0").unwrap(), found.series("999").unwrap()), (0, 999));
        assert_eq!(found.series("other").unwrap_err().kind, ErrorKind::CpuTooLarge);
    }

    #[test]
    fn series_come_in_the_order_in_which_they_were_found() {
        let mut found = FoundReadings::default();
        for (name, clock) in [("b", 1), ("", 2), ("a", 3), ("b", 4), ("c", 5)] {
            let place = found.series(name).unwrap();
            if name != "c" {
                found.add(place, (clock, 0, 0.0)).unwrap();
            }
        }
        let clocks = |(name, readings): (Option<String>, Vec<Stamped>)| {
            (name.unwrap_or_default(), readings.iter().map(|reading| reading.0).collect::<Vec<_>>())
        };
        let series: Vec<_> = found.into_series().map(clocks).collect();
        assert_eq!(series, [("b".into(), vec![1, 4]), (String::new(), vec![2]), ("a".into(), vec![3])]);
    }
}
