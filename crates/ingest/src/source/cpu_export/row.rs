//! Parses one row of a CPU export into a reading.

use std::collections::{BTreeMap, BTreeSet};

use csv_async::ByteRecord;

use super::form::{CpuMetric, CsvForm};
use super::table::{is_no_value, number};
use crate::source::SourceOptions;
use perfpipe_formats::date::{DateForm, DateParser};
use perfpipe_formats::time_format::TimeFormat;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};

/// The remedy for a row that can't be read.
pub(super) const CORRECT: &str = "Correct or remove that line, or export the readings again as clock,value.";

/// Plausible times in seconds: 1973 to 5138. Present times in milliseconds lie beyond it.
pub(super) const CLOCKS: std::ops::Range<i64> = 100_000_000..100_000_000_000;

/// Above this, a reading of a CPU below 0 is one of 0, but for its rounding: 100 % less the idle time is often just below.
pub(super) const ROUNDED: f64 = -1.0;

/// The number of labels of parts of the CPU's use that are kept for a message.
const MOST_PARTS: usize = 20;

/// One reading.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowReading {
    /// Epoch second.
    pub(super) clock: i64,
    /// Nanoseconds within the second; 0 if unknown.
    pub(super) ns: u32,
    /// The value as exported; PerfMon's is divided by 1000.
    pub(super) value: f64,
    /// The series that it belongs to, if the export names several.
    pub(super) series: Option<String>,
}

