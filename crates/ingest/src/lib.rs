//! From a zipped JMeter log and a CPU export to a store: every sample, and exact counts by second.

// No input may reach a panic, so nothing is indexed that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod campaign;
mod counts;
mod error;
mod formats;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod inspect;
mod operations;
mod pipeline;
mod run;
mod sample;
mod series;
mod source;
pub mod store;

pub use campaign::{Campaign, CampaignProgress, CampaignRun, CampaignState, Paired, PlannedCpu, Stand};
pub use counts::stored_run::StoredRun;
pub use counts::table::CellTable;
pub use counts::{Cell, CellKey, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, Spread};
pub use error::{Error, Place, Result};
pub use formats::date::{DateParser, TimeZone};
pub use formats::jtl::layout::{DEFAULT_COLUMNS, LayoutOptions};
pub use formats::time_unit::TimeUnit;
pub use inspect::{
    ClockGuess, CpuInspection, Gap, InjectorsBy, Inspection, LogInspection, MissingColumn, RejectKind,
    TimeForm, inspect,
};
pub use operations::copy::{attach_cpu, copy_run};
pub use operations::ingest::{IngestOptions, Ingested, ingest};
#[cfg(feature = "parts")]
#[doc(hidden)]
pub use operations::parts;
pub use operations::recount::Recount;
pub use operations::store::Store;
pub use operations::stream::{SampleSink, stream};
pub use operations::sub_samples::{sub_sample_names, sub_sample_of};
pub use operations::verify::verify_run;
pub use pipeline::sink::RunStore;
pub use pipeline::{PipelineOptions, Progress};
pub use run::damage::Damage;
pub use run::info::{RunInfo, SourceFile};
pub use run::key::{LAST_REPEAT, Repeat, RunKey};
pub use run::ports::Frameworks;
pub use run::rejects::{Reject, RejectSpool};
pub use run::replace::Replace;
pub use sample::batch::{Nullable, SampleBatch};
pub use sample::reserved::{OTHER, set_apart};
pub use sample::texts::{TextList, Texts, clean_text};
pub use series::cpu::{CpuChoice, CpuJoin, CpuSeries};
pub use series::scale::CpuScale;
pub use source::cpu_export::{CpuExport, CpuSource};
pub use source::{Inputs, LogReader, LogSource, LogStream, SourceOptions};
pub use store::Listing;
pub use store::repairer::{Repaired, Repairer};
