//! `perfpipe list`: lists the stored runs.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::table::Table;

use crate::args::{OutputArgs, StoreArgs};
use crate::input::left_out::LeftOut;
use crate::input::store;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe list\n  \
    perfpipe list --format json -o runs.json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Lists the stored runs.
pub(crate) async fn run(args: &ListArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let mut left_out = LeftOut::default();
    let runs = left_out.runs(&store).await?;
    if runs.is_empty() && left_out.any() {
        return left_out.end();
    }
    if runs.is_empty() {
        note(&format!("no runs in {store}: store one with `perfpipe ingest run.zip cpu.csv`"));
    }
    let table = Table::of(&runs)
        .column("framework", |run| Some(run.key.framework.clone()))
        .column("test", |run| Some(run.key.test.clone()))
        .column("repeat", |run| Some(u64::from(run.key.repeat)))
        .people_see(runs.iter().any(|run| run.key.repeat > 1))
        .column("t0_ms", |run| Some(run.t0_ms))
        .identifier()
        .column("seconds", |run| Some(u64::from(run.seconds)))
        .column("requests", |run| Some(run.requests()))
        .column("failures", |run| Some(run.failures))
        .column("transactions", |run| Some(run.transactions))
        .column("rejects", |run| Some(run.rejects))
        .column("partial", |run| Some(run.is_partial()))
        .column("samples_stored", |run| Some(run.samples_stored))
        .column("ingested_at", |run| Some(run.ingested_at.clone()))
        .done();
    let mut output = Output::open(args.output.file.output.as_deref())?;
    table.write(args.output.format, &mut output)?;
    output.finish()?;
    left_out.end()
}
