//! Packs numbers into few bits, the lowest first, as Parquet's encodings have them.

/// The number of numbers that are packed together: at any width they fill whole bytes.
pub(super) const GROUP: usize = 32;

/// Appends the lowest `width` bits of each number. Higher bits must be zero.
pub(super) fn pack(values: &[u32; GROUP], width: u32, out: &mut Vec<u8>) {
    let mut bits = Bits::new(out);
    if width > 16 {
        values.iter().for_each(|value| bits.push(u64::from(*value), width));
    } else if width > 0 {
        for four in values.as_chunks::<4>().0 {
            let [a, b, c, d] = four.map(u64::from);
            bits.push(a | (b << width) | ((c | (d << width)) << (2 * width)), 4 * width);
        }
    }
    bits.end();
}

/// Appends the lowest `width` bits of each number, like [`pack`].
pub(super) fn pack_wide(values: &[u64; GROUP], width: u32, out: &mut Vec<u8>) {
    let mut bits = Bits::new(out);
    if width > 0 {
        values.iter().for_each(|value| bits.push(*value, width));
    }
    bits.end();
}

/// Bits that are gathered until they fill eight bytes.
struct Bits<'a> {
    out: &'a mut Vec<u8>,
    bits: u64,
    filled: u32,
}

impl<'a> Bits<'a> {
    fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, bits: 0, filled: 0 }
    }

    /// Appends a number of 1 to 64 bits.
    #[inline(always)]
    fn push(&mut self, value: u64, width: u32) {
        self.bits |= value << self.filled;
        let filled = self.filled.wrapping_add(width);
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.out.extend_from_slice(&self.bits.to_le_bytes());
        // What did not fit begins the next eight bytes; nothing, if all of it did.
        self.bits = value.checked_shr(64 - self.filled).unwrap_or_default();
        self.filled = filled.wrapping_sub(64);
    }

    fn end(self) {
        let bytes = self.bits.to_le_bytes();
        self.out.extend(bytes.iter().take(self.filled.div_ceil(8) as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sets one bit after another.
    fn plain(values: &[u64], width: u32) -> Vec<u8> {
        let mut bytes = vec![0; values.len() * width as usize / 8];
        for (at, value) in values.iter().enumerate() {
            for bit in (0..width as usize).filter(|bit| (value >> bit) & 1 == 1) {
                let place = at * width as usize + bit;
                bytes[place / 8] |= 1 << (place % 8);
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn numbers_are_packed_bit_by_bit(values: [u64; GROUP], width in 0u32..=64) {
            let of = |width: u32| values.map(|value| value & u64::MAX.checked_shr(64 - width).unwrap_or(0));
            let mut wide = vec![7];
            pack_wide(&of(width), width, &mut wide);
            prop_assert_eq!(&wide[1..], plain(&of(width), width));
            let (mut narrow, width) = (vec![7], width / 2);
            pack(&of(width).map(|value| value as u32), width, &mut narrow);
            prop_assert_eq!(&narrow[1..], plain(&of(width), width));
        }
    }
}
