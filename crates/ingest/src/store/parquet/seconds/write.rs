//! Writes the counts.

use super::columns::{CellContext, columns, schema};
use super::groups::write_groups;
use crate::counts::packed::CellResult;
use crate::counts::{CellKey, PackedCell};
use crate::error::Result;
use crate::store::parquet::checksum::{FileSums, SummedFile};

/// The maximum number of cells in a row group.
const CELLS: usize = 6 << 10;

/// The approximate maximum number of counts and injectors in a row group.
const VALUES: usize = 192 << 10;

/// Writes the exact counts. The cells must ascend by key.
pub(in crate::store::parquet) fn write_seconds(
    out: SummedFile,
    run: CellContext<'_>,
    cells: &mut (dyn Iterator<Item = CellResult> + Send),
) -> Result<FileSums> {
    let groups = std::iter::from_fn(move || match next_group(cells) {
        Ok(group) if group.is_empty() => None,
        group => Some(group),
    });
    write_groups(out, &schema(run.tells_unit), groups, &|group: Vec<_>, schema| columns(&group, run, schema))
}

/// Takes the cells of the next row group.
fn next_group(cells: &mut (dyn Iterator<Item = CellResult> + Send)) -> Result<Vec<(CellKey, PackedCell)>> {
    let (mut group, mut values) = (Vec::new(), 0);
    while group.len() < CELLS && values < VALUES {
        let Some(cell) = cells.next().transpose()? else { break };
        // Most values take a byte.
        values += cell.1.counts().len() + cell.1.sums().injectors.len();
        group.push(cell);
    }
    Ok(group)
}
