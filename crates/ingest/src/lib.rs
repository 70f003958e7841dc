//! From a zipped JMeter log and a CPU export to a store: every sample, and exact counts by second.

mod batch;
mod counts;
mod cpu;
mod cut;
mod date;
mod endpoint;
mod error;
mod injector;
mod layout;
mod number;
mod pack;
mod parse;
mod record;
mod rejects;
mod scan;
pub mod store;
mod tally;
mod totals;

pub use batch::{Nullable, SampleBatch, Texts, clean_text};
pub use counts::{
    Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, OTHER, Spread,
};
pub use cpu::{CpuJoin, CpuSeries};
pub use error::{Error, Place, Result};
pub use rejects::{Reject, RejectSpool};
pub use store::{Replace, RunInfo, RunKey, SourceFile, StoredRun};
