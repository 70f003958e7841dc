//! What a command did to a store: notes for people, and a table for programs.

use anyhow::Result;
use perfpipe_analyze::table::Table;
use perfpipe_ingest::RunKey;
use perfpipe_ingest::points::PointKey;

use super::note;
use super::terminal::TableOutput;
use crate::args::OutputArgs;

/// Collects what a command does, and prints it at the end if that is asked for.
pub(crate) struct DoneTable {
    output: TableOutput,
    /// True if nothing is changed, and the rows say what would be done.
    dry_run: bool,
    rows: Vec<DoneRow>,
}

/// Something of a store to which something was done.
#[derive(Debug, Default)]
pub(crate) struct DoneRow {
    kind: &'static str,
    /// The run's name as it is printed; absent for what is of no run.
    run: Option<String>,
    key: Option<RunKey>,
    name: Option<String>,
    outcome: &'static str,
    was: Option<String>,
    records: Option<u64>,
    covered_percent: Option<f64>,
    what: Option<String>,
}

impl DoneRow {
    /// A thing of a kind, as `point`, and what was done to it, as `dropped`.
    pub(crate) fn new(kind: &'static str, outcome: &'static str) -> Self {
        Self { kind, outcome, ..Self::default() }
    }

    /// A run, or the part of it that the kind says.
    pub(crate) fn of_run(kind: &'static str, outcome: &'static str, key: &RunKey, name: &str) -> Self {
        Self { run: Some(name.to_owned()), key: Some(key.clone()), ..Self::new(kind, outcome) }
    }

    /// A point of a load tool's summary.
    pub(crate) fn of_point(outcome: &'static str, key: &PointKey) -> Self {
        let run = RunKey::new(&key.framework, &key.test).with_repeat(key.repeat);
        Self { key: Some(run), ..Self::new("point", outcome) }.named(key)
    }

    /// Names the thing where its run does not.
    pub(crate) fn named(self, name: impl ToString) -> Self {
        Self { name: Some(name.to_string()), ..self }
    }

    /// Sets the name that the run had before.
    pub(crate) fn was(self, name: String) -> Self {
        Self { was: Some(name), ..self }
    }

    /// Sets how many records of the log the run has.
    pub(crate) fn records(self, records: u64) -> Self {
        Self { records: Some(records), ..self }
    }

    /// Sets how many percent of the run's seconds have a reading.
    pub(crate) fn covered(self, percent: f64) -> Self {
        Self { covered_percent: Some(percent), ..self }
    }
}

impl DoneTable {
    /// Opens the output before any work is done.
    ///
    /// # Errors
    /// If it can't be written.
    pub(crate) fn begin(args: &OutputArgs, dry_run: bool) -> Result<Self> {
        Ok(Self { output: TableOutput::begin(args)?, dry_run, rows: Vec::new() })
    }

    /// Adds what was done, of which the caller prints a note.
    pub(crate) fn add(&mut self, row: DoneRow) {
        self.rows.push(row);
    }

    /// Adds what was done, and prints a note of it.
    pub(crate) fn say(&mut self, row: DoneRow, what: &str) {
        note(what);
        self.add(DoneRow { what: Some(what.to_owned()), ..row });
    }

    /// Prints the table, and returns the result of the command. After a failure, the table has what was done before it; if
    /// that is nothing, nothing is printed.
    ///
    /// # Errors
    /// If the command failed, or the output can't be written.
    pub(crate) fn end(self, result: Result<()>) -> Result<()> {
        if result.is_err() && self.rows.is_empty() {
            self.output.discard();
            return result;
        }
        let written = self.output.write(|| table(&self.rows, self.dry_run));
        // The first failure is what the user has to know.
        result.and(written)
    }
}

/// Builds the table.
fn table(rows: &[DoneRow], dry_run: bool) -> Table {
    let any = |has: fn(&DoneRow) -> bool| rows.iter().any(has);
    Table::of(rows)
        .schema("perfpipe-done/1")
        .column("kind", |row| Some(row.kind.to_owned()))
        .column("run", |row| row.run.clone())
        .major()
        .people_see(any(|row| row.run.is_some()))
        .column("framework", |row| row.key.as_ref().map(|key| key.framework.clone()))
        .people_see(false)
        .column("test", |row| row.key.as_ref().map(|key| key.test.clone()))
        .people_see(false)
        .column("repeat", |row| row.key.as_ref().map(|key| u64::from(key.repeat)))
        .people_see(false)
        .column("name", |row| row.name.clone())
        .people_see(any(|row| row.name.is_some()))
        .column("outcome", |row| Some(row.outcome.to_owned()))
        .major()
        .column("dry_run", |_| Some(dry_run))
        .people_see(dry_run)
        .column("was", |row| row.was.clone())
        .people_see(any(|row| row.was.is_some()))
        .column("records", |row| row.records)
        .people_see(any(|row| row.records.is_some()))
        .column("covered_percent", |row| row.covered_percent)
        .title("with a reading")
        .unit("%", 1)
        .people_see(any(|row| row.covered_percent.is_some()))
        .column("what", |row| row.what.clone())
        .minor()
        .people_see(any(|row| row.what.is_some()))
        .done()
}
