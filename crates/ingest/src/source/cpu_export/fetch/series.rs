//! Series of the server beside its CPU that are asked for.

use futures_util::future::BoxFuture;

use super::ReadingsSource;
use crate::error::Result;
use crate::run::info::{SourceFile, SourceKind};
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;
use crate::source::cpu_export::series::SeriesExport;
use crate::source::{CpuExport, SourceOptions};

/// A series of the server beside its CPU, and where its readings are asked for.
///
/// ```
/// use perfpipe_ingest::source::SeriesSource;
///
/// let source = "prometheus+http://monitor:9090?query=node_memory_Active_bytes".parse()?;
/// let memory = SeriesSource::new("memory", "bytes", source);
/// assert_eq!(memory.source.host(), "monitor:9090");
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeriesSource {
    /// The name of the series. If several hosts are kept apart, it stands before their names.
    pub name: String,
    /// The unit of the readings, such as `bytes`.
    pub unit: String,
    /// Where they are asked for.
    pub source: ReadingsSource,
}

impl SeriesSource {
    /// Describes a series.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, source: ReadingsSource) -> Self {
        Self { name: name.into(), unit: unit.into(), source }
    }

    /// Asks for the readings of the epoch seconds from `first` to `last`, both inclusive. They are several series if
    /// several hosts are kept apart.
    ///
    /// # Errors
    /// As those of [`ReadingsSource::read`].
    pub fn read<'a>(
        &'a self,
        window: (i64, i64),
        options: &'a SourceOptions,
    ) -> BoxFuture<'a, Result<Vec<SeriesExport>>> {
        Box::pin(async move {
            let options = options.clone().for_readings(&self.name, None);
            let mut export = self.source.read(window, &options).await?;
            let parts = std::mem::take(&mut export.parts);
            if parts.is_empty() {
                return Ok(vec![of_series(&self.name, &self.unit, export)]);
            }
            Ok(apart((&self.name, &self.unit), parts, &export))
        })
    }
}

fn of_series(name: &str, unit: &str, export: CpuExport) -> SeriesExport {
    let CpuExport { series, file, notes, damage, facts, .. } = export;
    let file = SourceFile { kind: SourceKind::Series, ..file };
    let series = ServerSeries::new(name, unit, series);
    SeriesExport { series, file, facts, notes, damage: damage.into_iter().collect() }
}

/// Returns a series for each host, named after it. What is to be told is told once.
pub(crate) fn apart(
    (name, unit): (&str, &str),
    parts: Vec<(String, TimeSeries)>,
    export: &CpuExport,
) -> Vec<SeriesExport> {
    let mut notes = export.notes.clone();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    let of = |(host, series): (String, TimeSeries)| {
        let name = format!("{name}_{}", host.chars().map(plain).collect::<String>());
        let notes = std::mem::take(&mut notes);
        of_series(&name, unit, CpuExport { series, notes, parts: Vec::new(), ..export.clone() })
    };
    parts.into_iter().map(of).collect()
}
