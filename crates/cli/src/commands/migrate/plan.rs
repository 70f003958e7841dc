//! Description of what a migration will do.

use perfpipe_ingest::store::postgres::Migration;

use crate::output::note;

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
