//! `perfpipe copy`: runs from one store to another; and `perfpipe attach-cpu`: other CPU readings for a stored run.

use std::sync::Arc;

use anyhow::Result;
use perfpipe_ingest::store::Store;
use perfpipe_ingest::{Error, Inputs, Replace, SourceOptions, attach_cpu, copy_run};

use crate::args::{AttachArgs, CopyArgs, StoreArgs};
use crate::left_out::LeftOut;
use crate::output::note;
use crate::{choose, store, view};

/// Copies the runs that are named, or all.
pub(crate) async fn run(args: &CopyArgs, from: &StoreArgs) -> Result<()> {
    let from = Arc::new(store::open(from).await?);
    let to = Arc::new(target(args).await?);
    if from.to_string() == to.to_string() {
        return Err(Error::usage("both stores are the same", "Name another one with --to.").into());
    }
    let mut left_out = LeftOut::default();
    let keys = choose::named_or_all(&left_out.runs(&from).await?, &args.run)?;
    let replace = if args.replace { Replace::Any } else { Replace::SameFile };
    for key in &keys {
        let copied = copy_run(&from, key, &to, replace).await.map_err(anyhow::Error::from);
        let Some(info) = left_out.or_leave_out(key, copied)? else { continue };
        note(&format!("copied {key} from {from} to {to}: {} records, read back the same", info.records()));
    }
    if keys.is_empty() {
        note(&format!("{from} has no runs"));
    }
    left_out.end()
}

async fn target(args: &CopyArgs) -> Result<Store> {
    match (&args.to, &args.to_database) {
        (Some(folder), _) => store::folder(folder),
        (None, Some(url)) => store::database(url).await,
        (None, None) => {
            Err(Error::usage("there is no store to copy to", "Name it with --to or --to-database.").into())
        }
    }
}

/// Joins the samples of a run to another CPU export.
pub(crate) async fn attach(args: &AttachArgs, at: &StoreArgs) -> Result<()> {
    let store = Arc::new(store::open(at).await?);
    let mut left_out = LeftOut::default();
    let runs = left_out.runs(&store).await?;
    let key = choose::named(&runs, &args.run)?;
    let time_zone = args.time_zone.parse()?;
    let source = SourceOptions { time_zone, cpu_item: args.cpu_item, ..SourceOptions::default() };
    let (file, options) = (args.cpu.clone(), source.clone());
    let inputs = tokio::task::spawn_blocking(move || Inputs::recognise(&[file], &options)).await??;
    let cpu = match (inputs.cpu, inputs.logs.first()) {
        (Some(cpu), None) => cpu,
        _ => {
            let problem = format!("{} is not a CPU export alone", args.cpu.display());
            return Err(Error::usage(problem, "Name the export of the server that was tested.").into());
        }
    };
    let export = cpu.read(&source).await?;
    inputs.notes.iter().chain(&export.notes).for_each(|text| note(text));
    let readings = export.series.readings().len();
    let stored = runs.iter().find(|run| run.key == key).map(view::plain).unwrap_or_default().cpu;
    let noted = [(view::CPU_ITEM, args.cpu_item.map(|id| id.to_string()))];
    let info = attach_cpu(&store, &key, export, view::cpu_join(&args.join, stored), &noted).await?;
    note(&format!("attached {readings} CPU readings to {key}: {} records joined anew", info.records()));
    left_out.end()
}
