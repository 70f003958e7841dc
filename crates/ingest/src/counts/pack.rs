//! The packed form of a cell, in which past seconds are kept during an ingest and after a run is read back.

use super::{Cell, InjectorLoad, Spread};
use crate::sample::varint::{read_unsigned, unsigned};

/// A packed cell without its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The number of samples in the counts.
    pub(crate) samples: u64,
    pub(crate) counts: &'a [u8],
    pub(crate) sums: &'a [u8],
}

/// Takes the counts of a cell, which come in ascending order of the values.
pub trait TakeCounts {
    /// Takes four values, each with its number of samples, which is less than 128.
    fn four(&mut self, values: [i32; 4], samples: [u64; 4]);

    /// Takes a value and its number of samples.
    fn one(&mut self, value: i32, samples: u64);
}

/// Appends the counts as they are in [`Cell::elapsed`].
impl TakeCounts for Vec<(i32, u64)> {
    #[inline]
    fn four(&mut self, values: [i32; 4], samples: [u64; 4]) {
        let ([a, b, c, d], [m, n, o, p]) = (values, samples);
        self.extend_from_slice(&[(a, m), (b, n), (c, o), (d, p)]);
    }

    #[inline]
    fn one(&mut self, value: i32, samples: u64) {
        self.push((value, samples));
    }
}

/// Packs a cell: first its counts, then its sums. All numbers are LEB128.
pub(crate) fn pack(cell: &Cell) -> Box<[u8]> {
    let mut out = Vec::with_capacity(32 + cell.elapsed.len() * 3);
    pack_counts(&mut out, &cell.elapsed);
    pack_sums(&mut out, cell);
    out.into()
}

/// Packs exact counts, ascending by value: their number, then for each the difference to the previous value and the
/// count.
pub(crate) fn pack_counts(out: &mut Vec<u8>, counts: &[(i32, u64)]) {
    unsigned(out, counts.len() as u64);
    let mut previous = 0;
    for (value, count) in counts {
        signed(out, i64::from(*value) - previous);
        unsigned(out, *count);
        previous = i64::from(*value);
    }
}

/// Packs all of a cell except its counts of elapsed times.
pub(crate) fn pack_sums(out: &mut Vec<u8>, cell: &Cell) {
    let Spread { n, sum, min, max } = cell.latency;
    unsigned(out, n);
    for number in [sum, i64::from(min), i64::from(max), cell.connect, cell.bytes, cell.sent_bytes] {
        signed(out, number);
    }
    unsigned(out, cell.before_boundary);
    unsigned(out, cell.injectors.len() as u64);
    for load in &cell.injectors {
        unsigned(out, u64::from(load.injector));
        unsigned(out, load.samples);
        signed(out, load.threads);
    }
}

/// Unpacks a cell. `None` if the bytes are not a packed cell.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Cell> {
    // Each count takes at least two bytes.
    let mut elapsed = Vec::with_capacity(bytes.len() / 2);
    read_counts(&mut bytes, &mut elapsed)?;
    let cell = Cell { elapsed, ..read_sums(&mut bytes)? };
    bytes.is_empty().then_some(cell)
}

/// Unpacks a cell that was packed in two parts. `None` if the bytes are not such parts.
pub(crate) fn unpack_parts(mut counts: &[u8], sums: &[u8]) -> Option<Cell> {
    // Each count takes at least two bytes.
    let mut elapsed = Vec::with_capacity(counts.len() / 2);
    read_counts(&mut counts, &mut elapsed)?;
    let cell = Cell { elapsed, ..unpack_sums(sums)? };
    counts.is_empty().then_some(cell)
}

/// Passes packed counts on, ascending. `None` if the bytes are not packed counts.
#[inline]
pub(crate) fn each_count(mut counts: &[u8], take: &mut impl TakeCounts) -> Option<()> {
    read_counts(&mut counts, take)?;
    counts.is_empty().then_some(())
}

/// Splits a packed cell into its counts and its sums. `None` if it does not begin with counts.
pub(crate) fn split(bytes: &[u8]) -> Option<Parts<'_>> {
    let mut sums = bytes;
    let samples = check_counts(&mut sums)?;
    let counts = bytes.get(..bytes.len() - sums.len())?;
    Some(Parts { samples, counts, sums })
}

/// Unpacks what [`pack_sums`] packed: a cell without counts. `None` if the bytes are not packed sums.
pub(crate) fn unpack_sums(mut bytes: &[u8]) -> Option<Cell> {
    let cell = read_sums(&mut bytes)?;
    bytes.is_empty().then_some(cell)
}

