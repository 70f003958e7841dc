//! The options of an ingest that are recorded with its run.

pub mod intervals;
pub mod measures;
pub mod time_unit;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::intervals::Intervals;
use self::measures::Measures;
use self::time_unit::TimeUnit;
use crate::error::{Error, ErrorKind, Result};

/// The options of an ingest that are recorded with its run, for its readers. They are stored as texts by name, as
/// [`BTreeMap`] and [`RunOptions`] convert into each other.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::RunOptions;
///
/// let mut options = RunOptions::default();
/// options.injectors = Some(3);
/// assert_eq!(serde_json::to_string(&options)?, r#"{"injectors":"3"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct RunOptions {
    /// The number of injectors that sent the load.
    pub injectors: Option<u32>,
    /// The regular expression that finds the injector's host name in threadName.
    pub injector_pattern: Option<String>,
    /// The time zone of dates that have none.
    pub time_zone: Option<String>,
    /// The format of times that are neither epoch times nor ISO dates.
    pub time_format: Option<String>,
    /// The unit of numeric timeStamps.
    pub time_unit: Option<TimeUnit>,
    /// The delimiter of the logs, as it was given.
    pub delimiter: Option<String>,
    /// The columns of a log without a header.
    pub columns: Option<String>,
    /// t0, epoch ms.
    pub origin: Option<i64>,
    /// The times of the records that were read, as they were given.
    pub only: Option<String>,
    /// The columns of the table of CPU readings, as they were given.
    pub cpu_columns: Option<String>,
    /// The Zabbix item that was read.
    pub cpu_item: Option<String>,
    /// The unit of the CPU readings as exported. The stored ones are in percent of one core.
    pub cpu_scale: Option<CpuScale>,
    /// The number of the server's cores.
    pub cores: Option<u32>,
    /// How the run was counted, if it was made from histograms of intervals.
    pub intervals: Option<Intervals>,
    /// The measures that the logs have; `None` of a run that an earlier version stored.
    pub measures: Option<Measures>,
    /// What the user says of the run, by key: its commit, branch, version. Stored under the names `tag:KEY`.
    pub tags: BTreeMap<String, String>,
    /// Options that only another version of perfpipe knows, by name.
    pub other: BTreeMap<String, String>,
}

const INJECTORS: &str = "injectors";
const INJECTOR_PATTERN: &str = "injector-pattern";
const TIME_ZONE: &str = "time-zone";
const TIME_FORMAT: &str = "time-format";
const TIME_UNIT: &str = "time-unit";
const DELIMITER: &str = "delimiter";
const COLUMNS: &str = "columns";
const ORIGIN: &str = "origin";
const ONLY: &str = "only";
const CPU_COLUMNS: &str = "cpu-columns";
const CPU_ITEM: &str = "cpu-item";
const CPU_SCALE: &str = "cpu-scale";
const CORES: &str = "cores";
const INTERVALS: &str = "intervals";
const MEASURES: &str = "measures";
/// What the name of a stored tag begins with.
const TAG: &str = "tag:";

/// The maximum number of bytes of a tag's key, and of its value.
const LONGEST_TAG: (usize, usize) = (64, 256);

/// Returns true if a text can be the key of a tag.
pub fn is_tag_key(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !text.is_empty() && text.len() <= LONGEST_TAG.0 && text.chars().all(is_letter)
}

/// Returns why there can't be a tag with this key and value, as a clause; `None` if there can.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::tag_fault;
///
/// assert_eq!(tag_fault("branch", "main, or \"so\""), None);
/// assert!(tag_fault("two words", "main").is_some() && tag_fault("branch", "two\nlines").is_some());
/// ```
pub fn tag_fault(key: &str, value: &str) -> Option<String> {
    let (longest_key, longest_value) = LONGEST_TAG;
    if !is_tag_key(key) {
        return Some(format!("the key of a tag is 1 to {longest_key} letters, digits, '_', '-' or '.'"));
    }
    let is_one =
        !value.trim().is_empty() && value.len() <= longest_value && !value.chars().any(char::is_control);
    (!is_one).then(|| format!("the value of a tag is one line of 1 to {longest_value} bytes"))
}

