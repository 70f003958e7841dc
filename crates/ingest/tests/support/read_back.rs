//! What a store gives back, in a form that can be compared: rows and cells without codes and indexes.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;

use perfpipe_ingest::SampleBatch;
use perfpipe_ingest::counts::{Cell, CellKey, CellTable, InjectorLoad};

/// A sample with all its columns, in words.
pub(crate) type Row = String;

/// Cells by second, label, success and transaction, their injectors by name.
pub(crate) type NamedCells = BTreeMap<(u32, String, bool, bool), (Cell, BTreeMap<String, (u64, i64)>)>;

/// The cells of a table by names in the place of indexes.
pub(crate) fn named(table: &CellTable) -> NamedCells {
    let named = |(key, cell): (CellKey, Cell)| {
        let label = table.labels[key.label as usize].clone();
        let injector = |load: &InjectorLoad| {
            (table.injectors[load.injector as usize].clone(), (load.samples, load.threads))
        };
        let loads = cell.injectors.iter().map(injector).collect();
        ((key.second, label, key.success, key.transaction), (Cell { injectors: vec![], ..cell }, loads))
    };
    let cells: NamedCells = table.iter().map(Result::unwrap).map(named).collect();
    assert_eq!(cells.len(), table.len(), "each key once");
    cells
}

/// The rows of a batch.
pub(crate) fn rows(batch: &SampleBatch) -> impl Iterator<Item = Row> {
    (0..batch.len()).map(|at| {
        row(
            (batch.t_ms[at], batch.label.get(at), batch.elapsed[at], batch.response_code.get(at)),
            (
                batch.success[at],
                batch.bytes.get(at),
                batch.sent_bytes.get(at),
                batch.all_threads.get(at),
                batch.latency.get(at),
                batch.idle_time.get(at),
            ),
            (batch.connect.get(at), batch.cpu.get(at), batch.injector.get(at), batch.transaction[at]),
        )
    })
}

/// The columns of a sample from `t_ms` to `response_code`.
pub(crate) type Start<'a> = (i64, Option<&'a str>, i32, Option<&'a str>);
/// From `success` to `idle_time`.
pub(crate) type Middle = (bool, Option<i64>, Option<i64>, Option<i32>, Option<i32>, Option<i32>);
/// From `connect` to `transaction`.
pub(crate) type End<'a> = (Option<i32>, Option<f64>, Option<&'a str>, bool);

/// A row of these columns.
pub(crate) fn row(start: Start<'_>, middle: Middle, end: End<'_>) -> Row {
    format!("{start:?} {middle:?} {end:?}")
}