/// Parses the rows of one form.
pub(super) struct RowReader<'a> {
    place: &'a Place,
    form: &'a CsvForm,
    dates: DateParser,
    /// True for another series than the CPU: of any metric, and perhaps negative.
    any: bool,
    /// The label of a PerfMon log that was chosen.
    item: Option<String>,
    /// The label of a PerfMon log from which the use of each host's CPU is read.
    cpu_labels: BTreeMap<String, String>,
    /// The labels of a PerfMon log that are parts of the CPU's use, or none of it.
    pub(super) parts: BTreeSet<String>,
    /// The number of readings of the CPU that failed.
    pub(super) failed: u64,
    /// The number of rows without a value so far.
    pub(super) empty_values: u64,
    /// The date format of the first time, if that is a date.
    pub(super) date: Option<DateForm>,
    /// True until the first time has been read.
    timeless: bool,
    /// True once the header, or the first reading, has been read.
    begun: bool,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(place: &'a Place, form: &'a CsvForm, options: &SourceOptions) -> Self {
        Self {
            place,
            form,
            dates: options.dates(),
            any: options.series.is_some(),
            item: options.cpu_item.clone(),
            cpu_labels: BTreeMap::new(),
            parts: BTreeSet::new(),
            failed: 0,
            empty_values: 0,
            date: None,
            timeless: true,
            begun: false,
        }
    }

    /// Parses a row. Returns `None` for headers, rows without a value, and for the CPU other metrics.
    ///
    /// # Errors
    /// If a field is missing or can't be parsed.
    pub(super) fn read(&mut self, row: &ByteRecord) -> Result<Option<RowReading>> {
        if self.is_header(row) || self.draws_only(row) {
            return Ok(None);
        }
        let series = self.series(row)?;
        if !self.any && self.form.perfmon_label.is_some() {
            return self.read_perfmon(row, series.unwrap_or_default());
        }
        let clock = self.clock(row)?;
        let Some(value) = self.value(row)? else {
            self.empty_values += 1;
            return Ok(None);
        };
        Ok(Some(RowReading { clock, ns: self.ns(row)?, value, series }))
    }

    /// Parses a row of a PerfMon log. Returns `None` for other metrics than the CPU's use, and for readings that failed,
    /// whose value is -1.
    fn read_perfmon(&mut self, row: &ByteRecord, label: String) -> Result<Option<RowReading>> {
        let is_chosen = self.item.as_ref().is_some_and(|item| *item == label);
        let metric = match CpuMetric::of(&label) {
            Some((_, metric)) if is_chosen => metric,
            None if is_chosen => CpuMetric::Use,
            Some((_, CpuMetric::Part)) => {
                if self.parts.len() < MOST_PARTS {
                    self.parts.insert(label);
                }
                return Ok(None);
            }
            Some((host, metric)) => {
                let known = self.cpu_labels.entry(host.to_owned()).or_insert_with(|| label.clone());
                // Of use and idle, one is enough.
                if *known != label {
                    return Ok(None);
                }
                metric
            }
            None => return Ok(None),
        };
        let clock = self.clock(row)?;
        let column = self.form.values.first().map_or(0, |value| value.column);
        if self.field(row, column, "value")?.starts_with(b"-") {
            self.failed += 1;
            return Ok(None);
        }
        let Some(value) = self.value(row)? else {
            self.empty_values += 1;
            return Ok(None);
        };
        let value = if metric == CpuMetric::Idle { (100.0 - value).max(0.0) } else { value };
        Ok(Some(RowReading { clock, ns: 0, value, series: Some(label) }))
    }

    /// Returns true if the row is the header, which repeats where exports were joined, or if it is before the table.
    fn is_header(&mut self, row: &ByteRecord) -> bool {
        if self.begun && !self.form.has_header {
            return false;
        }
        let same = |(field, name): (&[u8], &String)| {
            let field = field.trim_ascii();
            String::from_utf8_lossy(without_mark(field)).trim() == name
        };
        let is_first = row.len() == self.form.first.len() && row.iter().zip(&self.form.first).all(same);
        let before = !self.begun;
        self.begun |= is_first;
        if self.form.has_header { before || is_first } else { before && !is_first }
    }

    /// Returns true for a row without any content: blank, a rule between rows, or the count of rows below a table.
    fn draws_only(&self, row: &ByteRecord) -> bool {
        let rule = |field: &[u8]| field.iter().all(|byte| b"-+=| ".contains(byte));
        let first = row.get(0).unwrap_or_default().trim_ascii();
        let is_count = row.len() == 1 && first.starts_with(b"(") && first.ends_with(b")");
        is_count || row.iter().all(|field| field.trim_ascii().is_empty()) || row.len() == 1 && rule(first)
    }

    fn series(&self, row: &ByteRecord) -> Result<Option<String>> {
        if let Some(label) = self.form.perfmon_label {
            return Ok(Some(String::from_utf8_lossy(self.field(row, label, "label")?).into_owned()));
        }
        let Some(item) = self.form.item else {
            let labels = self.form.labels.iter().map(|label| self.field(row, *label, "label"));
            let labels: Vec<&[u8]> = labels.collect::<Result<_>>()?;
            let label = || String::from_utf8_lossy(&labels.join(&b' ')).into_owned();
            return Ok((!labels.is_empty()).then(label));
        };
        let text = self.field(row, item, "itemid")?;
        match std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok()) {
            Some(item) => Ok(Some(item.to_string())),
            None => Err(self.flaw(row, "itemid", text, "is not a whole number")),
        }
    }

    fn clock(&mut self, row: &ByteRecord) -> Result<i64> {
        let text = self.field(row, self.form.clock, "clock")?;
        if std::mem::take(&mut self.timeless) {
            self.date = self.dates.form(text);
        }
        if let Some(ms) = self.dates.parse(text) {
            let clock = Some(ms.div_euclid(1000)).filter(|clock| CLOCKS.contains(clock));
            return clock.ok_or_else(|| self.flaw(row, "clock", text, "is not a plausible time"));
        }
        let whole = text.split(|byte| *byte == b'.').next().unwrap_or_default();
        let fraction = text.get(whole.len() + 1..).unwrap_or_default();
        let number = std::str::from_utf8(whole).ok().and_then(|whole| whole.parse::<i64>().ok());
        let Some(mut clock) = number.filter(|_| fraction.iter().all(u8::is_ascii_digit)) else {
            let remedy = TimeFormat::remedy(&[&String::from_utf8_lossy(text)]);
            let why = "is neither an epoch time nor an ISO date";
            return Err(self.flaw_with(row, "clock", text, why, remedy.as_deref().unwrap_or(CORRECT)));
        };
        // Milli-, micro- and nanoseconds of present times differ by orders of magnitude.
        while clock >= CLOCKS.end {
            clock /= 1000;
        }
        match CLOCKS.contains(&clock) {
            true => Ok(clock),
            false => Err(self.flaw(row, "clock", text, "is not a plausible epoch time")),
        }
    }

    /// Reads the sum of the columns of values. `None` if one of them is empty.
    fn value(&self, row: &ByteRecord) -> Result<Option<f64>> {
        let scale = if self.form.perfmon_label.is_some() { 1000.0 } else { 1.0 };
        let mut sum = 0.0;
        for of in &self.form.values {
            let text = self.field(row, of.column, "value")?;
            let shown = String::from_utf8_lossy(text);
            let bare = shown.trim();
            if is_no_value(bare) {
                return Ok(None);
            }
            let Some(value) = number(bare, self.form.delimiter) else {
                return Err(self.flaw(row, "value", text, "is not a number"));
            };
            sum += if of.is_idle && !self.any { 100.0 - value } else { value };
        }
        if !self.any && sum <= ROUNDED {
            let column = self.form.values.first().map_or(0, |value| value.column);
            return Err(self.flaw(row, "value", self.field(row, column, "value")?, "is negative"));
        }
        Ok(Some(sum / scale))
    }

    fn ns(&self, row: &ByteRecord) -> Result<u32> {
        let Some(column) = self.form.ns else { return Ok(0) };
        let text = self.field(row, column, "ns")?;
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
        match number.filter(|ns| *ns < 1_000_000_000) {
            Some(ns) => Ok(ns),
            None if text.is_empty() => Ok(0),
            None => Err(self.flaw(row, "ns", text, "is not a number of nanoseconds within a second")),
        }
    }

    fn field<'r>(&self, row: &'r ByteRecord, column: usize, name: &str) -> Result<&'r [u8]> {
        let text = row.get(column).map(<[u8]>::trim_ascii);
        text.map(without_mark).ok_or_else(|| {
            let problem = format!("the row ends before field {}, {name} (fields: {})", column + 1, row.len());
            Error::input(ErrorKind::CpuReading, self.place_of(row), problem, CORRECT)
        })
    }

    fn flaw(&self, row: &ByteRecord, column: &str, text: &[u8], why: &str) -> Error {
        self.flaw_with(row, column, text, why, CORRECT)
    }

    fn flaw_with(&self, row: &ByteRecord, column: &str, text: &[u8], why: &str, remedy: &str) -> Error {
        let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
        Error::input(ErrorKind::CpuReading, self.place_of(row), format!("{column} {shown:?} {why}"), remedy)
    }

    fn place_of(&self, row: &ByteRecord) -> Place {
        match row.position() {
            Some(position) => self.place.clone().at(position.line(), position.byte()),
            None => self.place.clone(),
        }
    }
}

/// Returns a field without the byte-order mark, with which the first row may begin.
fn without_mark(field: &[u8]) -> &[u8] {
    field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field)
}