impl RunOptions {
    /// Returns true if the unit of the CPU readings was given, even one that only another version knows.
    pub fn tells_cpu_scale(&self) -> bool {
        self.cpu_scale.is_some() || self.other.contains_key(CPU_SCALE)
    }

    /// Notes the unit of the CPU readings that is in their file, if none is noted.
    pub fn note_scale(&mut self, found: Option<CpuScale>) {
        if !self.tells_cpu_scale()
            && let Some(scale) = found
        {
            (self.cpu_scale, self.cores) = (Some(scale), scale.cores());
        }
    }

    /// Replaces the options on the CPU export: columns, item, scale and cores.
    pub fn replace_cpu(&mut self, new: &Self) {
        self.cpu_columns.clone_from(&new.cpu_columns);
        self.cpu_item.clone_from(&new.cpu_item);
        (self.cpu_scale, self.cores) = (new.cpu_scale, new.cores);
        for name in [CPU_COLUMNS, CPU_ITEM, CPU_SCALE, CORES] {
            self.other.remove(name);
            self.other.extend(new.other.get(name).map(|text| (name.to_owned(), text.clone())));
        }
    }
}

/// Takes a value out of stored options. One that is not written as this version writes it stays there.
fn parse_option<T: std::str::FromStr + ToString>(
    stored: &mut BTreeMap<String, String>,
    name: &str,
) -> Option<T> {
    let value = stored.get(name).and_then(|text| Some((text.parse::<T>().ok()?, text)));
    let value = value.filter(|(value, text)| value.to_string() == **text).map(|(value, _)| value)?;
    stored.remove(name);
    Some(value)
}

impl From<BTreeMap<String, String>> for RunOptions {
    fn from(mut stored: BTreeMap<String, String>) -> Self {
        let cores = parse_option(&mut stored, CORES);
        let scale = stored.get(CPU_SCALE).and_then(|name| CpuScale::named(name, cores));
        if scale.is_some() {
            stored.remove(CPU_SCALE);
        }
        let tags = stored.extract_if(TAG.to_owned().., |name, _| name.starts_with(TAG));
        let tags = tags.filter_map(|(name, text)| Some((name.strip_prefix(TAG)?.to_owned(), text))).collect();
        Self {
            injectors: parse_option(&mut stored, INJECTORS),
            injector_pattern: parse_option(&mut stored, INJECTOR_PATTERN),
            time_zone: parse_option(&mut stored, TIME_ZONE),
            time_format: parse_option(&mut stored, TIME_FORMAT),
            time_unit: parse_option(&mut stored, TIME_UNIT),
            delimiter: parse_option(&mut stored, DELIMITER),
            columns: parse_option(&mut stored, COLUMNS),
            origin: parse_option(&mut stored, ORIGIN),
            only: parse_option(&mut stored, ONLY),
            cpu_columns: parse_option(&mut stored, CPU_COLUMNS),
            cpu_item: parse_option(&mut stored, CPU_ITEM),
            cpu_scale: scale,
            cores,
            intervals: parse_option(&mut stored, INTERVALS),
            measures: parse_option(&mut stored, MEASURES),
            tags,
            other: stored,
        }
    }
}

