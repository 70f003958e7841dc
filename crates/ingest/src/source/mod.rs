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
pub(crate) use self::inputs::refuse_named_twice;
pub use self::log::{LogReader, LogSource, LogStream};
pub(crate) use self::options::ReadingColumns;
pub use self::options::SourceOptions;
pub use self::texts::Text;
pub use perfpipe_formats::jtl::layout::LayoutOptions;
pub use perfpipe_formats::time_format::TimeFormat;
pub use perfpipe_model::error::Place;
pub use perfpipe_model::run::options::time_unit::TimeUnit;
pub use perfpipe_model::run::time_zone::TimeZone;
