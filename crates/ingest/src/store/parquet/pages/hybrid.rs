//! Small numbers as runs of equal ones and packed ones in between (RLE).

use super::pack::{GROUP, pack};
use crate::sample::varint::unsigned;

/// The number of values that a run must have beyond those that fill up what stands before it.
const WORTH: usize = 16;

/// Packed values come in multiples of this.
const FILL: usize = 8;

/// Appends values of up to `width` bits.
pub(super) fn encode_hybrid<T: Copy + PartialEq + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    // The values from `packed` to `at` are not written yet.
    let (mut packed, mut at) = (0_usize, 0_usize);
    while let Some(value) = values.get(at) {
        let run = run_length(values.get(at..).unwrap_or_default());
        let missing = packed.wrapping_sub(at) % FILL;
        if run >= missing + WORTH {
            pack_all(values.get(packed..at + missing).unwrap_or_default(), width, out);
            repeat_hybrid((*value).into(), run - missing, width, out);
            packed = at + run;
        }
        at += run;
    }
    pack_all(values.get(packed..).unwrap_or_default(), width, out);
}

/// Appends a value `count` times.
pub(super) fn repeat_hybrid(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    if count > 0 {
        unsigned(out, (count as u64) << 1);
        out.extend(value.to_le_bytes().iter().take(width.div_ceil(8) as usize));
    }
}

/// Returns how many values at the beginning equal the first.
pub(super) fn run_length<T: Copy + PartialEq>(values: &[T]) -> usize {
    let first = match values {
        [] => return 0,
        [first, second, ..] if first != second => return 1,
        [first, ..] => first,
    };
    let (chunks, _) = values.as_chunks::<16>();
    let is_equal = |chunk: &&[T; 16]| chunk.iter().fold(true, |equal, value| equal & (value == first));
    let run = 16 * chunks.iter().take_while(is_equal).count();
    run + values.iter().skip(run).take_while(|value| *value == first).count()
}

fn pack_all<T: Copy + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let fills = values.len().div_ceil(FILL);
    unsigned(out, ((fills as u64) << 1) | 1);
    let end = out.len() + fills * width as usize;
    for values in values.chunks(GROUP) {
        let mut group = [0; GROUP];
        group.iter_mut().zip(values).for_each(|(place, value)| *place = (*value).into());
        pack(&group, width, out);
    }
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn run_ends_at_the_first_other_value(values in vec(0..2u8, 0..3), equal in 0usize..60) {
            let values = [vec![1; equal], values].concat();
            let plain = values.iter().take_while(|value| **value == values[0]).count();
            prop_assert_eq!(run_length(&values), plain);
        }
    }
}
