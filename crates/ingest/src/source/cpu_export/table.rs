//! Recognises tables of times and readings by their first lines: what monitoring systems export as CSV, databases print, and
//! people's own scripts write.

use super::form::{CsvForm, ValueColumn, is_clock};
use crate::source::ReadingColumns;
use crate::source::head::records;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

/// The most lines before the header, or before the first reading of a table without one.
const MOST_LINES_BEFORE: usize = 20;
/// The number of records that are looked at for a number.
const LOOKED_AT: usize = 50;
/// The fewest digits of a time: those of one without a day.
const LEAST_DIGITS: usize = 6;
/// The delimiters that are tried, in order.
const DELIMITERS: &[u8] = b",;\t|^~ ";
/// The number of columns that a message lists.
const LISTED: usize = 20;
/// The longest line that can be a header, in bytes.
const LONGEST_HEADER: usize = 16 << 10;

/// The names of columns of times, without what follows in parentheses.
const TIMES: [&str; 13] = [
    "clock",
    "timestamp",
    "time",
    "epoch",
    "date",
    "datetime",
    "date time",
    "date/time",
    "ts",
    "unix time",
    "unixtime",
    "_time",
    "timestamp_ms",
];
/// The names of columns that say to which series a reading belongs.
const LABELS: [&str; 9] =
    ["series", "name", "metric", "label", "item", "host", "hostname", "instance", "_field"];

/// The names of the columns that were given.
fn given_names(columns: &ReadingColumns) -> Option<Vec<String>> {
    let given = columns.given.as_deref()?;
    Some(records(given.as_bytes(), b',').next().unwrap_or_default())
}

/// Recognises a table that begins with `text`. `None` if it is none of times and readings.
///
/// # Errors
/// If it is not known which of its columns have the readings, or it has none of the columns that are asked for.
pub(crate) fn recognise_table(text: &[u8], columns: &ReadingColumns) -> Result<Option<CsvForm>, Fault> {
    let given = given_names(columns);
    let mut found = Ok(None);
    for (begin, line) in lines(text).take(MOST_LINES_BEFORE) {
        let rest = text.get(begin..).unwrap_or_default();
        if is_rule(line) || line.len() > LONGEST_HEADER {
            continue;
        }
        if let Some(form) = headless(line, given.as_deref()) {
            return Ok(Some(form));
        }
        for header in
            DELIMITERS.iter().filter_map(|delimiter| HeaderLine::of(line, *delimiter, given.as_deref()))
        {
            match header.form(rest, columns, given.as_deref()) {
                Ok(None) => {}
                Ok(form) => return Ok(form),
                // Another line may be the header, or another delimiter be right.
                Err(fault) if found.is_ok() => found = Err(fault),
                Err(_) => {}
            }
        }
    }
    found
}

/// The lines of a text that are not blank, without their ends, and where they begin.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut begin = 0;
    let placed = text.split(|byte| *byte == b'\n').map(move |line| {
        let at = begin;
        begin += line.len() + 1;
        (at, line.trim_ascii())
    });
    placed.filter(|(_, line)| !line.is_empty())
}

/// Returns true for a line that only draws a table, or names the delimiter to a spreadsheet.
fn is_rule(line: &[u8]) -> bool {
    line.starts_with(b"sep=") || line.iter().all(|byte| b"-+=| ".contains(byte))
}

/// A line that may name the columns.
struct HeaderLine {
    delimiter: u8,
    names: Vec<String>,
}

impl HeaderLine {
    /// Splits a line that names a time, or all the columns that were given.
    fn of(line: &[u8], delimiter: u8, given: Option<&[String]>) -> Option<Self> {
        let names = records(line, delimiter).next().filter(|names| names.len() > 1)?;
        let has = |name: &String| find(&names, name).is_some();
        let by_name = given.filter(|given| given.iter().any(|name| name.parse::<usize>().is_err()));
        let is_complete = by_name.is_some_and(|given| given.iter().all(has));
        let is_header = is_complete || names.iter().any(|name| is_time(name));
        is_header.then_some(Self { delimiter, names })
    }

