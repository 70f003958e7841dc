//! `perfpipe verify`: whether all that is stored is whole; and `perfpipe repair`: what can be done where it is not.

use std::sync::Arc;

use anyhow::Result;
use perfpipe_analyze::Table;
use perfpipe_ingest::Store;
use perfpipe_ingest::{CampaignProgress, Error, Repairer, RunKey, verify_run};

use crate::args::{RepairArgs, StoreArgs, VerifyArgs};
use crate::error::Damaged;
use crate::input::{runs, store};
use crate::output::progress::Bar;
use crate::output::{Output, note};

/// One run, or file, and what is wrong with it.
struct Verdict {
    run: Option<RunKey>,
    faults: Vec<String>,
}

/// Reads everything that is stored of the runs that are named, or of all.
pub(crate) async fn run(args: &VerifyArgs, at: &StoreArgs) -> Result<()> {
    let store = store::existing(at).await?;
    let found = store.look().await?;
    let keys = runs::named_or_all(&found.runs, &args.run)?;
    let mut verdicts: Vec<Verdict> = Vec::new();
    if args.run.is_empty() {
        let unread = found.unread.iter().map(|error| Verdict { run: None, faults: vec![error.to_string()] });
        verdicts.extend(unread);
    }
    let campaign = Arc::<CampaignProgress>::default();
    let bar = Bar::start(None, Arc::clone(&campaign));
    for key in keys {
        match verify_run(&store, &key, &campaign.begin()).await {
            Ok(faults) => verdicts.push(Verdict { run: Some(key), faults }),
            Err(error) => gone(&store, &key, error).await?,
        }
    }
    bar.finish();
    print(&verdicts, args)?;
    let damaged = verdicts.iter().filter(|verdict| !verdict.faults.is_empty()).count();
    if damaged > 0 { Err(Damaged { found: damaged, all: verdicts.len() }.into()) } else { Ok(()) }
}

/// Nothing, where a run could not be read since it was dropped after the store was looked at.
async fn gone(store: &Store, key: &RunKey, error: Error) -> Result<()> {
    match store.info(key).await {
        Ok(None) => {
            note(&format!("{key} was dropped meanwhile"));
            Ok(())
        }
        _ => Err(error.into()),
    }
}

fn print(verdicts: &[Verdict], args: &VerifyArgs) -> Result<()> {
    let key = |verdict: &Verdict| verdict.run.clone();
    let table = Table::of(verdicts)
        .column("run", |verdict| {
            Some(key(verdict).map_or_else(|| "(unknown)".to_owned(), |key| key.to_string()))
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
    let mut output = Output::open(None)?;
    table.write(args.format.into(), &mut output)?;
    output.finish()
}

/// Puts right what can be put right of the store, and of the runs that are named or of all, and sets aside what can't.
pub(crate) async fn repair(args: &RepairArgs, at: &StoreArgs) -> Result<()> {
    let store = Arc::new(store::existing(at).await?);
    let mut say =
        |what: String| note(&format!("{}{what}", if args.dry_run { "would be done: " } else { "" }));
    let mut repairer = Repairer::new(args.dry_run, &mut say);
    if args.run.is_empty() {
        repairer.store(&store)?;
    }
    let keys = runs::named_or_all(&store.look().await?.runs, &args.run)?;
    for key in keys {
        one(&mut repairer, &store, &key).await?;
    }
    let done = repairer.done();
    if done.steps + done.left == 0 {
        note("nothing is damaged");
    }
    if done.left == 0 {
        return Ok(());
    }
    Err(Error::refused(
        format!("{} of what is damaged could not be repaired", done.left),
        "Each is told above.",
    )
    .into())
}

/// Repairs a run; one that is dropped meanwhile needs none.
async fn one(repairer: &mut Repairer<'_>, store: &Arc<Store>, key: &RunKey) -> Result<()> {
    let campaign = Arc::<CampaignProgress>::default();
    let bar = Bar::start(None, Arc::clone(&campaign));
    let repaired = repairer.run(store, key, &campaign.begin()).await;
    bar.finish();
    match repaired {
        Ok(()) => Ok(()),
        Err(error) => gone(store, key, error).await,
    }
}
