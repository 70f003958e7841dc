//! Reads any bytes as CPU exports.

use super::inputs::{RUNTIME, as_file, as_pipe};
use crate::source::{Inputs, SourceOptions};
use perfpipe_model::error::{Error, Result};
use perfpipe_model::series::cpu::TimeSeries;

/// Reads the CPU export among the inputs; `None` if there is none.
fn readings(inputs: Result<Inputs>) -> Option<Result<TimeSeries>> {
    let cpu = inputs.ok()?.cpu?;
    let export = RUNTIME.block_on(cpu.read(&SourceOptions::default()));
    Some(export.map(|export| export.series))
}

fn problem(error: &Error) -> String {
    match error {
        Error::Input { place, problem, .. } => format!("{:?} {:?} {problem}", place.line, place.byte),
        other => other.to_string(),
    }
}

/// Reads any bytes as an export. The result is an error, or plausible readings in the order of their clocks. A pipe
/// gives the same as a file, and readings survive being written and read again.
pub fn cpu(data: &[u8]) {
    let (&step, data) = data.split_first().unwrap_or((&0, data));
    // Some zips are valid only from a pipe, others only as a file.
    if data.starts_with(b"PK") {
        let (file, _held) = as_file(data);
        drop((readings(file), readings(as_pipe(data, usize::from(step) + 1))));
        return;
    }
    let (file, _held) = as_file(data);
    let found = readings(file);
    match (&found, readings(as_pipe(data, usize::from(step) + 1))) {
        (Some(Ok(file)), Some(Ok(pipe))) => assert_eq!(*file, pipe),
        (Some(Err(file)), Some(Err(pipe))) => assert_eq!(problem(file), problem(&pipe)),
        // The damage of a packed pipe may be found while the export is copied out of it.
        (Some(Err(_)), None) | (None, None) => {}
        (file, pipe) => panic!("{file:?} out of a file, {pipe:?} out of a pipe"),
    }
    let Some(Ok(series)) = found else { return };
    let readings_of = series.readings();
    assert!(readings_of.is_sorted_by(|a, b| a.0 < b.0));
    assert!(readings_of.iter().all(|(_, value)| value.is_finite() && *value >= 0.0));
    let lines = readings_of.iter().map(|(clock, value)| format!("{clock},{value}\n"));
    let written = format!("clock,value\n{}", lines.collect::<String>());
    assert_eq!(readings(as_pipe(written.as_bytes(), 7)).unwrap().unwrap(), series);
}
