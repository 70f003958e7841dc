//! Streams a log into a sink that sums the bytes received by its requests.
//!
//! `cargo run -p perfpipe-ingest --example stream -- fixtures/Results-2048-9000.csv.zip`

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use perfpipe_ingest::{IngestOptions, SampleBatch, stream};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let total = Arc::new(AtomicI64::new(0));
    let counter = Arc::clone(&total);
    let sink = move |batch: SampleBatch| {
        counter.fetch_add(batch.bytes.values().iter().sum(), Ordering::Relaxed);
        Ok(())
    };
    let (_, run) = stream(sink, &files, &IngestOptions::default()).await?;
    let (requests, bytes) = (run.info.requests(), total.load(Ordering::Relaxed));
    writeln!(std::io::stdout(), "{}: {requests} requests, {bytes} bytes", run.info.key)?;
    Ok(())
}
