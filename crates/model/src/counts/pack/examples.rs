//! Counts for properties, and the definition of pairs.

use proptest::prelude::*;

use crate::sample::varint::{read_signed, read_unsigned};

/// Counts of which none, few or many are wide in dense counts.
pub(super) fn small_counts() -> impl Strategy<Value = Vec<(i32, u64)>> {
    let difference = prop_oneof![8 => 1..200i64, 1 => Just(1i64 << 31)];
    let wide = (difference, prop_oneof![8 => 1..128u64, 1 => any::<u64>()]);
    let first = prop_oneof![-3..3i64, Just(i64::from(i32::MAX) - 200), Just(i64::from(i32::MIN))];
    let rarely = prop_oneof![Just(0.0), Just(0.02), Just(0.5)];
    let steps = rarely.prop_flat_map(move |rarely| {
        let step = (proptest::bool::weighted(rarely), (1..32i64, 1..8u64), wide.clone());
        proptest::collection::vec(
            step.prop_map(|(is_wide, small, wide)| if is_wide { wide } else { small }),
            0..600,
        )
    });
    (first, steps).prop_map(|(first, steps)| {
        let mut value = first;
        let values = steps.into_iter().map(|(difference, count)| {
            value += difference;
            Some((i32::try_from(value).ok()?, count))
        });
        values.map_while(|pair| pair).collect()
    })
}

/// Follows the definition of the packed form.
pub(super) fn one_by_one(from: &mut &[u8]) -> Option<Vec<(i32, u64)>> {
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
