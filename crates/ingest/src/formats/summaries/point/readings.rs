//! Readings of the server's series while a load tool ran.

use serde::{Deserialize, Serialize};

use super::exact;

/// Readings of a series of the server, such as its memory, while a tool ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Readings {
    /// The name of the series.
    pub name: String,
    /// The unit of its readings.
    pub unit: String,
    /// The mean of the readings.
    #[serde(with = "exact")]
    pub mean: f64,
    /// The greatest reading.
    #[serde(with = "exact")]
    pub greatest: f64,
}

impl Readings {
    /// Summarises readings; `None` if there are none.
    ///
    /// ```
    /// use perfpipe_ingest::points::Readings;
    ///
    /// let memory = Readings::of("memory", "bytes", &[2e6, 4e6]).map(|memory| (memory.mean, memory.greatest));
    /// assert_eq!(memory, Some((3e6, 4e6)));
    /// assert_eq!(Readings::of("memory", "bytes", &[]), None);
    /// ```
    pub fn of(name: impl Into<String>, unit: impl Into<String>, readings: &[f64]) -> Option<Self> {
        let greatest = readings.iter().copied().reduce(f64::max)?;
        let mean = readings.iter().sum::<f64>() / readings.len() as f64;
        Some(Self { name: name.into(), unit: unit.into(), mean, greatest })
    }
}
