//! Collects the stored rows of a run's series: one for each reading.

use std::collections::BTreeMap;

use super::consistency;
use perfpipe_model::series::cpu::TimeSeries;
use perfpipe_model::series::server::ServerSeries;

/// The rows of one series.
struct OneSeries {
    name: String,
    unit: String,
    readings: Vec<(i64, f64)>,
}

/// The rows so far.
#[derive(Default)]
pub(crate) struct SeriesRows {
    rows: Vec<OneSeries>,
    /// The places of the series by name and unit.
    places: BTreeMap<String, BTreeMap<String, usize>>,
    /// The place of the latest.
    latest: usize,
    readings: u64,
}

impl SeriesRows {
    /// Adds a reading: its epoch second and its value.
    pub(crate) fn add(&mut self, name: &str, unit: &str, reading: (i64, f64)) {
        self.readings += 1;
        // The rows of each are mostly adjacent.
        let same = |rows: &OneSeries| rows.name == name && rows.unit == unit;
        if !self.rows.get(self.latest).is_some_and(same) {
            self.latest = self.place(name, unit);
        }
        if let Some(rows) = self.rows.get_mut(self.latest) {
            rows.readings.push(reading);
        }
    }

    fn place(&mut self, name: &str, unit: &str) -> usize {
        if let Some(place) = self.places.get(name).and_then(|units| units.get(unit)) {
            return *place;
        }
        let place = self.rows.len();
        self.places.entry(name.to_owned()).or_default().insert(unit.to_owned(), place);
        self.rows.push(OneSeries { name: name.to_owned(), unit: unit.to_owned(), readings: Vec::new() });
        place
    }

    /// Returns a fault if there are more series or readings than a run has.
    pub(crate) fn fault(&self) -> Option<String> {
        let (readings, series) = consistency::MAX_SERIES;
        let many = consistency::rows_fault("readings", self.readings, readings);
        many.or_else(|| consistency::rows_fault("series", self.rows.len() as u64, series as u64))
    }

    /// Returns the series, ascending by name.
    pub(crate) fn finish(mut self) -> Vec<ServerSeries> {
        self.rows.sort_by(|one, other| one.name.cmp(&other.name));
        let series = self.rows.into_iter();
        series.map(|rows| ServerSeries::new(rows.name, rows.unit, TimeSeries::new(rows.readings))).collect()
    }
}
