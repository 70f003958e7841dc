//! From a zipped JMeter log and a CPU export to a store: every sample, and exact counts by second.

mod batch;
mod counts;
mod cpu;
mod cut;
mod error;
mod layout;
mod number;
mod record;
mod rejects;
mod scan;
pub mod store;

pub use batch::{Nullable, SampleBatch, Texts, clean_text};
pub use counts::{
    Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, OTHER, Spread,
};
pub use cpu::{CpuJoin, CpuSeries};
pub use error::{Error, Place, Result};
pub use rejects::{Reject, RejectSpool};
pub use store::{Replace, RunInfo, RunKey, SourceFile, StoredRun};