/// A packed cell that was checked.
pub(crate) struct Checked<'a> {
    /// The packed counts.
    pub(crate) counts: &'a [u8],
    /// The number of samples in the counts.
    pub(crate) samples: u64,
    /// The cell without its counts.
    pub(crate) sums: Cell,
}

/// Checks that bytes are a packed cell. `None` if not.
pub(crate) fn check(bytes: &[u8]) -> Option<Checked<'_>> {
    let Parts { samples, counts, sums } = split(bytes)?;
    Some(Checked { counts, samples, sums: unpack_sums(sums)? })
}

/// Checks that bytes begin with packed counts, skips these and returns the number of samples. `None` if they do not.
pub(crate) fn check_counts(from: &mut &[u8]) -> Option<u64> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(0) };
    let mut value = i64::from(i32::try_from(read_signed(from)?).ok()?);
    let mut samples = read_unsigned(from)?;
    while others > 0 {
        let small = Small::read(from, others / 4);
        let (mut rise, mut counted) = (small.rise, small.samples);
        others -= small.fours * 4;
        if others > 0 {
            let (difference, count) = read_pair(from)?;
            if difference <= 0 {
                return None;
            }
            (rise, counted) = (rise.checked_add(difference)?, counted.saturating_add(count));
            others -= 1;
        }
        (value, samples) = (value.checked_add(rise)?, samples.saturating_add(counted));
    }
    // The values ascend, so that none is too large unless the last one is.
    i32::try_from(value).ok().map(|_| samples)
}

/// What some values and counts whose differences and counts take one byte each add up to.
#[derive(Default)]
struct Small {
    /// The number of times that four of them were read.
    fours: u64,
    /// The sum of the differences.
    rise: i64,
    samples: u64,
}

impl Small {
    /// Reads such values from the front of the bytes, four at a time, up to `most` times.
    fn read(from: &mut &[u8], most: u64) -> Self {
        /// The number of times after which no lane has overflown, nor has the sum of all four.
        const TIMES: usize = 128;
        let mut all = Self::default();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let fours = from.as_chunks().0;
        for fours in fours.get(..most.min(fours.len())).unwrap_or_default().chunks(TIMES) {
            let (mut differences, mut counts, mut read) = (0, 0, 0);
            for lanes in fours.iter().map(|bytes| u64::from_le_bytes(*bytes)) {
                if !are_small(lanes) {
                    break;
                }
                differences += (lanes & LOW) >> 1;
                counts += lanes >> 8 & LOW;
                read += 1;
            }
            all.fours += read as u64;
            all.rise += (differences.wrapping_mul(ONES) >> 48) as i64;
            all.samples += counts.wrapping_mul(ONES) >> 48;
            if read < fours.len() {
                break;
            }
        }
        *from = from.get(all.fours as usize * 8..).unwrap_or_default();
        all
    }
}

/// Reads packed counts from the front of the bytes, and passes them on. `None` if they are invalid or not ascending.
#[inline]
fn read_counts(from: &mut &[u8], take: &mut impl TakeCounts) -> Option<()> {
    let Some(mut others) = read_unsigned(from)?.checked_sub(1) else { return Some(()) };
    let mut value = i32::try_from(read_signed(from)?).ok()?;
    take.one(value, read_unsigned(from)?);
    while others > 0 {
        if others >= 4
            && let Some((next, rest)) = from.split_first_chunk()
            && let Some((values, samples)) = four_small(value, *next)
        {
            take.four(values, samples);
            (value, *from, others) = (values[3], rest, others - 4);
            continue;
        }
        let (difference, samples) = read_pair(from)?;
        if difference <= 0 {
            return None;
        }
        value = i32::try_from(i64::from(value).checked_add(difference)?).ok()?;
        take.one(value, samples);
        others -= 1;
    }
    Some(())
}

/// One in each of four lanes of 16 bits.
const ONES: u64 = 0x0001_0001_0001_0001;

/// The lower byte of each lane.
const LOW: u64 = 0xff * ONES;

/// Returns true if four differences and counts take one byte each, and the differences are greater than zero. Each lane
/// has the difference, which zigzag doubles, below the count.
#[inline]
fn are_small(lanes: u64) -> bool {
    let small = lanes & (0x8080 * ONES) == 0;
    // Odd numbers are negative ones. What is added makes a lane's eighth bit of every other number than zero.
    small && lanes & ONES == 0 && ((lanes & LOW) + 0x7f * ONES) & (0x80 * ONES) == 0x80 * ONES
}