    /// The form of a table with this header at the beginning of `text`.
    fn form(
        self,
        text: &[u8],
        columns: &ReadingColumns,
        given: Option<&[String]>,
    ) -> Result<Option<CsvForm>, Fault> {
        let at = |name: &str| self.names.iter().position(|column| column.eq_ignore_ascii_case(name));
        let time = at("clock").or_else(|| self.names.iter().position(|name| is_time(name)));
        let (clock, values) = match given {
            Some(given) => self.given(given)?,
            None => {
                let Some(clock) = time.filter(|clock| self.has_times(text, *clock)) else { return Ok(None) };
                match self.values(clock, text, columns)? {
                    Some(values) => (clock, values),
                    None => return Ok(None),
                }
            }
        };
        let used = |column: &usize| *column == clock || values.iter().any(|value| value.column == *column);
        let item = at("itemid").filter(|column| !used(column));
        let ns = at("ns").filter(|column| !used(column));
        let labels = (0..self.names.len()).filter(|column| {
            self.names.get(*column).is_some_and(|name| is_one_of(name, &LABELS)) && !used(column)
        });
        let labels = if item.is_some() { Vec::new() } else { labels.collect() };
        Ok(Some(CsvForm {
            delimiter: self.delimiter,
            clock,
            values,
            item,
            labels,
            ns,
            first: self.names,
            has_header: true,
            perfmon_label: None,
        }))
    }

    /// The columns that were given.
    fn given(&self, given: &[String]) -> Result<(usize, Vec<ValueColumn>), Fault> {
        let mut found = given.iter().map(|name| match find(&self.names, name) {
            Some(column) => Ok(column),
            None => Err(columns_fault(
                format!("has no column {name:?}; its columns are {}", self.list(0..self.names.len())),
                NAME_BOTH,
            )),
        });
        let clock = found.next().transpose()?.unwrap_or_default();
        let values = found.collect::<Result<Vec<usize>, Fault>>()?;
        if values.is_empty() {
            return Err(columns_fault(
                format!(
                    "has the columns {}, and none is named for the readings",
                    self.list(0..self.names.len())
                ),
                NAME_BOTH,
            ));
        }
        Ok((clock, values.into_iter().map(|column| self.value(column)).collect()))
    }

    /// The columns of readings where none were given: one of that name, one named as the series, or the only one that is
    /// neither time nor label. `None` if there is no column of numbers.
    fn values(
        &self,
        clock: usize,
        text: &[u8],
        columns: &ReadingColumns,
    ) -> Result<Option<Vec<ValueColumn>>, Fault> {
        let is_reading = |column: &usize| {
            let name = self.names.get(*column).map_or("", String::as_str);
            let beside = is_time(name) || is_one_of(name, &LABELS) || is_one_of(name, &["itemid", "ns"]);
            *column != clock && !name.is_empty() && !beside
        };
        let named = |wanted: &str| self.names.iter().position(|name| plain(name) == plain(wanted));
        let by_name = columns.series.as_deref().and_then(named).or_else(|| named("value"));
        let candidates: Vec<usize> =
            by_name.map_or_else(|| (0..self.names.len()).filter(is_reading).collect(), |column| vec![column]);
        let numbers: Vec<usize> = candidates
            .into_iter()
            .filter(|column| Some(*column) == by_name || self.has_number(text, *column))
            .collect();
        match numbers.as_slice() {
            [] => Ok(None),
            [column] => Ok(Some(vec![self.value(*column)])),
            several if columns.series.is_some() => Err(columns_fault(
                format!("has several columns of readings: {}", self.list(several.iter().copied())),
                "Name the series as its column, or name its columns (SeriesFile::columns).",
            )),
            several => Err(columns_fault(
                format!("has several columns of readings: {}", self.list(several.iter().copied())),
                "Name the column of the time and that of the readings (SourceOptions::cpu_columns); several are added up.",
            )),
        }
    }

    fn value(&self, column: usize) -> ValueColumn {
        let name = self.names.get(column).map_or("", String::as_str);
        ValueColumn { column, is_idle: is_idle(name) }
    }

