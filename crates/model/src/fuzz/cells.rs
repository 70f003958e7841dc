//! Packed counts: any bytes give a cell or nothing, any cell survives packing, and the order of merging does not
//! matter.

use super::Taker;
use crate::counts::pack::{pack, unpack};
use crate::counts::{Cell, InjectorLoad, Spread};

/// Makes a cell whose lists are in the required order, with plausible counts.
pub fn cell(taker: &mut Taker<'_>, injectors: u32) -> Cell {
    let count = |taker: &mut Taker<'_>| u64::from(u32::from_le_bytes(taker.number()) >> 1).max(1);
    let mut elapsed = taker.list(|taker| (taker.i32(), count(taker)));
    elapsed.sort_unstable();
    elapsed.dedup_by_key(|(elapsed, _)| *elapsed);
    let mut loads = taker.list(|taker| InjectorLoad {
        injector: u32::from(taker.byte()) % injectors,
        samples: count(taker),
        threads: taker.i64(),
    });
    loads.sort_by_key(|load| load.injector);
    loads.dedup_by_key(|load| load.injector);
    let latency =
        taker.maybe(|taker| Spread { n: count(taker), sum: taker.i64(), min: taker.i32(), max: taker.i32() });
    Cell {
        elapsed,
        latency: latency.unwrap_or_default(),
        connect: taker.i64(),
        bytes: taker.i64(),
        sent_bytes: taker.i64(),
        before_boundary: count(taker),
        injectors: loads,
    }
}

fn merged(a: &Cell, b: &Cell) -> Cell {
    let mut all = a.clone();
    all.merge(b);
    all
}

/// Reduces the sums of a cell so that none reaches its limit, where the order of merging would matter.
fn small(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.latency.sum >>= 8;
    cell.connect >>= 8;
    cell.bytes >>= 8;
    cell.sent_bytes >>= 8;
    cell.injectors.iter_mut().for_each(|load| load.threads >>= 8);
    cell
}

/// Reads the bytes as a packed cell, and as values of cells.
pub fn cells(data: &[u8]) {
    if let Some(cell) = unpack(data) {
        assert_eq!(unpack(&pack(&cell)).as_ref(), Some(&cell));
        assert!(cell.elapsed.len() <= data.len() && cell.injectors.len() <= data.len());
        merged(&cell, &cell);
    }
    let mut taker = Taker::new(data);
    let [a, b, c] = std::array::from_fn(|_| cell(&mut taker, 256));
    assert_eq!(unpack(&pack(&a)).as_ref(), Some(&a));
    merged(&a, &b);
    let [a, b, c] = [a, b, c].map(|cell| small(&cell));
    assert_eq!(merged(&a, &b), merged(&b, &a));
    assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
}
