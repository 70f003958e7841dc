//! Collects the readings of an export and selects one of its series.

use std::collections::BTreeMap;

use super::monitor::{FoundReadings, MOST_READINGS, MOST_SERIES, Stamped};
use super::row::{CLOCKS, ROUNDED, RowReading};
use super::table::plain;
use crate::source::SourceOptions;
use perfpipe_formats::date::DateForm;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::note::Note;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::series::cpu::{TimeSeries, doubt};

/// The largest plausible reading, in percent of one core: ten times as many cores as the largest machines have. Bytes
/// of memory exceed it.
const MOST_PERCENT: f64 = 1_000_000.0;
/// The maximum number of series that an error lists.
const LISTED: usize = 20;

/// What to do where an item must be chosen.
const CHOOSE: &str = "Choose one by its number (SourceOptions::cpu_item).";
const CHOOSE_LABEL: &str = "Choose one by its label (SourceOptions::cpu_item).";

/// What to do where another series than the CPU must be chosen.
const ONE_ITEM: &str = "Choose one by its number (SeriesFile::item).";
const BY_NAME: &str = "Name it as one of them, or keep only the lines of one in the file.";

/// Returns true if the series of a reading is the one that is asked for by name: as the metric of its label, or as the
/// whole label.
fn is_named(series: &Option<String>, options: &SourceOptions) -> bool {
    let (Some(label), Some(name)) = (series, options.series.as_deref().map(plain)) else { return false };
    let metric = label.split_once(' ').map_or(label.as_str(), |(_, metric)| metric);
    plain(metric) == name || plain(label) == name
}

/// Returns true for a reading that can be used, and false for one to be left out: none of a finite number, or one just below
/// zero.
///
/// # Errors
/// If it has no plausible time, or is negative and of the CPU, from whatever form it comes.
fn check((clock, _, value): Stamped, place: &Place, options: &SourceOptions) -> Result<bool> {
    let is_of_cpu = options.series.is_none();
    let problem = if !CLOCKS.contains(&clock) {
        format!("the clock {clock} is not a plausible time in epoch seconds")
    } else if !value.is_finite() || is_of_cpu && value > ROUNDED && value < 0.0 {
        return Ok(false);
    } else if value < 0.0 && is_of_cpu {
        format!("the value {} at {clock} is negative", number(value))
    } else {
        return Ok(true);
    };
    let remedy =
        "Correct or remove that reading, or export the readings again; in a query, clamp_min(…, 0) does so.";
    Err(Error::input(ErrorKind::CpuReading, place.clone(), problem, remedy))
}

/// A number in few digits, however large it is.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-6..1e15 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// The readings so far.
#[derive(Default)]
pub(super) struct ReadingsBySeries {
    /// Epoch second, nanoseconds and value of each reading of the chosen series (by default the first).
    kept: Vec<Stamped>,
    /// The number of readings of each series.
    counts: BTreeMap<Option<String>, u64>,
    /// The series whose readings are kept.
    chosen: Option<Option<String>>,
    /// The number of rows without a value.
    pub(super) empty_values: u64,
    /// The number of readings that failed.
    pub(super) failed: u64,
    /// The number of readings that are infinite, or of the CPU and just below zero.
    odd: u64,
    /// The date format of the first time, if that is a date.
    pub(super) date: Option<DateForm>,
    /// Why there may be more readings, as a clause, if their form says so.
    doubt: Option<String>,
    /// The unit of the readings, if it is known from their form.
    pub(super) scale: Option<CpuScale>,
}

impl ReadingsBySeries {
    /// Adds a reading.
    ///
    /// # Errors
    /// If there are more readings or series than the maximum, or it can't be one.
    pub(super) fn add(&mut self, reading: RowReading, place: &Place, options: &SourceOptions) -> Result<()> {
        let RowReading { clock, ns, value, series } = reading;
        self.add_to(&series, (clock, ns, value), place, options)
    }

    /// Adds all that was found in a text, or in the answers of a host.
    ///
    /// # Errors
    /// As those of [`add`](Self::add).
    pub(super) fn add_all(
        &mut self,
        found: FoundReadings,
        place: &Place,
        options: &SourceOptions,
    ) -> Result<()> {
        self.empty_values += found.empty_values;
        self.date.clone_from(&found.date);
        self.doubt = self.doubt.take().or_else(|| found.doubt.clone());
        for (series, readings) in found.into_series() {
            for reading in readings {
                self.add_to(&series, reading, place, options)?;
            }
        }
        Ok(())
    }