    /// The records below the header that have as many fields.
    fn below(&self, text: &[u8]) -> impl Iterator<Item = Vec<String>> {
        let width = self.names.len();
        records(text, self.delimiter).skip(1).take(LOOKED_AT).filter(move |record| record.len() == width)
    }

    /// Returns true if the first field of a column that is not empty is a number.
    fn has_number(&self, text: &[u8], column: usize) -> bool {
        let mut fields = self.below(text).filter_map(|record| record.into_iter().nth(column));
        let first = fields.find(|field| !is_no_value(field));
        first.is_some_and(|field| number(&field, self.delimiter).is_some())
    }

    /// Returns true if there are no records below the header, or the first one has what may be a time.
    fn has_times(&self, text: &[u8], clock: usize) -> bool {
        let digits = |field: &String| field.bytes().filter(u8::is_ascii_digit).count() >= LEAST_DIGITS;
        self.below(text).next().is_none_or(|record| record.get(clock).is_some_and(digits))
    }

    fn list(&self, columns: impl Iterator<Item = usize>) -> String {
        let names: Vec<&str> = columns
            .filter_map(|column| self.names.get(column).map(String::as_str))
            .filter(|name| !name.is_empty())
            .collect();
        let more = names.len().saturating_sub(LISTED);
        let shown: Vec<String> =
            names.iter().take(LISTED).map(|name| name.chars().take(60).collect()).collect();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }
}

/// The remedy for columns that can't be those of readings.
const NAME_BOTH: &str = "Name the column of the time and that of the readings (SourceOptions::cpu_columns).";

fn columns_fault(problem: String, remedy: &str) -> Fault {
    Fault::new(ErrorKind::CpuColumns, problem, remedy)
}

/// The column of a name: in any case, or the only one that has it within its name; or of a number from 1.
fn find(names: &[String], wanted: &str) -> Option<usize> {
    let wanted = wanted.trim();
    let exact = names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let number = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|column| *column < names.len());
    exact.or_else(number).or_else(|| {
        let part = wanted.to_ascii_lowercase();
        let mut within = (0..names.len())
            .filter(|at| names.get(*at).is_some_and(|name| name.to_ascii_lowercase().contains(&part)));
        let found = within.next();
        found.filter(|_| within.next().is_none() && !part.is_empty())
    })
}

/// Returns true if a name is one of these, in any case, without what follows in parentheses.
fn is_one_of(name: &str, known: &[&str]) -> bool {
    let bare = name.split('(').next().unwrap_or_default().trim();
    known.iter().any(|known| known.eq_ignore_ascii_case(bare))
}

/// A name as it is compared: its letters and digits, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn is_time(name: &str) -> bool {
    // Windows' own tables begin with their version in the place of the name.
    is_one_of(name, &TIMES) || name.starts_with("(PDH-CSV")
}

/// Returns true if a column is named after the time in which the CPU does nothing.
fn is_idle(name: &str) -> bool {
    let mut words = name.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| ["idle", "idl"].iter().any(|idle| word.eq_ignore_ascii_case(idle)))
}

/// What stands for no reading, in lower case.
const NO_VALUE: [&str; 10] = ["-", "null", "\\n", "nan", "-nan", "u", "n/a", "na", "none", "undefined"];

/// Returns true for a field that has no reading.
pub(super) fn is_no_value(text: &str) -> bool {
    text.is_empty() || NO_VALUE.iter().any(|none| text.eq_ignore_ascii_case(none))
}

/// Parses a number, perhaps in percent. A comma is that of a decimal fraction where it does not delimit columns: in quotes
/// among columns that it delimits, three digits after it would be doubtful.
pub(super) fn number(text: &str, delimiter: u8) -> Option<f64> {
    let bare = text.trim().trim_end_matches('%').trim_end();
    let value = match bare.split_once(',') {
        None => bare.parse().ok()?,
        Some((whole, fraction)) if delimiter != b',' || fraction.len() != 3 => {
            format!("{whole}.{fraction}").parse().ok()?
        }
        Some(_) => return None,
    };
    Some(value)
}

