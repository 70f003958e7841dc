//! Input files: recognised by their content, then opened, unpacked and checked.

pub(crate) mod cpu_export;
mod detect;
pub(crate) mod file;
pub(crate) mod growing;
pub(crate) mod head;
mod inputs;
pub(crate) mod log;
mod opened;
mod options;
mod pipe;
mod texts;
pub(crate) mod unpack;
pub(crate) mod zip;

#[cfg(feature = "fetch")]
pub use self::cpu_export::fetch::{Access, ReadingsSource, Secret, SeriesSource};
pub use self::cpu_export::series::{SeriesExport, read as read_series};
pub use self::cpu_export::{CpuExport, CpuSource};
pub use self::inputs::Inputs;
pub(crate) use self::inputs::refuse_twins;
pub use self::log::{LogReader, LogSource, LogStream};
pub(crate) use self::options::ReadingColumns;
pub use self::options::SourceOptions;
pub use self::texts::Text;
pub use crate::error::Place;
pub use crate::formats::date::TimeZone;
pub use crate::formats::jtl::layout::LayoutOptions;
pub use crate::formats::time_format::TimeFormat;
pub use crate::run::options::time_unit::TimeUnit;
