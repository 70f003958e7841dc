//! `perfpipe migrate`: rewrites a database of an older layout as the newest.

use anyhow::Result;
use clap::Args;
use perfpipe_ingest::Store;
use perfpipe_ingest::store::postgres::Migration;

use crate::args::{OutputArgs, StoreArgs};
use crate::input::store;
use crate::output::done::{DoneRow, DoneTable};
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
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Prints the plan, and carries it out.
pub(crate) async fn run(args: &MigrateArgs, at: &StoreArgs) -> Result<()> {
    let store = store::existing(at).await?;
    let mut done = DoneTable::begin(&args.output, args.dry_run)?;
    let migrated = migrate(args, &store, &mut done).await;
    done.end(migrated)
}

async fn migrate(args: &MigrateArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    let Some(migration) = store.migration().await? else {
        note(&format!("nothing to do: {store} has the newest layout"));
        return Ok(());
    };
    print(&store.to_string(), &migration);
    let mut outcome = "migrated";
    if args.dry_run {
        note("nothing was done: run the command again without --dry-run");
    } else if store.migrate().await? {
        note(&format!("{store} has layout {} now", migration.to));
    } else {
        note(&format!("another process has migrated {store} meanwhile"));
        outcome = "unchanged";
    }
    for table in &migration.tables {
        done.add(DoneRow::new("table", outcome).named(&table.name));
    }
    Ok(())
}

/// Prints the plan of a migration.
pub(super) fn print(store: &str, migration: &Migration) {
    let Migration { from, to, runs, tables, moved, .. } = migration;
    let runs = number_of(*runs);
    note(&format!("{store} has {runs} in layout {from}: these tables are rewritten in layout {to}"));
    for table in tables {
        let rows = if table.rows == 1 { "row" } else { "rows" };
        note(&format!("  {}: {} {rows}, {} bytes", table.name, table.rows, table.bytes));
    }
    let bytes: u64 = tables.iter().map(|table| table.bytes).sum();
    let samples = match moved {
        0 => "The samples are not rewritten".to_owned(),
        moved => format!("The samples of {} go to the nodes of the cluster", number_of(*moved)),
    };
    note(&format!(
        "in one transaction, which needs {bytes} bytes of space. Readers and writers wait for it. {samples}. Older \
         versions of perfpipe refuse the database afterwards"
    ));
}

fn number_of(runs: u64) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}
