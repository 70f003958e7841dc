//! `perfpipe verify`: verifies that stored runs are intact.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::table::Table;
use perfpipe_ingest::{Error, Progress, RunKey, Store};

use crate::args::{OutputArgs, RunsArgs, StoreArgs};
use crate::error::Damaged;
use crate::input::runs::{RunNames, Selection};
use crate::input::store;
use crate::output::progress::Bar;
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to verify, as `perfpipe list` names them: go_2048 [default: all]")))]
#[command(after_help = "Examples:\n  \
    perfpipe verify\n  \
    perfpipe verify go_2048 \"spring_2048#2\" --format json\n\n\
    Reads all tables and samples, and checks their checksums, and the counts against the run's own row and the \
    samples. Without names, reads the points too, and in a bucket the logs of all tables.\n\n\
    Exit codes: 0 nothing is damaged; 3 something is damaged.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A run, a file or the points, with its faults.
struct Verdict {
    /// What is printed instead of a run's name.
    name: &'static str,
    run: Option<RunKey>,
    faults: Vec<String>,
}

impl Verdict {
    fn of_run(key: RunKey, faults: Vec<String>) -> Self {
        Self { name: "", run: Some(key), faults }
    }

    fn of_other(name: &'static str, faults: Vec<String>) -> Self {
        Self { name, run: None, faults }
    }
}

/// Verifies the runs that are named, or all of them. Without names, the points are verified too, and anything in the
/// store that can't be read is a fault.
pub(crate) async fn run(args: &VerifyArgs, at: &StoreArgs) -> Result<()> {
    let store = store::existing(at).await?;
    let chosen = Selection::any(&store, &args.runs.run, &args.runs.of).await?;
    let mut verdicts: Vec<Verdict> = Vec::new();
    if args.runs.is_all() {
        let unread =
            chosen.unread.iter().map(|error| Verdict::of_other("(unknown)", vec![error.to_string()]));
        verdicts.extend(unread);
        verdicts.extend(itself(&store, &chosen.unread).await?);
        verdicts.extend(points(&store).await?);
    }
    let progress = Progress::default();
    let bar = Bar::start(None, progress.clone());
    for key in chosen.keys {
        match store.verify(&key, &progress).await {
            Ok(faults) => verdicts.push(Verdict::of_run(key, faults)),
            Err(error) => ignore_dropped(&store, &key, &chosen.names, error).await?,
        }
    }
    bar.finish();
    print(&verdicts, &chosen.names, args)?;
    let damaged = verdicts.iter().filter(|verdict| !verdict.faults.is_empty()).count();
    if damaged > 0 { Err(Damaged { found: damaged, all: verdicts.len() }.into()) } else { Ok(()) }
}

/// Verifies the store itself. Says what is wrong with it beyond what could not be read anyway.
async fn itself(store: &Store, unread: &[Error]) -> Result<Option<Verdict>> {
    let mut check = store.verify_store().await?;
    check.notes.iter().for_each(|found| note(found));
    check.faults.retain(|fault| unread.iter().all(|error| error.to_string() != *fault));
    Ok((!check.faults.is_empty()).then(|| Verdict::of_other("(tables)", check.faults)))
}

/// Verifies the points, unless there are none.
async fn points(store: &Store) -> Result<Option<Verdict>> {
    let faults = store.verify_points().await?;
    let any = !faults.is_empty() || !store.points().await?.is_empty();
    Ok(any.then(|| Verdict::of_other("(points)", faults)))
}

/// Returns success if a run could not be read because it was dropped meanwhile; otherwise fails with the error.
pub(super) async fn ignore_dropped(
    store: &Store,
    key: &RunKey,
    names: &RunNames,
    error: Error,
) -> Result<()> {
    match store.info(key).await {
        Ok(None) => {
            note(&format!("{} was dropped meanwhile", names.name(key)));
            Ok(())
        }
        _ => Err(error.into()),
    }
}

fn print(verdicts: &[Verdict], names: &RunNames, args: &VerifyArgs) -> Result<()> {
    let key = |verdict: &Verdict| verdict.run.clone();
    let table = Table::of(verdicts)
        .schema("perfpipe-verify/1")
        .column("run", |verdict| {
            Some(key(verdict).map_or_else(|| verdict.name.to_owned(), |key| names.name(&key)))
        })
        .column("framework", |verdict| key(verdict).map(|key| key.framework))
        .people_see(false)
        .column("test", |verdict| key(verdict).map(|key| key.test))
        .people_see(false)
        .column("repeat", |verdict| key(verdict).map(|key| u64::from(key.repeat)))
        .people_see(false)
        .column("whole", |verdict| Some(verdict.faults.is_empty()))
        .column("faults", |verdict| (!verdict.faults.is_empty()).then(|| verdict.faults.join("; ")))
        .people_see(verdicts.iter().any(|verdict| !verdict.faults.is_empty()))
        .done();
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&table, args.output.format(), &mut output)?;
    output.finish()
}