    fn add_to(
        &mut self,
        series: &Option<String>,
        reading: Stamped,
        place: &Place,
        options: &SourceOptions,
    ) -> Result<()> {
        if !check(reading, place, options)? {
            self.odd += 1;
            return Ok(());
        }
        let chosen = self.chosen.get_or_insert_with(|| match &options.cpu_item {
            Some(item) => Some(item.clone()),
            None => series.clone(),
        });
        match self.counts.get_mut(series) {
            Some(count) => *count += 1,
            None => {
                if series != chosen && is_named(series, options) && !is_named(chosen, options) {
                    chosen.clone_from(series);
                    self.kept.clear();
                }
                self.counts.insert(series.clone(), 1);
            }
        }
        if series == chosen {
            self.kept.push(reading);
        }
        if self.kept.len() > MOST_READINGS || self.counts.len() > MOST_SERIES {
            let problem = if self.kept.len() > MOST_READINGS {
                "more than 4,000,000 readings"
            } else {
                "more than 1,000 series"
            };
            let remedy = "Export only the time of the run, and only one item.";
            return Err(Error::input(
                ErrorKind::CpuTooLarge,
                place.clone(),
                format!("{} has {problem}", options.readings_are()),
                remedy,
            ));
        }
        Ok(())
    }

    /// Returns true if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the number of readings of each series that has a name.
    pub(super) fn items(&self) -> Vec<(String, u64)> {
        self.counts.iter().filter_map(|(name, count)| Some((name.clone()?, *count))).collect()
    }

    /// Returns the chosen series and the notes for the user.
    ///
    /// # Errors
    /// If there are several series and none was chosen, if the chosen one does not exist, or if a reading is too large.
    pub(super) fn finish(
        mut self,
        place: &Place,
        options: &SourceOptions,
    ) -> Result<(TimeSeries, Vec<Note>)> {
        self.check_choice(place, options)?;
        let mut notes: Vec<Note> = Vec::new();
        if self.empty_values > 0 {
            notes.push(format!("{place}: rows without a value, left out: {}", self.empty_values).into());
        }
        if self.failed > 0 {
            notes.push(format!("{place}: readings that failed, left out: {}", self.failed).into());
        }
        notes.extend(self.doubt.iter().map(|doubt| Note::from(format!("{place}: {doubt}"))));
        if self.odd > 0 {
            let what = if options.series.is_some() { "infinite" } else { "below 0 or infinite" };
            notes.push(format!("{place}: readings that are {what}, left out: {}", self.odd).into());
        }
        if self.kept.is_empty() {
            notes.push(format!("{place}: {} has no readings", options.readings_are()).into());
        }
        let scale = options.cpu_scale.or(self.scale);
        let factor = scale.unwrap_or_default().factor();
        if options.series.is_none() {
            let largest = self.check_range(place, factor)?;
            // A unit that the tool itself reports is not doubted.
            let doubt = scale
                .filter(|_| self.scale.is_some())
                .is_none()
                .then(|| doubt(scale, options.cores, largest));
            notes.extend(doubt.flatten().map(|doubt| doubt.at(place)));
        }
        // The sort is stable: among readings of the same moment, the last in the file stays last.
        self.kept.sort_by_key(|(clock, ns, _)| (*clock, *ns));
        let differing = self.seconds_that_differ();
        if differing > 0 {
            notes.push(format!(
                "{place}: {differing} seconds have several different readings, of which the last is used: \
                 they may come from several machines or items"
            ).into());
        }
        let series = self.kept.into_iter().map(|(clock, _, value)| (clock, value * factor)).collect();
        Ok((TimeSeries::new(series), notes))
    }

