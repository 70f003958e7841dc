//! The CPU readings and those of other series.

use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use parquet::errors::ParquetError;

use super::paged::{self, ColumnGroup, ROWS, table_schema};
use crate::error::Result;
use crate::series::cpu::TimeSeries;
use crate::series::server::ServerSeries;
use crate::store::bounds;
use crate::store::parquet::checksum::{CheckedFile, FileSums, SummedFile};
use crate::store::parquet::pages::{ColumnPart, Levels, coded, doubles, whole};
use crate::store::parquet::table_reader::{at, read};
use crate::store::series_rows::SeriesRows;

/// Writes the CPU readings.
pub(in crate::store::parquet) fn write_cpu(out: SummedFile, cpu: &TimeSeries) -> Result<FileSums> {
    let schema = table_schema([("clock", DataType::Int64), ("value", DataType::Float64)]);
    let group = |readings| Ok((None, columns(readings).into()));
    paged::write_table(out, &schema, cpu.readings().chunks(ROWS).map(group))
}

/// The columns of readings: clocks and values.
fn columns(readings: &[(i64, f64)]) -> [Result<ColumnPart, ParquetError>; 2] {
    let clock: Vec<i64> = readings.iter().map(|(clock, _)| *clock).collect();
    let values = readings.iter().map(|(_, value)| *value);
    [whole(&clock), doubles(values, Levels::required(clock.len()))]
}

/// Reads the CPU readings.
pub(in crate::store::parquet) fn read_cpu(file: CheckedFile) -> Result<TimeSeries> {
    let mut readings = Vec::new();
    for piece in read(file, bounds::MAX_READINGS)? {
        let piece = piece?;
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        readings.extend(clocks.iter().copied().zip(values.iter().copied()));
    }
    Ok(TimeSeries::new(readings))
}

/// Writes the readings of other series.
pub(in crate::store::parquet) fn write_series(out: SummedFile, series: &[ServerSeries]) -> Result<FileSums> {
    let schema = table_schema([
        ("name", DataType::Utf8),
        ("unit", DataType::Utf8),
        ("clock", DataType::Int64),
        ("value", DataType::Float64),
    ]);
    let mut each = (0..).zip(series).flat_map(|(number, series)| {
        series.readings.readings().iter().map(move |reading| (number, *reading))
    });
    let groups = std::iter::from_fn(move || {
        let rows: Vec<(u32, (i64, f64))> = each.by_ref().take(ROWS).collect();
        (!rows.is_empty()).then(|| series_group(series, &rows))
    });
    paged::write_table(out, &schema, groups)
}

/// Encodes rows: each with the number of its series.
fn series_group(series: &[ServerSeries], rows: &[(u32, (i64, f64))]) -> Result<ColumnGroup> {
    let (numbers, readings): (Vec<u32>, Vec<(i64, f64)>) = rows.iter().copied().unzip();
    let text = |of: fn(&ServerSeries) -> &str| {
        let texts: Vec<&str> = series.iter().map(of).collect();
        coded(&numbers, &texts, Levels::required(rows.len())).map(Ok)
    };
    let [clock, value] = columns(&readings);
    Ok((None, vec![text(|series| &series.name)?, text(|series| &series.unit)?, clock, value]))
}

/// Reads the readings of other series.
pub(in crate::store::parquet) fn read_series(file: CheckedFile) -> Result<Vec<ServerSeries>> {
    let mut rows = SeriesRows::default();
    for piece in read(file, bounds::MAX_SERIES.0)? {
        let piece = piece?;
        let (names, units) = (piece.texts("name")?, piece.texts("unit")?);
        let (clocks, values) = (piece.numbers::<Int64Type>("clock")?, piece.numbers::<Float64Type>("value")?);
        for row in 0..piece.len() {
            rows.add(at(&names, row), at(&units, row), (at(clocks, row), at(values, row)));
        }
        piece.refuse(rows.fault())?;
    }
    Ok(rows.finish())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::store::parquet::place::{create, open};

    /// So many readings, the values of which repeat themselves after some.
    fn readings(count: i64, different: i64) -> TimeSeries {
        TimeSeries::new((0..count).map(|clock| (clock, (clock % different) as f64 / 7.0)).collect())
    }

    fn row_groups(path: &std::path::Path) -> usize {
        SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap().metadata().num_row_groups()
    }

    #[test]
    fn readings_come_back_from_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [(0, 1), (5, 5), (3000, 7), (3000, 3000), (200_000, 30), (200_000, 200_000)];
        for (file, (count, different)) in cases.into_iter().enumerate() {
            let path = folder.path().join(file.to_string());
            let cpu = readings(count, different);
            let sums = write_cpu(create(&path).unwrap(), &cpu).unwrap();
            assert_eq!(row_groups(&path), (count as usize).div_ceil(ROWS));
            assert_eq!(read_cpu(open(path, sums).unwrap()).unwrap(), cpu);
        }
    }

    #[test]
    fn many_series_share_a_row_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series");
        let one = |number: i64| ServerSeries {
            name: format!("series {number:03}"),
            unit: ["%", "B"][number as usize % 2].to_owned(),
            readings: readings(20 + number, 9),
        };
        let series: Vec<ServerSeries> = (0..200).map(one).collect();
        let sums = write_series(create(&path).unwrap(), &series).unwrap();
        assert_eq!(row_groups(&path), 1);
        assert_eq!(read_series(open(path, sums).unwrap()).unwrap(), series);
    }
}
