//! The options by which inputs are read.

use perfpipe_formats::date::DateParser;
use perfpipe_formats::jtl::layout::LayoutOptions;
use perfpipe_formats::number::parse_i64;
use perfpipe_formats::time_format::TimeFormat;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::run::options::time_unit::TimeUnit;
use perfpipe_model::run::time_zone::TimeZone;
use perfpipe_model::series::server::SeriesFile;

/// The columns of readings, as far as the user names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadingColumns {
    /// The time, and then the columns whose sum is the reading: by name, or by number from 1.
    pub(crate) given: Option<String>,
    /// The name of the series that is looked for, if it is not the CPU.
    pub(crate) series: Option<String>,
}

/// Settings for reading inputs whose content leaves something open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceOptions {
    /// The time zone of dates that have none.
    pub time_zone: TimeZone,
    /// The format of times that are neither epoch times nor ISO dates.
    pub time_format: Option<TimeFormat>,
    /// The unit of numeric timeStamps. With `None` they are milliseconds; it is an error if they would then lie outside
    /// this century while another unit would fit.
    pub time_unit: Option<TimeUnit>,
    /// The columns of a table of CPU readings, by their names or by their numbers from 1, separated by commas: that of the
    /// time, then that of the reading, or several that are added up. A column with `idle` in its name is subtracted from 100.
    pub cpu_columns: Option<String>,
    /// The item to read, if an export contains several: the number of Zabbix's, or the label in a PerfMon log.
    pub cpu_item: Option<String>,
    /// The unit of the CPU readings. With `None` it is percent of one core, and a note says so if another scale fits
    /// better.
    pub cpu_scale: Option<CpuScale>,
    /// The number of the server's cores, if known. Readings are checked against it.
    pub cores: Option<u32>,
    /// The delimiter and columns of logs, if they can't be detected.
    pub layout: LayoutOptions,
    /// True if damaged input is read as far as possible instead of being refused.
    pub salvage: bool,
    /// The name of the series that a file contains; `None` for the CPU.
    pub(crate) series: Option<String>,
    /// What was read of standard input already, to find out what it is.
    pub read_of_stdin: Vec<u8>,
}

impl SourceOptions {
    /// Returns the options for a file that contains another series than the CPU.
    pub(crate) fn for_series(self, of: &SeriesFile) -> Self {
        let columns = of.columns.clone();
        Self { cpu_columns: columns, ..self.for_readings(&of.name, of.item) }
    }

    /// Returns the options for readings of another series than the CPU.
    pub(crate) fn for_readings(mut self, name: &str, item: Option<u64>) -> Self {
        self.series = Some(name.to_owned());
        self.cpu_columns = None;
        (self.cpu_item, self.cpu_scale, self.cores) = (item.map(|item| item.to_string()), None, None);
        self
    }

    /// Returns what a file of readings is called in messages.
    pub(crate) fn readings_are(&self) -> String {
        match &self.series {
            None => "the CPU export".to_owned(),
            Some(name) => format!("the file of the series {name}"),
        }
    }

    /// Sets the time zone of dates that have none.
    #[must_use]
    pub fn with_time_zone(mut self, time_zone: TimeZone) -> Self {
        self.time_zone = time_zone;
        self
    }

    /// Sets the format of times that are neither epoch times nor ISO dates.
    #[must_use]
    pub fn with_time_format(mut self, time_format: TimeFormat) -> Self {
        self.time_format = Some(time_format);
        self
    }

    /// Returns a parser of the dates of logs and of readings.
    pub(crate) fn dates(&self) -> DateParser {
        DateParser::new(self.time_zone.clone()).with_format(self.time_format.clone())
    }

    /// Reads a moment as logs write it: epoch milliseconds, or a date. Returns it in epoch milliseconds; `None` if it is none.
    ///
    /// ```
    /// use perfpipe_ingest::source::SourceOptions;
    /// let options = SourceOptions::default().with_time_zone("+01:00".parse()?);
    /// assert_eq!(options.moment("2026-11-20 20:45:08"), Some(1_795_203_908_000));
    /// assert_eq!(options.moment("1795203908000"), Some(1_795_203_908_000));
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    pub fn moment(&self, text: &str) -> Option<i64> {
        parse_i64(text.as_bytes()).or_else(|| self.dates().parse(text.as_bytes()))
    }

    /// Sets the columns of a table of CPU readings.
    #[must_use]
    pub fn with_cpu_columns(mut self, cpu_columns: impl Into<String>) -> Self {
        self.cpu_columns = Some(cpu_columns.into());
        self
    }

    /// Returns the columns of a table of readings, as far as they are known.
    pub(crate) fn reading_columns(&self) -> ReadingColumns {
        ReadingColumns { given: self.cpu_columns.clone(), series: self.series.clone() }
    }

    /// Sets the unit of numeric timeStamps.
    #[must_use]
    pub fn with_time_unit(mut self, time_unit: TimeUnit) -> Self {
        self.time_unit = Some(time_unit);
        self
    }

    /// Sets the Zabbix item to read.
    #[must_use]
    pub fn with_cpu_item(mut self, cpu_item: impl ToString) -> Self {
        self.cpu_item = Some(cpu_item.to_string());
        self
    }

    /// Sets the unit of the CPU readings.
    #[must_use]
    pub fn with_cpu_scale(mut self, cpu_scale: CpuScale) -> Self {
        self.cpu_scale = Some(cpu_scale);
        self
    }

    /// Sets the number of the server's cores.
    #[must_use]
    pub fn with_cores(mut self, cores: u32) -> Self {
        self.cores = Some(cores);
        self
    }

    /// Sets the delimiter and columns of logs.
    #[must_use]
    pub fn with_layout(mut self, layout: LayoutOptions) -> Self {
        self.layout = layout;
        self
    }

    /// Sets whether damaged input is read as far as possible.
    #[must_use]
    pub fn with_salvage(mut self, salvage: bool) -> Self {
        self.salvage = salvage;
        self
    }
}