    /// Returns the largest reading, as exported.
    ///
    /// # Errors
    /// If it is too large for a CPU.
    fn check_range(&self, place: &Place, factor: f64) -> Result<f64> {
        let values = || self.kept.iter().map(|(_, _, value)| *value);
        let (least, largest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        if largest * factor <= MOST_PERCENT {
            return Ok(largest);
        }
        let problem = format!(
            "its readings range from {} to {}; a CPU has at most 1,000,000 % (10,000 cores)",
            number(least),
            number(largest)
        );
        let remedy = "Export the CPU item (in Zabbix, system.cpu.util), not memory or another item, which is another series of the server; \
                      remove single readings that are wrong.";
        Err(Error::input(ErrorKind::CpuRange, place.clone(), problem, remedy))
    }

    /// Counts the seconds with several readings that differ. The readings must be sorted.
    fn seconds_that_differ(&self) -> usize {
        let seconds = self.kept.chunk_by(|one, next| one.0 == next.0);
        let differ = |readings: &&[Stamped]| {
            readings.iter().zip(readings.iter().skip(1)).any(|(one, next)| one.2 != next.2)
        };
        seconds.filter(differ).count()
    }

    fn check_choice(&self, place: &Place, options: &SourceOptions) -> Result<()> {
        let numbered =
            self.counts.keys().any(|series| series.as_ref().is_some_and(|name| name.parse::<u64>().is_ok()));
        if options.series.is_some() && self.counts.keys().filter(|of| is_named(of, options)).count() == 1 {
            return Ok(());
        }
        let what = options.readings_are();
        let named = self.counts.keys().any(Option::is_some);
        let problem = match &options.cpu_item {
            None if self.counts.len() < 2 => return Ok(()),
            None if numbered => format!("{what} has several items: {}", self.list()),
            None => format!("{what} has several series: {}", self.list()),
            Some(_) if !self.kept.is_empty() || self.counts.is_empty() => return Ok(()),
            Some(item) if named => format!("{what} has no item {item}; it has {}", self.list()),
            Some(item) => format!("item {item} was asked for, and {what} has no itemid column"),
        };
        let (kind, remedy) = match (numbered, &options.cpu_item) {
            (true, _) if options.series.is_some() => (ErrorKind::SeriesItems, ONE_ITEM),
            (false, Some(_)) if options.series.is_some() => {
                (ErrorKind::NoSeriesItems, "Leave SeriesFile::item unset.")
            }
            (false, None) if options.series.is_some() => (ErrorKind::SeriesNames, BY_NAME),
            (true, None) => (ErrorKind::CpuItems, CHOOSE),
            (true, Some(_)) => (ErrorKind::CpuItemMissing, CHOOSE),
            (false, Some(_)) if named => (ErrorKind::CpuItemMissing, CHOOSE_LABEL),
            (false, Some(_)) => (ErrorKind::NoCpuItems, "Leave SourceOptions::cpu_item unset."),
            (false, None) => (ErrorKind::CpuSeries, CHOOSE_LABEL),
        };
        Err(Error::input(kind, place.clone(), problem, remedy))
    }

    fn list(&self) -> String {
        let named = self.counts.iter().filter_map(|(name, count)| Some((name.as_ref()?, count)));
        let mut list: Vec<String> =
            named.take(LISTED).map(|(name, count)| format!("{name} ({count} readings)")).collect();
        if self.counts.len() > LISTED {
            list.push(format!("and {} more", self.counts.len() - LISTED));
        }
        list.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_readings_than_fit_are_refused() {
        let (mut readings, options) = (ReadingsBySeries::default(), SourceOptions::default());
        let mut add = |clock| {
            let reading = RowReading { clock, ns: 0, value: 1.0, series: None };
            readings.add(reading, &Place::file("cpu.csv"), &options)
        };
        for second in 0..MOST_READINGS as i64 {
            add(CLOCKS.start + second).unwrap();
        }
        assert_eq!(add(CLOCKS.start).unwrap_err().kind(), ErrorKind::CpuTooLarge);
    }

    #[test]
    fn readings_of_no_plausible_time_and_negative_ones_of_the_cpu_are_refused() {
        let add = |clock, value, options: &SourceOptions| {
            let reading = RowReading { clock, ns: 0, value, series: None };
            ReadingsBySeries::default().add(reading, &Place::file("cpu.json"), options)
        };
        let cpu = SourceOptions::default();
        let memory = SourceOptions { series: Some("memory".to_owned()), ..SourceOptions::default() };
        for (clock, value) in [(CLOCKS.start - 1, 1.0), (CLOCKS.end, 1.0), (CLOCKS.start, -1.0)] {
            assert_eq!(add(clock, value, &cpu).unwrap_err().kind(), ErrorKind::CpuReading);
        }
        assert!(add(CLOCKS.start, 0.0, &cpu).is_ok() && add(CLOCKS.end - 1, -1.0, &memory).is_ok());
    }

    #[test]
    fn large_numbers_are_written_in_few_digits() {
        let shown = |value: f64| number(value);
        assert_eq!((shown(0.0), shown(-2.5), shown(1e7)), ("0".into(), "-2.5".into(), "10000000".into()));
        assert_eq!((shown(-9e307), shown(1e-300)), ("-9e307".into(), "1e-300".into()));
    }

    #[test]
    fn more_series_than_can_be_told_apart_are_refused() {
        let (mut readings, options) = (ReadingsBySeries::default(), SourceOptions::default());
        let mut add = |item: usize| {
            let reading =
                RowReading { clock: CLOCKS.start, ns: 0, value: 1.0, series: Some(item.to_string()) };
            readings.add(reading, &Place::file("cpu.csv"), &options)
        };
        for item in 0..MOST_SERIES {
            add(item).unwrap();
        }
        assert_eq!(add(MOST_SERIES).unwrap_err().kind(), ErrorKind::CpuTooLarge);
    }
}
