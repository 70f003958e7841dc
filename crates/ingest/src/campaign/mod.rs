//! Campaigns: ingest folders of logs and CPU exports as load-test scripts leave them, many runs at once.
//!
//! A campaign is planned, and then ingested:
//!
//! ```
//! use perfpipe_ingest::{Campaign, IngestOptions, Store};
//! # let dir = tempfile::tempdir().unwrap();
//! # let night = dir.path().join("night");
//! # std::fs::create_dir(&night).unwrap();
//! # std::fs::write(night.join("go_2048.csv"), "timeStamp,elapsed,success\n1795203738615,12,true\n").unwrap();
//! # std::fs::write(night.join("go_2048.cpu.csv"), "clock,value\n1795203738,12.5\n").unwrap();
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let store = Store::folder(dir.path().join("data"))?;
//! let mut campaign = Campaign::plan(&[night], &IngestOptions::default(), &store).await?;
//! campaign.check()?;
//! campaign.ingest(&store, 2).await;
//! for run in &campaign.runs {
//!     println!("{}: {}", run.log.display(), run.stand.name());
//! }
//! # assert_eq!(campaign.runs[0].ingested.as_ref().unwrap().cpu_seconds, 1);
//! # Ok::<(), perfpipe_ingest::Error>(())
//! # }).unwrap();
//! ```

mod file;
mod file_names;
mod folder;
mod pairing;
pub(crate) mod plan;
mod run;
mod status;
mod work;

pub use self::file::PlannedCpu;
pub use self::pairing::Paired;
pub use self::run::CampaignRun;
pub use self::status::Stand;
