//! `perfpipe drop`: deletes a run from the store.

use anyhow::Result;
use clap::Args;

use crate::args::{RunArgs, StoreArgs};
use crate::input::{runs, store};
use crate::output::note;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe drop go_2048#3\n  \
    perfpipe drop --framework go --test 2048")]
pub(crate) struct DropArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Deletes a run from the store.
pub(crate) async fn run(args: &DropArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let key = runs::one(&args.run, &store).await?;
    store.drop_run(&key).await?;
    note(&format!("dropped {key} from {store}"));
    Ok(())
}
