//! The texts on pages: numbers, times, and the font.

pub(crate) mod clock;
pub(crate) mod fonts;
pub(crate) mod number;
