//! Reads zipped JMeter logs and CPU exports into a store: every sample, and exact counts per second.
//!
//! ```text
//! source ─▶ formats ─▶ sample ─▶ counts ─▶ pipeline ─▶ store
//! (files,   (blocks,   (columns) (exact    (threads,   (Parquet or
//!  pipes,    records,             counts    channels)   Postgres)
//!  zips)     fields)              by second)
//! ```
//!
//! [`ingest`] reads the files of one run into a [`Store`]. [`stream`] hands the samples to a sink that you write.
//! [`inspect`] reports what an ingest would find. [`Campaign`] reads folders of runs. [`Store::read`] returns a stored
//! run as a [`StoredRun`], the input of `perfpipe-analyze`.
//!
//! # Memory
//!
//! Memory use does not grow with the log: buffers are reused, the counts of past seconds are packed, and counts beyond
//! a fifth of [`PipelineOptions::memory`] go to a temporary file.
//!
//! # Threads and blocking
//!
//! An ingest starts up to [`PipelineOptions::readers`] threads that read, and [`PipelineOptions::workers`] that parse.
//! Poll its future on a tokio runtime. What reads a store never blocks the polling thread; what writes into a folder
//! does, while it waits for the disk. [`Store`] says which functions these are. Those of [`store::parquet::ParquetStore`] itself all block.
//!
//! Asynchronous functions return boxed futures, which are compiled with this crate. The body of an `async fn` would be
//! compiled again in each crate that polls it.
//!
//! # Modules
//!
//! The root has what a caller starts with. The modules have the rest, by subject: [`run`] describes a run, [`counts`] its
//! exact counts, [`sample`] the columns of a batch, [`series`] CPU readings, [`source`] input files, [`store`] the stores
//! and what it takes to write another one.
//!
//! # Times
//!
//! The times of requests (elapsed, latency, connect) are whole numbers of the run's unit, [`RunInfo::resolution`]: 1 ms for
//! JMeter, down to 1 µs for others. [`run::Resolution::ms`] converts them. What `perfpipe-analyze` computes is in ms.
//!
//! # Overflow
//!
//! Counts and sums saturate at the limits of their types, which no real log reaches. The product is built with
//! `overflow-checks` in its release profile too. A profile is not inherited: if your program reads logs and stores of others,
//! set it there as well, so that a figure that does not fit its type is an error rather than another figure.
//!
//! # Features
//!
//! | feature | has |
//! |---|---|
//! | `parquet` | the store in a folder |
//! | `lake` | the store in a bucket, or in a folder as tables of Delta Lake |
//! | `postgres` | the store in a database |
//! | `fetch` | readings of the server from Zabbix and Prometheus |
//!
//! All four are on by default, and each brings its own dependencies. Without them, [`inspect`], [`stream`] and an
//! [`ingest`] into a store of your own are left.
//!
//! # Example
//!
//! ```
//! use perfpipe_ingest::store::parquet::ParquetStore;
//! use perfpipe_ingest::{IngestOptions, RunKey, ingest};
//!
//! let dir = tempfile::tempdir()?;
//! let log = dir.path().join("log.csv");
//! std::fs::write(&log, "timeStamp,elapsed,success\n1795203738615,12,true\n")?;
//!
//! let store = ParquetStore::open(dir.path().join("data"))?;
//! let options = IngestOptions::default().with_framework("perfectnio").with_test("2048");
//! let runtime = tokio::runtime::Runtime::new()?;
//! let done = runtime.block_on(ingest(&store, &[log], &options))?;
//! assert_eq!(done.info.key, RunKey::new("perfectnio", "2048"));
//! assert_eq!(done.info.successes, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// No input may cause a panic, so the lint forbids indexing that could be out of bounds.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]
// Much is there for the stores alone, and idle where one of them is left out.
#![cfg_attr(not(all(feature = "parquet", feature = "postgres")), allow(dead_code, unused_imports))]

#[cfg(any(feature = "parquet", feature = "postgres"))]
pub mod campaign;
mod counting;
#[cfg(any(all(test, feature = "parquet", feature = "postgres"), feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
mod inspect;
mod operations;
mod pipeline;
pub mod source;

/// Exact counts by second, label, success and transaction, which are merged by addition.
pub mod counts {
    #[doc(inline)]
    pub use perfpipe_model::counts::{
        Cell, CellKey, CellTable, ErrorCount, InjectorLoad, LABEL_LIMIT, LabelCount, OTHER, PackedCell,
        Spread, TakeCounts, set_apart,
    };
}