impl From<RunOptions> for BTreeMap<String, String> {
    fn from(options: RunOptions) -> Self {
        let cores = options.cpu_scale.and_then(CpuScale::cores).or(options.cores);
        let known = [
            (INJECTORS, options.injectors.map(|injectors| injectors.to_string())),
            (INJECTOR_PATTERN, options.injector_pattern),
            (TIME_ZONE, options.time_zone),
            (TIME_FORMAT, options.time_format),
            (TIME_UNIT, options.time_unit.map(|unit| unit.to_string())),
            (DELIMITER, options.delimiter),
            (COLUMNS, options.columns),
            (ORIGIN, options.origin.map(|ms| ms.to_string())),
            (ONLY, options.only),
            (CPU_COLUMNS, options.cpu_columns),
            (CPU_ITEM, options.cpu_item),
            (CPU_SCALE, options.cpu_scale.map(|scale| scale.name().to_owned())),
            (CORES, cores.map(|cores| cores.to_string())),
            (INTERVALS, options.intervals.map(|intervals| intervals.to_string())),
            (MEASURES, options.measures.map(|measures| measures.to_string())),
        ];
        let mut stored = options.other;
        stored.extend(options.tags.into_iter().map(|(key, text)| (format!("{TAG}{key}"), text)));
        stored.extend(known.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))));
        stored
    }
}

/// The unit of the readings in a CPU export. All that is stored and shown is in percent of one core, whatever the unit
/// of the export: a figure whose unit depended on an option would be misread, in SQL as well as in a rule of `check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuScale {
    /// 100 is one core, so a machine with 72 cores reaches 7200.
    #[default]
    PercentOfCore,
    /// 100 is the whole machine.
    PercentOfMachine {
        /// The number of cores.
        cores: u32,
    },
    /// 1 is the whole machine.
    Fraction {
        /// The number of cores.
        cores: u32,
    },
}

impl CpuScale {
    /// The factor from a reading to percent of one core.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::series::CpuScale;
    /// assert_eq!(50.0 * CpuScale::PercentOfMachine { cores: 72 }.factor(), 3600.0);
    /// assert_eq!(0.5 * CpuScale::Fraction { cores: 72 }.factor(), 3600.0);
    /// assert_eq!(3600.0 * CpuScale::PercentOfCore.factor(), 3600.0);
    /// ```
    pub fn factor(self) -> f64 {
        match self {
            Self::PercentOfCore => 1.0,
            Self::PercentOfMachine { cores } => f64::from(cores),
            Self::Fraction { cores } => f64::from(cores) * 100.0,
        }
    }

    /// Its name, which is stored and never changes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PercentOfCore => "percent-of-core",
            Self::PercentOfMachine { .. } => "percent-of-machine",
            Self::Fraction { .. } => "fraction",
        }
    }

    /// The scale of this name on a machine with so many cores. `None` if there is none, or if it needs the cores.
    pub(super) fn named(name: &str, cores: Option<u32>) -> Option<Self> {
        let scales = [
            Some(Self::PercentOfCore),
            cores.map(|cores| Self::PercentOfMachine { cores }),
            cores.map(|cores| Self::Fraction { cores }),
        ];
        scales.into_iter().flatten().find(|scale| scale.name() == name)
    }

    /// The number of cores of the machine, if the scale says it.
    pub(super) fn cores(self) -> Option<u32> {
        match self {
            Self::PercentOfCore => None,
            Self::PercentOfMachine { cores } | Self::Fraction { cores } => Some(cores),
        }
    }
}

/// The maximum number of parts of a run.
const MOST: u32 = 10_000;

/// The number of a part among all parts of its run. Displayed as `3/16`.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::PartNumber;
///
/// let part: PartNumber = "3/16".parse()?;
/// assert_eq!((part.number(), part.of(), part.to_string()), (3, 16, "3/16".into()));
/// assert!(PartNumber::new(17, 16).is_err());
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartNumber {
    part: u32,
    of: u32,
}

impl PartNumber {
    /// Numbers a part, from 1 to `of`.
    ///
    /// # Errors
    /// If the number is 0 or more than `of`, or there are more than 10,000 parts.
    pub fn new(number: u32, of: u32) -> Result<Self> {
        if (1..=of).contains(&number) && of <= MOST {
            return Ok(Self { part: number, of });
        }
        let problem = format!("there is no part {number} of {of}");
        let remedy = "Number the parts of a run from 1 to their number, which is at most 10,000.";
        Err(Error::usage(ErrorKind::PartNumber, problem, remedy))
    }

