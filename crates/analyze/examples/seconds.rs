//! The per-second table of a log as a polars `DataFrame`.
//!
//! `cargo run -p perfpipe-analyze --example seconds -- fixtures/Results-2048-9000.csv.zip fixtures/Results-2048-9000.cpu.csv`

use std::io::Write;
use std::path::PathBuf;

use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::{IngestOptions, Store};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let folder = tempfile::tempdir()?;
    let store = Store::folder(folder.path().join("store"))?;
    let done = store.ingest(&files, &IngestOptions::default()).await?;
    let run = store.read(&done.info.key).await?;
    let view = View::of(&run.info).with_percentiles([50.0, 99.9]);
    let frame = Timeline::new(&run, &view)?.frame()?;
    writeln!(std::io::stdout(), "{frame}")?;
    Ok(())
}
