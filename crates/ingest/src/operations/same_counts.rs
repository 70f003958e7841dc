//! Compares the counts of a run in two stores, which may number its labels and injectors differently.

use crate::counts::table::CellTable;
use crate::counts::{Cell, CellKey};
use crate::error::Result;

/// A cell with the names of its label and injectors.
#[derive(Debug, PartialEq)]
struct Named<'a> {
    key: (&'a str, bool, bool),
    /// The counts without the injectors.
    cell: Cell,
    /// The name, samples and threads of each injector.
    loads: Vec<(&'a str, u64, i64)>,
}

/// Returns the first second in which the cells of two tables differ by name; `None` if they are equal.
///
/// # Errors
/// If a table can't be read.
pub(crate) fn differ(one: &CellTable, other: &CellTable) -> Result<Option<u32>> {
    let (mut one, mut other) = (by_second(one), by_second(other));
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(None),
            (one, other) if one == other => {}
            (Some((one, _)), Some((other, _))) => return Ok(Some(one.min(other))),
            (Some((second, _)), None) | (None, Some((second, _))) => return Ok(Some(second)),
        }
    }
}

/// Returns the named cells of each second.
fn by_second(table: &CellTable) -> impl Iterator<Item = Result<(u32, Vec<Named<'_>>)>> {
    let mut cells = table.iter().peekable();
    std::iter::from_fn(move || {
        let (first, cell) = match cells.next()? {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let mut named = vec![Named::new(table, first, cell)];
        let is_same =
            |cell: &Result<(CellKey, Cell)>| cell.as_ref().is_ok_and(|(key, _)| key.second == first.second);
        while let Some(Ok((key, cell))) = cells.next_if(is_same) {
            named.push(Named::new(table, key, cell));
        }
        named.sort_by_key(|named| named.key);
        Some(Ok((first.second, named)))
    })
}

impl<'a> Named<'a> {
    fn new(table: &'a CellTable, key: CellKey, mut cell: Cell) -> Self {
        let name = |names: &'a [String], index: u32| names.get(index as usize).map_or("", String::as_str);
        let loads = std::mem::take(&mut cell.injectors);
        let load = |load: crate::counts::InjectorLoad| {
            (name(&table.injectors, load.injector), load.samples, load.threads)
        };
        let mut loads: Vec<_> = loads.into_iter().map(load).collect();
        loads.sort_unstable();
        Self { key: (name(&table.labels, key.label), key.success, key.transaction), cell, loads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::InjectorLoad;

    fn table(labels: [&str; 2], injectors: [&str; 3], swapped: bool, threads: i64) -> CellTable {
        let at = |index: u32| if swapped { 1 - index } else { index };
        let cell = |label: u32| {
            let load = InjectorLoad { injector: at(label) + 1, samples: 2, threads };
            let key = CellKey { second: 3, label: at(label), success: true, transaction: false };
            (key, Cell { elapsed: vec![(label as i32, 1)], injectors: vec![load], ..Cell::default() })
        };
        CellTable::new(
            labels.map(String::from).to_vec(),
            injectors.map(String::from).to_vec(),
            [cell(0), cell(1)],
        )
    }

    #[test]
    fn order_of_names_and_names_without_a_cell_make_no_difference() {
        let one = table(["a", "b"], ["", "x", "y"], false, 5);
        assert_eq!(differ(&one, &table(["b", "a"], ["unused", "y", "x"], true, 5)).unwrap(), None);
        assert_eq!(
            differ(&one, &table(["b", "a"], ["", "x", "y"], true, 5)).unwrap(),
            Some(3),
            "other injectors"
        );
        assert_eq!(
            differ(&one, &table(["a", "c"], ["", "x", "y"], false, 5)).unwrap(),
            Some(3),
            "another label"
        );
        assert_eq!(
            differ(&one, &table(["a", "b"], ["", "x", "y"], false, 6)).unwrap(),
            Some(3),
            "another load"
        );
        assert_eq!(differ(&one, &CellTable::default()).unwrap(), Some(3));
    }
}
