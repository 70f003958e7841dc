//! Reads the series of the server beside its CPU.

use super::{CpuExport, CpuFacts};
use crate::source::{Inputs, SourceOptions};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::run::damage::Damage;
use perfpipe_model::run::info::{SourceFile, SourceKind};
use perfpipe_model::run::note::Note;
use perfpipe_model::series::server::{self, SeriesFile, ServerSeries};

/// What was read of a series of the server: a file, or what a monitoring system answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeriesExport {
    /// The series, perhaps without readings.
    pub series: ServerSeries,
    /// The file's name, size and checksum.
    pub file: SourceFile,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
    /// All damage, if the file was salvaged.
    pub damage: Vec<Damage>,
    /// The form in which the file is written.
    pub(crate) facts: CpuFacts,
}

/// Returns the files of some series, each once: several series may come from one answer.
pub(crate) fn files(exports: &[SeriesExport]) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> = Vec::new();
    for SeriesExport { file, .. } in exports {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    files
}

/// Reads files with series of the server, ascending by the names of the series.
///
/// # Errors
/// If a name can't be used, a file can't be read, contains a log, or contains several series of which the name selects none.
pub async fn read(files: &[SeriesFile], options: &SourceOptions) -> Result<Vec<SeriesExport>> {
    server::check(files.iter().map(|of| (of.name.as_str(), of.unit.as_str())))?;
    let mut found = Vec::with_capacity(files.len());
    for of in files {
        let options = options.clone().for_series(of);
        let inputs = Inputs::recognise_aside(vec![of.file.clone()], options.clone()).await?;
        let (source, mut notes, mut damage): (_, Vec<Note>, _) = match inputs {
            Inputs { cpu: Some(cpu), logs, notes, damage } if logs.is_empty() => {
                (cpu, notes.into_iter().map(Note::from).collect(), damage)
            }
            _ => return Err(holds_a_log(of)),
        };
        let CpuExport { series, file, notes: own, damage: cut, facts, .. } = source.read(&options).await?;
        notes.extend(own);
        damage.extend(cut);
        let file = SourceFile { kind: SourceKind::Series, ..file };
        let series = ServerSeries::new(&of.name, &of.unit, series);
        found.push(SeriesExport { series, file, facts, notes, damage });
    }
    found.sort_by(|one, other| one.series.name.cmp(&other.series.name));
    Ok(found)
}

fn holds_a_log(of: &SeriesFile) -> Error {
    Error::input(
        ErrorKind::SeriesFile,
        &of.file,
        format!("it is a log of requests, not readings of the series {}", of.name),
        "Give an export with the columns clock and value, or a log of JMeter's PerfMon plugin.",
    )
}
