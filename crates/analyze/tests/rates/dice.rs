//! Numbers that come by chance, the same ones from the same seed.

/// A generator of chance, with the distributions that systems are made of.
#[derive(Debug, Clone)]
pub(crate) struct Dice(fastrand::Rng);

impl Dice {
    /// The generator of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number from 0 up to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.f64()
    }

    /// A number of an exponential distribution.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// A number of the standard normal distribution (Box and Muller, "A note on the generation of random normal
    /// deviates", 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A number of a lognormal distribution of this mean, whose logarithm deviates by `sigma`.
    pub(crate) fn lognormal(&mut self, mean: f64, sigma: f64) -> f64 {
        mean * (sigma * self.normal() - sigma * sigma / 2.0).exp()
    }
}
