//! A number that may be absent, in the space of one number.

use std::fmt;

/// A number that may be absent, in half the space of an `Option<f64>`: a run may have a million seconds, each with eight
/// of these. It is never NaN, which means absent.
///
/// ```
/// use perfpipe_analyze::MaybeF64;
///
/// assert_eq!(MaybeF64::from(Some(2.5)).get(), Some(2.5));
/// assert_eq!(MaybeF64::default().get(), None);
/// assert_eq!(std::mem::size_of::<MaybeF64>(), 8);
/// ```
#[derive(Clone, Copy)]
pub struct MaybeF64(f64);

impl MaybeF64 {
    /// Returns the number, `None` if it is absent.
    #[inline]
    pub fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl From<Option<f64>> for MaybeF64 {
    #[inline]
    fn from(value: Option<f64>) -> Self {
        Self(value.unwrap_or(f64::NAN))
    }
}

impl Default for MaybeF64 {
    fn default() -> Self {
        Self(f64::NAN)
    }
}

impl PartialEq for MaybeF64 {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for MaybeF64 {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(to)
    }
}
