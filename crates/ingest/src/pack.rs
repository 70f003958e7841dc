//! A cell as few bytes: what a second that is past takes up while the log is still being read.

use crate::counts::{Cell, InjectorLoad, Spread};

/// Packs a cell: numbers as LEB128, the ascending elapsed times as differences.
pub(crate) fn pack(cell: &Cell) -> Box<[u8]> {
    let mut out = Vec::with_capacity(32 + cell.elapsed.len() * 3);
    unsigned(&mut out, cell.elapsed.len() as u64);
    let mut previous = 0;
    for (value, count) in &cell.elapsed {
        signed(&mut out, i64::from(*value) - previous);
        unsigned(&mut out, *count);
        previous = i64::from(*value);
    }
    let Spread { n, sum, min, max } = cell.latency;
    unsigned(&mut out, n);
    for number in [sum, i64::from(min), i64::from(max), cell.connect, cell.bytes, cell.sent_bytes] {
        signed(&mut out, number);
    }
    unsigned(&mut out, cell.before_boundary);
    unsigned(&mut out, cell.injectors.len() as u64);
    for load in &cell.injectors {
        unsigned(&mut out, u64::from(load.injector));
        unsigned(&mut out, load.samples);
        signed(&mut out, load.threads);
    }
    out.into()
}

/// Opens a packed cell; `None` if the bytes are not one.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Cell> {
    let from = &mut bytes;
    let mut cell = Cell::default();
    let mut previous = 0i64;
    for _ in 0..read_unsigned(from)? {
        previous = previous.checked_add(read_signed(from)?)?;
        cell.elapsed.push((i32::try_from(previous).ok()?, read_unsigned(from)?));
    }
    cell.latency.n = read_unsigned(from)?;
    cell.latency.sum = read_signed(from)?;
    cell.latency.min = i32::try_from(read_signed(from)?).ok()?;
    cell.latency.max = i32::try_from(read_signed(from)?).ok()?;
    cell.connect = read_signed(from)?;
    cell.bytes = read_signed(from)?;
    cell.sent_bytes = read_signed(from)?;
    cell.before_boundary = read_unsigned(from)?;
    for _ in 0..read_unsigned(from)? {
        cell.injectors.push(InjectorLoad {
            injector: u32::try_from(read_unsigned(from)?).ok()?,
            samples: read_unsigned(from)?,
            threads: read_signed(from)?,
        });
    }
    from.is_empty().then_some(cell)
}

fn unsigned(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Zigzag: small numbers of either sign stay short.
fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

fn read_unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = read_unsigned(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_cell() -> impl Strategy<Value = Cell> {
        let loads = proptest::collection::btree_map(any::<u32>(), (any::<u64>(), any::<i64>()), 0..4);
        let elapsed = proptest::collection::btree_map(any::<i32>(), any::<u64>(), 0..20);
        (elapsed, any::<[i64; 4]>(), any::<[i32; 2]>(), any::<[u64; 2]>(), loads).prop_map(
            |(elapsed, [sum, connect, bytes, sent_bytes], [min, max], [n, before_boundary], loads)| Cell {
                elapsed: elapsed.into_iter().collect(),
                latency: Spread { n, sum, min, max },
                connect,
                bytes,
                sent_bytes,
                before_boundary,
                injectors: loads
                    .into_iter()
                    .map(|(injector, (samples, threads))| InjectorLoad { injector, samples, threads })
                    .collect(),
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(cell in any_cell()) {
            prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
        }

        #[test]
        fn other_bytes_are_told_from_a_cell(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            // No panic, and whatever is accepted packs to something that opens again.
            if let Some(cell) = unpack(&bytes) {
                prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
            }
        }
    }
}
