//! Reads the series of the server beside its CPU.

use super::CpuExport;
use crate::error::{Error, ErrorKind, Result};
use crate::run::damage::Damage;
use crate::run::info::SourceKind;
use crate::run::note::Note;
use crate::series::server::SeriesFile;
use crate::source::{Inputs, SourceOptions};

/// Reads the files, and returns each with what it describes and with damage beside its readings, ascending by name.
///
/// # Errors
/// If a file can't be read, holds a log, or holds several series of which the name selects none.
pub(crate) async fn read<'a>(
    files: &'a [SeriesFile],
    options: &SourceOptions,
) -> Result<Vec<(&'a SeriesFile, CpuExport, Vec<Damage>)>> {
    let mut found = Vec::new();
    for of in files {
        let options = options.clone().for_series(&of.name);
        let inputs = Inputs::recognise_aside(vec![of.file.clone()], options.clone()).await?;
        let (source, notes, damage) = match inputs {
            Inputs { cpu: Some(cpu), logs, notes, damage } if logs.is_empty() => (cpu, notes, damage),
            _ => return Err(holds_a_log(of)),
        };
        let mut export = source.read(&options).await?;
        export.file.kind = SourceKind::Series;
        export.notes.splice(0..0, notes.into_iter().map(Note::from));
        found.push((of, export, damage));
    }
    found.sort_by(|(one, ..), (other, ..)| one.name.cmp(&other.name));
    Ok(found)
}

fn holds_a_log(of: &SeriesFile) -> Error {
    Error::input(
        ErrorKind::SeriesFile,
        &of.file,
        format!("it holds a log of requests, not readings of the series {}", of.name),
        "Give an export with the columns clock and value, or a log of JMeter's PerfMon plugin.",
    )
}
