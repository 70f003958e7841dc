//! The per-second table of a run as a polars `DataFrame`.
//!
//! A run is read back from a store; here it is made by hand, of two seconds and their counts.
#![allow(clippy::print_stdout, reason = "an example shows what it made")]

use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::{Cell, CellKey, CellTable, CpuSeries, RunInfo, RunKey, StoredRun};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = stored_run();
    let view = View { percentiles: vec![50.0, 99.9], ..View::default() };
    let frame = Timeline::new(&run, &view)?.frame()?;
    println!("{frame}");
    Ok(())
}

fn stored_run() -> StoredRun {
    let key = |second, success| CellKey { second, label: 0, success, transaction: false };
    let cell = |elapsed: Vec<(i32, u64)>| {
        let before_boundary = elapsed.iter().map(|(_, samples)| samples).sum();
        Cell { elapsed, before_boundary, ..Cell::default() }
    };
    let cells = [
        (key(0, true), cell(vec![(12, 700), (13, 650), (40, 3)])),
        (key(1, true), cell(vec![(12, 810), (15, 620)])),
        (key(1, false), cell(vec![(1, 2)])),
    ];
    StoredRun {
        info: RunInfo::new(RunKey::new("perfectnio", "2048"), 1_700_000_000_000, 1_700_000_001_999),
        cells: CellTable::new(vec!["Get".into()], vec![], cells),
        cpu: CpuSeries::new(vec![(1_700_000_000, 120.5), (1_700_000_001, 131.0)]),
        errors: vec![],
        labels: vec![],
    }
}
