//! Collects the stored rows of a run's series: one for each reading.

use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;

/// The rows of one series.
struct Rows {
    name: String,
    unit: String,
    readings: Vec<(i64, f64)>,
}

/// The rows so far.
#[derive(Default)]
pub(crate) struct SeriesRows(Vec<Rows>);

impl SeriesRows {
    /// Adds a reading: its epoch second and its value.
    pub(crate) fn add(&mut self, name: &str, unit: &str, reading: (i64, f64)) {
        // A run has few series, and the rows of each mostly stand together.
        match self.0.iter_mut().rev().find(|rows| rows.name == name && rows.unit == unit) {
            Some(rows) => rows.readings.push(reading),
            None => {
                self.0.push(Rows { name: name.to_owned(), unit: unit.to_owned(), readings: vec![reading] });
            }
        }
    }

    /// Returns the series, ascending by name.
    pub(crate) fn finish(mut self) -> Vec<ServerSeries> {
        self.0.sort_by(|one, other| one.name.cmp(&other.name));
        let series = self.0.into_iter();
        series.map(|rows| ServerSeries::new(rows.name, rows.unit, TimeSeries::new(rows.readings))).collect()
    }
}
