//! A series of the server beside its CPU, such as its memory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::cpu::{CpuChoice, CpuJoin, TimeSeries};
use crate::error::{Error, ErrorKind, Result};
use crate::run::info::RunInfo;
use crate::run::note::{Note, NoteKind};

/// The maximum length of a name and of a unit, in bytes.
const LONGEST: usize = 40;

/// The remedy for a name that can't be used.
const NAME: &str = "Name it with letters, digits, `_` and `-`, as in memory.";

/// A series of the server beside its CPU, by name and unit.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSeries {
    /// Its name, unique within the run.
    pub name: String,
    /// The unit of its readings.
    pub unit: String,
    /// The readings by epoch second.
    pub readings: TimeSeries,
}

impl ServerSeries {
    /// Describes a series.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, readings: TimeSeries) -> Self {
        Self { name: name.into(), unit: unit.into(), readings }
    }

    /// How its readings are joined to seconds: each holds for 3 s, or for the median interval of the readings if that is
    /// longer, but at most an hour. `offset` is added to the clock of every reading, in seconds.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::series::{TimeSeries, ServerSeries};
    /// let minutely = TimeSeries::new(vec![(60, 5e9), (120, 6e9), (180, 7e9)]);
    /// let memory = ServerSeries::new("memory", "bytes", minutely);
    /// let join = memory.join(2);
    /// assert_eq!((memory.readings.at(179, join), memory.readings.at(182, join)), (Some(6e9), Some(7e9)));
    /// assert_eq!(memory.readings.at(61, join), None);
    /// ```
    pub fn join(&self, offset: i64) -> CpuJoin {
        CpuChoice::default().with_offset(offset).join(&self.readings)
    }

    /// The number of a run's seconds that have a reading.
    pub fn covered(&self, run: &RunInfo) -> u32 {
        let (begin, join) = (run.t0_ms.div_euclid(1000), self.join(run.cpu_offset));
        let has = |second: &u32| self.readings.at(begin.saturating_add((*second).into()), join).is_some();
        (0..run.seconds).filter(has).fold(0, |count, _| count + 1)
    }

    /// A note if none of a run's seconds has a reading.
    pub fn apart_note(&self, covered: u32) -> Option<Note> {
        let text = || format!("no reading of the series {} falls within the run", self.name);
        (covered == 0).then(|| Note::new(NoteKind::SeriesApart, text()))
    }
}

/// A file with a series of the server beside its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeriesFile {
    /// The name of the series. In a log of JMeter's PerfMon plugin it selects the metric or the label.
    pub name: String,
    /// The unit of the readings, such as `bytes`.
    pub unit: String,
    /// The Zabbix item to read, if the file contains several.
    pub item: Option<u64>,
    /// The columns of a table: that of the time, then that of the readings, by name or by number from 1, separated by a comma.
    /// By default the column that is named as the series, or the only one of readings.
    pub columns: Option<String>,
    /// The file: an export of Zabbix, a log of JMeter's PerfMon plugin, or a table of times and readings.
    pub file: PathBuf,
}

impl SeriesFile {
    /// Describes a file.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), unit: unit.into(), item: None, columns: None, file: file.into() }
    }

    /// Sets the Zabbix item to read.
    #[must_use]
    pub fn with_item(mut self, item: u64) -> Self {
        self.item = Some(item);
        self
    }

    /// Sets the columns of a table.
    #[must_use]
    pub fn with_columns(mut self, columns: impl Into<String>) -> Self {
        self.columns = Some(columns.into());
        self
    }
}

/// Checks the names and units of a run's series.
///
/// # Errors
/// If a name is given twice, is `cpu`, or has other characters than letters, digits, `_` and `-`; or if a unit is empty or
/// long, or has characters that are not shown.
pub fn check<'a>(series: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
    let refuse = |problem: String, remedy| Err(Error::usage(ErrorKind::SeriesName, problem, remedy));
    let mut known = BTreeSet::new();
    for (name, unit) in series {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(plain) {
            return refuse(format!("a series can't be named {name:?}"), NAME);
        }
        if name.eq_ignore_ascii_case("cpu") {
            let remedy = "Give the CPU readings by themselves: as a file beside the log, or by the address of their source.";
            return refuse("the CPU is a series of its own, of which perfpipe knows the unit".into(), remedy);
        }
        if !known.insert(name) {
            return refuse(format!("two series are named {name}"), "Give each a name of its own.");
        }
        if unit.trim().is_empty() || unit.len() > LONGEST || !unit.chars().all(is_printable) {
            let remedy = "Give its unit, as in bytes.";
            return refuse(format!("the series {name} can't be in the unit {unit:?}"), remedy);
        }
    }
    Ok(())
}

/// Returns true if a character is shown as itself: one that changes the direction of writing, say, would change what is
/// beside it.
fn is_printable(letter: char) -> bool {
    matches!(letter, '\'' | '"' | '\\') || letter.escape_debug().eq([letter])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_not_be_asked_for_are_refused() {
        let of = |names: &[(&str, &str)]| check(names.iter().copied()).map_err(|error| error.to_string());
        assert_eq!(of(&[("memory", "bytes"), ("disk-io_2", "MB/s")]), Ok(()));
        for bad in ["", "my memory", "Größe", "CPU", &"x".repeat(41)] {
            assert!(of(&[(bad, "bytes")]).is_err(), "{bad}");
        }
        assert_eq!(of(&[("room", "°C"), ("rate", "µJ/\"s\" 'x' \\")]), Ok(()));
        for unit in ["", " ", "a\nb", "\u{202e}setyb", "a\u{2028}b", "a\u{2066}b", "a\u{200f}"] {
            assert!(of(&[("memory", unit)]).is_err(), "{unit}");
        }
        assert!(of(&[("memory", "bytes"), ("memory", "%")]).unwrap_err().contains("two series"));
    }
}
