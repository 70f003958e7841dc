//! From a zipped JMeter log and a CPU export to a store: every sample, and exact counts by second.

mod batch;
mod counts;
mod cpu;
mod cpu_export;
mod date;
mod error;
mod rejects;
mod source;
pub mod store;

pub use batch::{Nullable, SampleBatch, Texts, clean_text};
pub use counts::{
    Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, OTHER, Spread,
};
pub use cpu::{CpuJoin, CpuSeries};
pub use cpu_export::{CpuExport, CpuSource};
pub use date::{DateParser, TimeZone};
pub use error::{Error, Place, Result};
pub use rejects::{Reject, RejectSpool};
pub use source::{Inputs, LogReader, LogSource, LogStream, SourceOptions};
pub use store::{Replace, RunInfo, RunKey, SourceFile, StoredRun};