/// The next four values and counts after `value`, if their differences and counts take one byte each, as nearly all do.
/// `None` if not, or if they are invalid.
#[inline]
fn four_small(value: i32, bytes: [u8; 8]) -> Option<([i32; 4], [u64; 4])> {
    let lanes = u64::from_le_bytes(bytes);
    if !are_small(lanes) {
        return None;
    }
    // Each lane of the product is the sum of the lanes up to it, at most 4 * 63.
    let sums = ((lanes & LOW) >> 1).wrapping_mul(ONES);
    let counts = lanes >> 8;
    value.checked_add((sums >> 48) as i32)?;
    let at = |lane: u32| value.wrapping_add((sums >> (16 * lane) & 0xffff) as i32);
    let count = |lane: u32| counts >> (16 * lane) & 0xff;
    Some(([at(0), at(1), at(2), at(3)], [count(0), count(1), count(2), count(3)]))
}

/// Reads a difference and a count.
#[inline]
fn read_pair(bytes: &mut &[u8]) -> Option<(i64, u64)> {
    // The fast path: nearly all pairs are two small numbers.
    if let [difference @ 0..0x80, count @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some((unfolded(u64::from(*difference)), u64::from(*count)));
    }
    Some((read_signed(bytes)?, read_unsigned(bytes)?))
}

/// Reads what [`pack_sums`] wrote from the front of the bytes: a cell without its counts.
fn read_sums(from: &mut &[u8]) -> Option<Cell> {
    let mut cell = Cell::default();
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
    Some(cell)
}

/// Appends a number with zigzag encoding, so that small numbers of either sign stay short.
fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    read_unsigned(bytes).map(unfolded)
}

/// Reverses the zigzag encoding of [`signed`].
fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
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

    /// Counts whose differences are small, but for some.
    fn small_counts() -> impl Strategy<Value = Vec<(i32, u64)>> {
        let difference = prop_oneof![8 => 1..64i64, 1 => 1..200i64, 1 => Just(1i64 << 31)];
        let count = prop_oneof![8 => 1..128u64, 1 => any::<u64>()];
        let first = prop_oneof![-3..3i64, Just(i64::from(i32::MAX) - 200), Just(i64::from(i32::MIN))];
        (first, proptest::collection::vec((difference, count), 0..600)).prop_map(|(first, steps)| {
            let mut value = first;
            let values = steps.into_iter().map(|(difference, count)| {
                value += difference;
                Some((i32::try_from(value).ok()?, count))
            });
            values.map_while(|pair| pair).collect()
        })
    }

    /// Follows the definition of the packed form.
    fn one_by_one(from: &mut &[u8]) -> Option<Vec<(i32, u64)>> {
        let (mut counts, mut value) = (Vec::new(), 0i64);
        for at in 0..read_unsigned(from)? {
            let (difference, count) = (read_signed(from)?, read_unsigned(from)?);
            if at > 0 && difference <= 0 {
                return None;
            }
            value = value.checked_add(difference)?;
            counts.push((i32::try_from(value).ok()?, count));
        }
        Some(counts)
    }

    proptest! {
        #[test]
        fn packed_counts_come_back(cell in any_cell()) {
            prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
        }

        #[test]
        fn counts_are_those_that_are_read_one_by_one(
            counts in small_counts(), more in any::<[u8; 3]>(), at in 0..1300usize, cut in 0..1300usize,
        ) {
            let mut bytes = Vec::new();
            pack_counts(&mut bytes, &counts);
            let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
                let mut bytes = bytes.clone();
                change(&mut bytes);
                bytes
            };
            let changed = damaged(&|bytes| if let Some(byte) = bytes.get_mut(at) { *byte ^= more[0] });
            let longer = damaged(&|bytes| bytes.extend(more));
            for mut bytes in [&bytes[..], &changed, &longer, &bytes[..cut.min(bytes.len())]] {
                let (mut slow, mut checked, mut found) = (bytes, bytes, Vec::new());
                let samples = check_counts(&mut checked);
                let read = read_counts(&mut bytes, &mut found);
                match (read, one_by_one(&mut slow)) {
                    (Some(()), Some(expected)) => {
                        let counted = expected.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
                        prop_assert_eq!((samples, checked), (Some(counted), slow));
                        prop_assert_eq!((found, bytes), (expected, slow));
                    }
                    (read, expected) => prop_assert_eq!((read, expected, samples), (None, None, None)),
                }
            }
        }

        #[test]
        fn other_bytes_are_told_from_a_cell(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            // There is no panic, and whatever is accepted survives packing and unpacking.
            if let Some(cell) = unpack(&bytes) {
                prop_assert_eq!(unpack(&pack(&cell)), Some(cell));
            }
        }
    }
}
