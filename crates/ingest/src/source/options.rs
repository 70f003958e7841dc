//! The options by which inputs are read.

use crate::formats::date::TimeZone;
use crate::formats::jtl::layout::LayoutOptions;
use crate::run::options::cpu_scale::CpuScale;
use crate::run::options::time_unit::TimeUnit;
use crate::series::server::SeriesFile;

/// Settings for reading inputs whose content leaves something open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceOptions {
    /// The time zone of dates that have none.
    pub time_zone: TimeZone,
    /// The unit of numeric timeStamps. With `None` they are milliseconds; it is an error if they would then lie outside
    /// this century while another unit would fit.
    pub time_unit: Option<TimeUnit>,
    /// The item to read, if an export holds several: the number of Zabbix's, or the label in a PerfMon log.
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
    /// The name of the series that a file holds; `None` for the CPU.
    pub(crate) series: Option<String>,
    /// What was read of standard input already, to find out what it is.
    pub read_of_stdin: Vec<u8>,
}

impl SourceOptions {
    /// Returns the options for a file that holds another series than the CPU.
    pub(crate) fn for_series(self, of: &SeriesFile) -> Self {
        self.for_readings(&of.name, of.item)
    }

    /// Returns the options for readings of another series than the CPU.
    pub(crate) fn for_readings(mut self, name: &str, item: Option<u64>) -> Self {
        self.series = Some(name.to_owned());
        self.layout.of_server = true;
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
