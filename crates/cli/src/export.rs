//! `perfpipe export`: the figures of one run in machine formats.

use std::io::Write;

use anyhow::Result;
use perfpipe_analyze::{
    Format, Sweep, Table, View, cpu_table, error_table, jmeter_statistics, label_stats, label_table,
    percentile_distribution, phase_table, run_document,
};
use perfpipe_ingest::{Error, Reject, StoredRun};

use crate::args::{ExportArgs, ExportFormat, StoreArgs, What};
use crate::output::Output;
use crate::{choose, samples, store, view};

/// Writes what is asked for of one run.
pub(crate) async fn run(args: &ExportArgs, store: &StoreArgs) -> Result<()> {
    check_format(args)?;
    let mut output = Output::open(args.output.as_deref())?;
    match export(args, store, &mut output).await {
        Ok(()) => output.finish(),
        Err(error) => {
            output.discard();
            Err(error)
        }
    }
}

async fn export(args: &ExportArgs, store: &StoreArgs, output: &mut Output) -> Result<()> {
    let store = store::existing(store).await?;
    let key = choose::one(&args.key, &store).await?;
    if let Some(write) = document(args.what) {
        let run = view::read(&store, &key, &args.view).await?;
        output.write_all(write(&run, &view::of(&args.view, &run.info))?.as_bytes())?;
        return Ok(());
    }
    let table = match args.what {
        What::Samples => return samples::export(&store, &key, args, output).await,
        What::Rejects => {
            let mut rejects = Vec::new();
            store
                .rejects(&key, &mut |reject| {
                    rejects.push(reject);
                    Ok(())
                })
                .await?;
            reject_table(&rejects)
        }
        // Failures by message are not in the samples, and readings have no label.
        What::Errors | What::Cpu => table(&store.read(&key).await?, args)?,
        _ => table(&view::read(&store, &key, &args.view).await?, args)?,
    };
    write(&table, args.format.unwrap_or(ExportFormat::Csv), output)
}

/// What writes a form that is no table.
fn document(what: What) -> Option<fn(&StoredRun, &View) -> perfpipe_analyze::Result<String>> {
    match what {
        What::Run => Some(run_document),
        What::Statistics => Some(jmeter_statistics),
        What::Hgrm => Some(percentile_distribution),
        _ => None,
    }
}

/// Refuses a format in which something can't be written.
fn check_format(args: &ExportArgs) -> Result<()> {
    let only = match args.what {
        What::Run | What::Statistics => ExportFormat::Json,
        What::Hgrm => ExportFormat::Text,
        _ => return Ok(()),
    };
    if args.format.is_none_or(|format| format == only) {
        return Ok(());
    }
    Err(Error::usage("--what run and statistics are JSON, and hgrm is a text", "Leave out --format.").into())
}

fn table(run: &StoredRun, args: &ExportArgs) -> Result<Table> {
    let look = view::of(&args.view, &run.info);
    Ok(match args.what {
        What::Errors => error_table(run, &look)?,
        What::Cpu => cpu_table(run, &look)?,
        What::Phases => phase_table(run, &look)?,
        What::Sweep => Sweep::new(run, &look)?.table(),
        What::Labels => label_table(&label_stats(run, &look)?),
        What::Summary => view::timeline(run, &args.view)?.summary_table(),
        _ => view::timeline(run, &args.view)?.table(),
    })
}

fn reject_table(rejects: &[Reject]) -> Table {
    Table::of(rejects)
        .column("file", |reject| Some(reject.file.clone()))
        .column("member", |reject| reject.member.clone())
        .column("line", |reject| Some(reject.line))
        .column("byte", |reject| Some(reject.byte))
        .column("reason", |reject| Some(reject.reason.clone()))
        .column("record", |reject| Some(reject.record.clone()))
        .done()
}

fn write(table: &Table, format: ExportFormat, output: &mut Output) -> Result<()> {
    match text_format(format) {
        Some(format) => table.write(format, output)?,
        None => table.write_parquet(output)?,
    }
    Ok(())
}

/// The text format of an export; `None` is Parquet.
pub(crate) fn text_format(format: ExportFormat) -> Option<Format> {
    match format {
        ExportFormat::Csv => Some(Format::Csv),
        ExportFormat::Json => Some(Format::Json),
        ExportFormat::Md => Some(Format::Markdown),
        ExportFormat::Text => Some(Format::Text),
        ExportFormat::Parquet => None,
    }
}