/// The form of a table without a header, if this line is its first reading.
fn headless(line: &[u8], given: Option<&[String]>) -> Option<CsvForm> {
    let form = |delimiter, first: Vec<String>, clock: usize, values: &[usize]| CsvForm {
        delimiter,
        first,
        has_header: false,
        clock,
        values: values.iter().map(|column| ValueColumn { column: *column, is_idle: false }).collect(),
        item: None,
        labels: Vec::new(),
        ns: None,
        perfmon_label: None,
    };
    let numbers: Option<Vec<usize>> =
        given.and_then(|given| given.iter().map(|name| name.parse::<usize>().ok()?.checked_sub(1)).collect());
    for delimiter in DELIMITERS.iter().copied() {
        let Some(first) = records(line, delimiter).next() else { continue };
        let is_reading = |clock: usize, value: usize| {
            first.get(clock).is_some_and(|clock| is_clock(clock))
                && first.get(value).is_some_and(|value| number(value, delimiter).is_some())
        };
        match (&numbers, first.len()) {
            (Some(columns), _) => {
                let [clock, values @ ..] = columns.as_slice() else { return None };
                if !values.is_empty() && values.iter().all(|value| is_reading(*clock, *value)) {
                    return Some(form(delimiter, first, *clock, values));
                }
            }
            (None, 2) if given.is_none() && is_reading(0, 1) => return Some(form(delimiter, first, 0, &[1])),
            // Zabbix's plain text: a date, its time, the same as an epoch second, and the value.
            (None, 4) if delimiter == b' ' && given.is_none() && is_reading(2, 3) => {
                let date = format!("{} {}", first.first()?, first.get(1)?);
                if is_clock(&date) {
                    return Some(form(delimiter, first, 2, &[3]));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str, given: Option<&str>) -> Option<CsvForm> {
        let columns = ReadingColumns { given: given.map(str::to_owned), series: None };
        recognise_table(text.as_bytes(), &columns).unwrap()
    }

    fn fault(text: &str, given: Option<&str>) -> Fault {
        let columns = ReadingColumns { given: given.map(str::to_owned), series: None };
        recognise_table(text.as_bytes(), &columns).unwrap_err()
    }

    fn columns(text: &str, given: Option<&str>) -> (u8, usize, Vec<usize>) {
        let form = form(text, given).unwrap_or_else(|| panic!("{text}"));
        (form.delimiter, form.clock, form.values.iter().map(|value| value.column).collect())
    }

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        let text = "\"ns\";\"Value\";\"Clock\";\"itemid\"\r\n1;2;1795203848;4";
        assert_eq!(columns(text, None), (b';', 2, vec![1]));
        let found = form(text, None).unwrap();
        assert_eq!((found.item, found.ns), (Some(3), Some(0)));
        assert_eq!(columns("Timestamp\tValue\n2026-11-20 19:42:15\t5 %", None), (b'\t', 0, vec![1]));
    }

    #[test]
    fn a_time_and_one_other_column_are_known_whatever_its_name() {
        for (text, delimiter) in [
            ("\"Time\",\"CPU Busy\"\n1795203735000,40.1", b','),
            ("sep=,\n\"Time\",\"CPU Busy\"\n2026-11-20 19:42:15,40.2%", b','),
            ("epoch,value\n1795203735,1", b','),
            ("time;usage\n1795203735;40,5", b';'),
            (" clock      | load \n------------+-----\n 1795203735 | 5\n(1 row)\n", b'|'),
            (
                "\"(PDH-CSV 4.0)\",\"\\\\SUT\\% Processor Time\"\n\"11/20/2026 19:42:15.123\",\" \"\n\"11/20/2026 19:42:16.123\",\"4\"",
                b',',
            ),
        ] {
            assert_eq!(columns(text, None), (delimiter, 0, vec![1]), "{text}");
        }
        let boxed = "+-------+-------+\n| clock | value |\n+-------+-------+\n| 1795203735 | 5 |\n";
        assert_eq!(columns(boxed, None), (b'|', 1, vec![2]));
        let series =
            form("\"Series\";\"Time\";\"Value\"\n\"cpu\";\"2026-11-20T19:42:15+00:00\";40", None).unwrap();
        assert_eq!((series.clock, series.labels), (1, vec![0]));
        assert!(form("time,% idle\n1795203735,40", None).unwrap().values[0].is_idle);
    }

    #[test]
    fn tables_of_other_things_are_none() {
        for text in [
            "Time taken for tests 1.5 s\nTime per request 7.25 x\n",
            "{\n \"Timestamp\": \"2026-11-20T19:42:15Z\",\n \"Average\": 40.1\n}",
            "time,message\n1795203735,started",
            "time,user\n",
            "a,b\n1,2",
            "",
            "time",
            "x\ny\nz",
        ] {
            assert_eq!(form(text, None), None, "{text}");
        }
    }

    #[test]
    fn several_columns_have_to_be_chosen_from() {
        let text = "Time;user;system;note\n2026-11-20T19:42:15.000Z;30.1;10.0;x\n";
        let found = fault(text, None);
        assert_eq!(found.kind, ErrorKind::CpuColumns);
        assert!(found.problem.ends_with("user, system"), "{}", found.problem);
        assert_eq!(columns(text, Some("Time,user")), (b';', 0, vec![1]));
        assert_eq!(columns(text, Some("1,user,SYSTEM")), (b';', 0, vec![1, 2]));
        for too_few in ["Time", "1", "", ","] {
            assert_eq!(fault(text, Some(too_few)).kind, ErrorKind::CpuColumns, "{too_few:?}");
        }
        assert!(fault(text, Some("Time,nice")).problem.contains("\"nice\"; its columns are Time, user"));
        let dstat = "\"Dstat\"\n\"Host:\",\"sut\",,,,\"User:\",\"root\"\n\n\"epoch\",\"total cpu usage\",,\n\"epoch\",\"usr\",\"sys\",\"idl\"\n1795203735.1,3,4,93";
        assert!(
            fault(dstat, None).problem.ends_with("usr, sys, idl"),
            "the first line with a time names no columns"
        );
        assert_eq!(columns(dstat, Some("epoch,usr,sys")), (b',', 0, vec![1, 2]));
        assert!(form(dstat, Some("epoch,idl")).unwrap().values[0].is_idle);
        let typeperf = "\"(PDH-CSV 4.0)\",\"\\\\S\\Memory\",\"\\\\S\\% Processor Time\"\n\"x\",\"1\",\"2\"\n";
        assert_eq!(columns(typeperf, Some("1,processor time")), (b',', 0, vec![2]));
        let series = ReadingColumns { given: None, series: Some("mem".to_owned()) };
        let own = recognise_table(b"time,cpu,Mem\n1795203735,1,2\n", &series).unwrap().unwrap();
        assert_eq!(own.values[0].column, 2);
    }

    #[test]
    fn times_and_readings_need_no_header() {
        for text in [
            "1795203848,0.99",
            "1795203848.5;1",
            "\"2026-11-20 19:42:15\",\"5 %\"",
            "1795203848000,1",
            "1795203848 5",
        ] {
            assert!(form(text, None).is_some_and(|form| !form.has_header), "{text}");
        }
        for text in ["1795203848,x", "1795203848", "12,5", "1795203848,1,2", "a,b", "1795203848,"] {
            assert_eq!(form(text, None), None, "{text}");
        }
        assert_eq!(columns("1795203848,1,2", Some("1,3")), (b',', 0, vec![2]));
        let zabbix = "sut: CPU utilization\n2026-11-20 19:42:15 1795203735 40.18\n";
        assert_eq!(columns(zabbix, None), (b' ', 2, vec![3]));
        let cloud = "\"Full label\",\"CPU\"\n\"Time (UTC)\",\"\"\n2026/11/20 19:42:15,40.1842\n";
        assert_eq!(columns(cloud, None), (b',', 0, vec![1]));
    }
}