    /// Returns the number of the part, from 1.
    pub fn number(self) -> u32 {
        self.part
    }

    /// Returns the number of all parts of the run.
    pub fn of(self) -> u32 {
        self.of
    }
}

impl fmt::Display for PartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl FromStr for PartNumber {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers =
            text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        let (part, of) = numbers.ok_or_else(|| {
            let problem = format!("{text:?} is not the number of a part");
            Error::usage(ErrorKind::PartNumber, problem, "Write it as 3/16: the third of sixteen parts.")
        })?;
        Self::new(part, of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> RunOptions {
        let options: RunOptions = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&options).unwrap(), text);
        options
    }

    #[test]
    fn options_that_are_stored_come_back_byte_for_byte() {
        assert_eq!(read("{}"), RunOptions::default());
        let all = read(concat!(
            r#"{"columns":"timeStamp,elapsed","cores":"72","cpu-columns":"Time,cpu","cpu-item":"42","#,
            r#""cpu-scale":"percent-of-machine","#,
            r#""delimiter":"tab","injector-pattern":"^(.*)-","injectors":"3","only":"1..2","origin":"-5","#,
            r#""time-format":"dd/MM/yyyy HH","time-unit":"us","time-zone":"Europe/Berlin"}"#
        ));
        assert_eq!((all.injectors, all.origin, all.cores), (Some(3), Some(-5), Some(72)));
        assert_eq!((all.cpu_item.as_deref(), all.time_unit), (Some("42"), Some(TimeUnit::Microseconds)));
        assert_eq!(all.cpu_scale, Some(CpuScale::PercentOfMachine { cores: 72 }));
        assert_eq!(
            (all.delimiter.as_deref(), all.time_zone.as_deref()),
            (Some("tab"), Some("Europe/Berlin"))
        );
        assert!(all.other.is_empty());
    }

    #[test]
    fn tags_are_stored_under_names_of_their_own() {
        let options = read(r#"{"cores":"4","tag:branch":"main","tag:tag:x":"a=b","tags":"?"}"#);
        let tags: Vec<(&str, &str)> = options.tags.iter().map(|(key, text)| (&**key, &**text)).collect();
        assert_eq!(tags, [("branch", "main"), ("tag:x", "a=b")]);
        assert_eq!(options.other.len(), 1);
    }

    #[test]
    fn what_another_version_wrote_is_kept() {
        let options = read(r#"{"cpu-scale":"fraction","injectors":"03","new":"x","time-unit":"min"}"#);
        assert_eq!((options.injectors, options.cpu_scale, options.time_unit), (None, None, None));
        assert!(options.tells_cpu_scale());
        assert_eq!(options.other.len(), 4);
    }

    #[test]
    fn another_export_replaces_what_was_said_of_the_former() {
        let mut options = read(r#"{"cores":"4","cpu-item":"7","cpu-scale":"new","origin":"1"}"#);
        options.replace_cpu(&read(r#"{"cpu-scale":"percent-of-core","origin":"2"}"#));
        assert_eq!(options, read(r#"{"cpu-scale":"percent-of-core","origin":"1"}"#));
    }

    proptest! {
        #[test]
        fn any_options_come_back(stored in prop::collection::btree_map(
            prop_oneof![
                "[a-z]{1,4}", "tag:[a-z]{0,2}", Just(INJECTORS.to_owned()), Just(TIME_UNIT.to_owned()), Just(CPU_SCALE.to_owned()),
                Just(CORES.to_owned()), Just(ORIGIN.to_owned()), Just(DELIMITER.to_owned()),
            ],
            prop_oneof!["[0-9]{1,3}", "[+-]?[0-9]{1,25}", "(percent-of-core|percent-of-machine|fraction)", "[mnu]?s"],
            0..7,
        )) {
            let options = RunOptions::from(stored.clone());
            prop_assert_eq!(BTreeMap::from(options), stored);
        }
    }
}
