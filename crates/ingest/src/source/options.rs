//! How inputs are to be read.

use crate::formats::date::TimeZone;
use crate::formats::jtl::layout::LayoutOptions;
use crate::formats::time_unit::TimeUnit;
use crate::series::scale::CpuScale;

/// How inputs are to be read, where their content does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions {
    /// The zone of dates that name none.
    pub time_zone: TimeZone,
    /// The unit of the logs' timeStamps that are numbers; `None` for milliseconds, unless they are none of this century
    /// in these and are in another unit: then it has to be told.
    pub time_unit: Option<TimeUnit>,
    /// The Zabbix item whose readings are wanted, where an export holds several.
    pub cpu_item: Option<u64>,
    /// What the CPU readings are measured in; `None` for percent of one core, with a note where they fit another scale
    /// better.
    pub cpu_scale: Option<CpuScale>,
    /// The server's cores, where they are known: readings are held against them.
    pub cores: Option<u32>,
    /// The logs' delimiter and columns, where they can't be found out.
    pub layout: LayoutOptions,
    /// Whether input that is damaged is read as far as it can be, in the place of being refused.
    pub salvage: bool,
}
