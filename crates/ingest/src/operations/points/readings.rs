//! Series of the server beside points: what was read while each tool ran.

use crate::error::Result;
use crate::formats::summaries::point::{Point, Readings};
use crate::series::server::SeriesFile;
use crate::source::SourceOptions;
use crate::source::cpu_export::series::{self, SeriesExport};

/// Reads series of the server, and adds to each point what was read while its tool ran. Returns the number of points that
/// have readings: the others' outputs do not tell when the tool began, or there were no readings then.
///
/// # Errors
/// If a file can't be read, or the names of the series can't be used.
pub async fn add_readings(points: &mut [Point], files: &[SeriesFile]) -> Result<usize> {
    for SeriesExport { series, .. } in series::read(files, &SourceOptions::default()).await? {
        for point in &mut *points {
            let Some(seconds) = point.figures.seconds() else { continue };
            let readings = series.readings.readings().iter();
            let during = readings.filter(|(clock, _)| seconds.contains(clock)).map(|(_, value)| *value);
            point.figures.readings.extend(Readings::of(
                &series.name,
                &series.unit,
                &during.collect::<Vec<_>>(),
            ));
        }
    }
    Ok(points.iter().filter(|point| !point.figures.readings.is_empty()).count())
}
