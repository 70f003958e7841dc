//! The options by which inputs are read.

use crate::formats::date::TimeZone;
use crate::formats::jtl::layout::LayoutOptions;
use crate::formats::time_unit::TimeUnit;
use crate::series::scale::CpuScale;

/// Settings for reading inputs whose content leaves something open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions {
    /// The time zone of dates that have none.
    pub time_zone: TimeZone,
    /// The unit of numeric timeStamps. With `None` they are milliseconds; it is an error if they would then lie outside
    /// this century while another unit would fit.
    pub time_unit: Option<TimeUnit>,
    /// The Zabbix item to read, if an export holds several.
    pub cpu_item: Option<u64>,
    /// The unit of the CPU readings. With `None` it is percent of one core, and a note says so if another scale fits
    /// better.
    pub cpu_scale: Option<CpuScale>,
    /// The number of the server's cores, if known. Readings are checked against it.
    pub cores: Option<u32>,
    /// The delimiter and columns of logs, if they can't be detected.
    pub layout: LayoutOptions,
    /// True if damaged input is read as far as possible instead of being refused.
    pub salvage: bool,
}
