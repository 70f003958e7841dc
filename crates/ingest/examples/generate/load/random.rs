//! Pseudo-random numbers that are the same on every machine, and the distribution of response times.

/// SplitMix64, which is small and fast.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to below 1.
    #[inline]
    pub(super) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an integer from 0 to below `end`.
    #[inline]
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }
}

/// Points (fraction of requests, multiple of the usual time) of a curve like a log-normal one, with a long tail.
///
/// It is piecewise linear, since the last digits of other functions differ from machine to machine.
const CURVE: [(f64, f64); 11] = [
    (0.0, 0.25),
    (0.05, 0.5),
    (0.25, 0.74),
    (0.5, 0.95),
    (0.75, 1.18),
    (0.9, 1.45),
    (0.95, 1.7),
    (0.99, 2.6),
    (0.997, 4.0),
    (0.9995, 7.0),
    (1.0, 10.0),
];

const STEPS: usize = 4096;

/// A distribution of response times around a mean.
pub(super) struct Times {
    /// Multiples of the mean, all equally likely.
    multiples: Vec<f64>,
}

impl Times {
    pub(super) fn new() -> Self {
        let raw: Vec<f64> = (0..STEPS).map(|step| curve((step as f64 + 0.5) / STEPS as f64)).collect();
        let mean = raw.iter().sum::<f64>() / STEPS as f64;
        Self { multiples: raw.iter().map(|multiple| multiple / mean).collect() }
    }

    /// Returns a time in whole ms, whose average is `mean`.
    #[inline]
    pub(super) fn draw(&self, mean: f64, random: &mut Random) -> i64 {
        let bits = random.bits();
        let multiple = self.multiples[bits as usize % STEPS];
        let round = (bits >> 32) as f64 / (1u64 << 32) as f64;
        (multiple * mean + round) as i64
    }
}

fn curve(share: f64) -> f64 {
    CURVE.windows(2).find(|ends| share < ends[1].0).map_or(1.0, |ends| {
        let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
        y0 + (share - x0) / (x1 - x0) * (y1 - y0)
    })
}
