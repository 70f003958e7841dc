//! `perfpipe inspect`: what an ingest would find, said before it is begun.

mod clock;
mod cpu;
mod log;
mod run;
mod text;

use std::io::Write;

use anyhow::Result;
use perfpipe_ingest::{IngestOptions, inspect};

use super::ingest::reading;
use crate::args::{InspectArgs, InspectFormat};
use crate::output::Output;

pub(crate) use self::clock::second;

/// Looks at the files of one run, and fails as an ingest would.
pub(crate) async fn run(args: &InspectArgs) -> Result<()> {
    let options = IngestOptions {
        framework: args.framework.clone(),
        test: args.test.clone(),
        ..reading(&args.log, args.salvage, args.cores)?
    };
    let mut found = inspect(&args.files, &options).await?;
    let mut output = Output::open(None)?;
    match args.format {
        InspectFormat::Text => output.write_all(text::of(&found).as_bytes())?,
        InspectFormat::Json => {
            serde_json::to_writer_pretty(&mut output, &found)?;
            writeln!(output)?;
        }
    }
    output.finish()?;
    match found.refusal.take() {
        Some(refusal) => Err(refusal.into()),
        None => Ok(()),
    }
}
