//! Operations on masks that some processors do in one instruction.

use fearless_simd::Simd;

/// The parity of the mask's bits up to and including each bit.
#[inline(always)]
pub(super) fn up_to_each<S: Simd>(simd: S, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512() {
        return x86_64::up_to_each(avx512, mask);
    }
    _ = simd;
    up_to_each_by_steps(mask)
}

#[inline(always)]
fn up_to_each_by_steps(mut mask: u64) -> u64 {
    let mut distance = 1;
    while distance < u64::BITS {
        mask ^= mask << distance;
        distance *= 2;
    }
    mask
}

/// The chosen bits of a mask, packed into its lowest bits.
#[inline(always)]
pub(super) fn chosen_of<S: Simd>(simd: S, mask: u64, chosen: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512() {
        return x86_64::chosen_of(avx512, mask, chosen);
    }
    _ = simd;
    chosen_one_by_one(mask, chosen)
}

#[inline(always)]
fn chosen_one_by_one(mask: u64, mut chosen: u64) -> u64 {
    let (mut packed, mut to) = (0, 0);
    while chosen != 0 {
        packed |= (mask >> chosen.trailing_zeros() & 1) << to;
        chosen &= chosen.wrapping_sub(1);
        to += 1;
    }
    packed
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{_mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _pext_u64};

    // A product without carries adds up, without carries, the mask shifted by each distance.
    fearless_simd::kernel!(
        #[inline]
        pub(super) fn up_to_each(avx512: Avx512, mask: u64) -> u64 {
            _ = avx512;
            let (mask, ones) = (_mm_cvtsi64_si128(mask as i64), _mm_cvtsi64_si128(-1));
            _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(mask, ones)) as u64
        }
    );

    fearless_simd::kernel!(
        #[inline]
        pub(super) fn chosen_of(avx512: Avx512, mask: u64, chosen: u64) -> u64 {
            _ = avx512;
            _pext_u64(mask, chosen)
        }
    );
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_those_of_single_ones(mask: u64, chosen: u64) {
            let bit = |mask: u64, at: u32| mask >> at & 1;
            let odd = (0..64).fold(0, |all, at| all | u64::from((mask << (63 - at)).count_ones() & 1) << at);
            prop_assert_eq!(dispatch!(Level::new(), simd => up_to_each(simd, mask)), odd);
            prop_assert_eq!(up_to_each_by_steps(mask), odd);
            let bits = (0..64).filter(|at| bit(chosen, *at) == 1).zip(0..);
            let packed = bits.fold(0, |all, (from, to)| all | bit(mask, from) << to);
            prop_assert_eq!(dispatch!(Level::new(), simd => chosen_of(simd, mask, chosen)), packed);
            prop_assert_eq!(chosen_one_by_one(mask, chosen), packed);
        }
    }
}
