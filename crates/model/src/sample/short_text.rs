//! Compares short texts.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x64};

/// Returns true if two texts are equal. Those of up to 32 bytes, which most fields are, are compared by two loads of each
/// that may overlap: a call of the system's comparison takes longer than that.
#[inline]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0 => true,
        1 => a.first() == b.first(),
        2..=3 => ends::<2>(a) == ends::<2>(b),
        4..=7 => ends::<4>(a) == ends::<4>(b),
        8..=16 => ends::<8>(a) == ends::<8>(b),
        17..=32 => ends::<16>(a) == ends::<16>(b),
        _ => a == b,
    }
}

/// Returns true if a text begins with another.
#[inline]
pub fn begins(text: &[u8], beginning: &[u8]) -> bool {
    text.get(..beginning.len()).is_some_and(|head| same(head, beginning))
}

/// The first and the last `N` bytes of a text.
#[inline]
fn ends<const N: usize>(text: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    text.first_chunk().zip(text.last_chunk())
}

/// A text of up to 64 bytes, with which 64 bytes are compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short {
    /// The text, then zeros.
    bytes: [u8; Short::LONGEST],
    length: usize,
    /// The bits of the bytes after the text.
    behind: u64,
}

impl Short {
    /// The maximum length in bytes.
    pub const LONGEST: usize = 64;

    /// `None` if the text is longer.
    #[inline(always)]
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let behind = u64::MAX.checked_shl(text.len() as u32).unwrap_or_default();
        Some(Self { bytes, length: text.len(), behind })
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The length in bytes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns true if these bytes begin with the text.
    #[inline(always)]
    pub fn begins<S: Simd>(&self, simd: S, bytes: &[u8; Self::LONGEST]) -> bool {
        let (bytes, own) = (u8x64::from_slice(simd, bytes), u8x64::from_slice(simd, &self.bytes));
        bytes.simd_eq(own).to_bitmask() | self.behind == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_are_the_same_if_each_byte_is(a in prop::collection::vec(0..3_u8, 0..40), at in 0..40_usize, other: u8) {
            let mut b = a.clone();
            prop_assert!(same(&a, &b));
            if let Some(byte) = b.get_mut(at) {
                *byte = other;
            }
            prop_assert_eq!(same(&a, &b), a == b);
            prop_assert_eq!(begins(&a, b.get(..at).unwrap_or(&b)), a.starts_with(b.get(..at).unwrap_or(&b)));
            prop_assert_eq!(same(&a, a.get(..at).unwrap_or(&a)), at >= a.len());
            prop_assert!(!begins(&a, &[&a[..], &[other]].concat()));
        }
    }
}
