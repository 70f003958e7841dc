//! From a zipped JMeter log and a CPU export to a store: every sample, and exact counts by second.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod alike;
mod apart;
mod batch;
mod campaign;
mod cell_table;
mod cells;
mod clock_steps;
mod collect;
mod counter;
mod counts;
mod coverage;
mod cpu;
mod cpu_export;
mod cpu_scale;
mod cut;
mod damage;
mod date;
mod endpoint;
mod ends;
mod error;
mod frameworks;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod ingest;
mod injector;
mod inspect;
mod key;
mod layout;
mod log_names;
mod long_text;
mod number;
mod oddities;
mod pack;
mod parse;
#[cfg(feature = "parts")]
#[doc(hidden)]
pub mod parts;
mod pipeline;
mod pool;
mod read;
mod record;
mod recount;
mod refused;
mod rejects;
mod repair;
mod rows;
mod scan;
mod share;
mod source;
mod spool;
pub mod store;
mod stream;
mod sub_samples;
mod take;
mod tally;
mod texts;
mod time_unit;
mod totals;
mod transfer;
mod verify;

pub use apart::set_apart;
pub use batch::{Nullable, SampleBatch};
pub use campaign::{Campaign, CampaignProgress, CampaignRun, CampaignState, Paired, PlannedCpu, Stand};
pub use cell_table::CellTable;
pub use counts::{Cell, CellKey, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, OTHER, Spread};
pub use cpu::{CpuChoice, CpuJoin, CpuSeries};
pub use cpu_export::{CpuExport, CpuSource};
pub use cpu_scale::CpuScale;
pub use damage::Damage;
pub use date::{DateParser, TimeZone};
pub use error::{Error, Place, Result};
pub use frameworks::Frameworks;
pub use ingest::{IngestOptions, Ingested, RunStore, ingest};
pub use inspect::{
    ClockGuess, CpuInspection, Gap, InjectorsBy, Inspection, LogInspection, MissingColumn, RejectKind,
    TimeForm, inspect,
};
pub use layout::{DEFAULT_COLUMNS, LayoutOptions};
pub use pipeline::{PipelineOptions, Progress};
pub use recount::Recount;
pub use rejects::{Reject, RejectSpool};
pub use repair::{Repaired, Repairer};
pub use source::{Inputs, LogReader, LogSource, LogStream, SourceOptions};
pub use store::{LAST_REPEAT, Listing, Repeat, Replace, RunInfo, RunKey, SourceFile, StoredRun};
pub use stream::{SampleSink, stream};
pub use sub_samples::{sub_sample_names, sub_sample_of};
pub use texts::{TextList, Texts, clean_text};
pub use time_unit::TimeUnit;
pub use transfer::{attach_cpu, copy_run};
pub use verify::verify_run;