/// The data that describes a run: key, metadata, rejects and damage.
pub mod run {
    #[doc(inline)]
    pub use perfpipe_model::run::{
        Damage, DamageKind, Frameworks, Intervals, LARGEST_CPU_OFFSET, LAST_REPEAT, Measures, Note, NoteKind,
        PartNumber, Reject, RejectReason, Repeat, Replace, Resolution, RunOptions, SourceFile, SourceKind,
        is_numbered, is_tag_key, tag_fault,
    };
}

/// Samples in columns, and their texts.
pub mod sample {
    #[doc(inline)]
    pub use perfpipe_model::sample::{Nullable, TextList, Texts};
}

/// Time series of the server: CPU readings and their unit, and others by name.
pub mod series {
    #[doc(inline)]
    pub use perfpipe_model::series::{CpuChoice, CpuJoin, CpuScale, SeriesFile, ServerSeries, TimeSeries};
}

/// The stores, a folder or a bucket of Parquet files and PostgreSQL, and the traits that another store implements.
pub mod store {
    #[doc(inline)]
    pub use perfpipe_store::{
        BatchEncoder, CommitStage, FinishedRun, Listing, RejectSpool, RepairOutcome, RepairStep, Repaired,
        Repairer, RunStore, RunWriter, Stage, StoreCheck, StoredParts,
    };

    /// The store in Parquet files: a folder, or a lake in a folder or a bucket.
    #[cfg(feature = "parquet")]
    pub mod parquet {
        #[doc(inline)]
        pub use perfpipe_store::parquet::{
            PackedRun, ParquetStore, ParquetWriter, SampleColumns, SampleEncoder, SampleExport,
        };
    }

    /// The store in PostgreSQL.
    #[cfg(feature = "postgres")]
    pub mod postgres {
        #[doc(inline)]
        pub use perfpipe_store::postgres::{
            MigratedTable, Migration, Placement, PostgresConfig, PostgresStore, PostgresWriter, Rows,
            SampleEncoder,
        };
    }
}

/// Points of sweeps: what load tools reported in summary.
pub mod points {
    #[cfg(any(feature = "parquet", feature = "postgres"))]
    pub use crate::operations::points::add_readings;
    #[doc(inline)]
    pub use perfpipe_formats::summaries::keys::{NamePattern, NamedParts, PointNames, Unknown, named_points};
    #[doc(inline)]
    pub use perfpipe_formats::summaries::sections;
    #[doc(inline)]
    pub use perfpipe_formats::summaries::tools::ab::AbFile;
    #[doc(inline)]
    pub use perfpipe_formats::summaries::walk::{FoundSection, FoundSections};
    #[doc(inline)]
    pub use perfpipe_model::points::{
        Bounds, Figures, Latencies, LatencySource, Percentile, Point, PointKey, PointSecond, Readings,
    };
}

/// The parts of an [`Inspection`].
pub mod inspection {
    pub use crate::inspect::{
        CpuInspection, Gap, InjectorsBy, LogInspection, MissingColumn, RejectKind, SeriesInspection, TimeForm,
    };
    #[doc(inline)]
    pub use perfpipe_model::series::clock_guess::ClockGuess;
}

/// Following the logs of a running test.
pub mod watch {
    pub use crate::operations::watch::{Followed, Look, Watch, WatchedCpu};
}

#[cfg(any(feature = "parquet", feature = "postgres"))]
pub use campaign::plan::Campaign;
pub use inspect::{Inspection, inspect};
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub use operations::attach::AttachedSeries;
pub use operations::ingest::{Ingested, ingest};
#[cfg(feature = "parquet")]
pub use operations::merge::MergeOptions;
pub use operations::options::IngestOptions;
#[cfg(feature = "parts")]
#[doc(hidden)]
pub use operations::parts;
#[cfg(any(feature = "parquet", feature = "postgres"))]
pub use operations::store::Store;
pub use operations::stream::{SampleSink, stream};
#[doc(inline)]
pub use perfpipe_model::counts::stored_run::StoredRun;
#[doc(inline)]
pub use perfpipe_model::error::{Error, ErrorClass, ErrorKind, Result};
#[doc(inline)]
pub use perfpipe_model::run::info::RunInfo;
#[doc(inline)]
pub use perfpipe_model::run::key::RunKey;
#[doc(inline)]
pub use perfpipe_model::sample::batch::SampleBatch;
#[doc(inline)]
pub use perfpipe_store::RunRef;
pub use pipeline::{PipelineOptions, Progress};
