//! `perfpipe migrate`: rewrites a database of an older layout as the newest.

mod plan;

use anyhow::Result;
use clap::Args;

use crate::args::StoreArgs;
use crate::input::store;
use crate::output::note;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe migrate --dry-run --database postgres://user@host/load\n  \
    perfpipe migrate --database postgres://user@host/load\n\n\
    An older layout is read and written as it is until then. Afterwards older versions of perfpipe refuse the database.\n\
    All is one transaction: after a failure or a kill nothing has changed. Folders need no migration.")]
pub(crate) struct MigrateArgs {
    /// Say what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Prints the plan, and carries it out.
pub(crate) async fn run(args: &MigrateArgs, at: &StoreArgs) -> Result<()> {
    let store = store::existing(at).await?;
    let Some(migration) = store.migration().await? else {
        note(&format!("nothing to do: {store} has the newest layout"));
        return Ok(());
    };
    plan::print(&store.to_string(), &migration);
    if args.dry_run {
        note("nothing was done: run the command again without --dry-run");
    } else if store.migrate().await? {
        note(&format!("{store} has layout {} now", migration.to));
    } else {
        note(&format!("another process has migrated {store} meanwhile"));
    }
    Ok(())
}
