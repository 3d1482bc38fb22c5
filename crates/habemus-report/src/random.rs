//! Reproducible randomness: one seed, a stream for each use, the same draws on every machine.

use habemus::Chooser;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// What randomness is used for. Each use has a stream of its own, so that one more draw here changes nothing
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Latency, loss and duplication.
    Network,
    /// The choices of the algorithms.
    Choices,
    /// The jitter of timers, and how long clients hold and think.
    Jitter,
    /// Faults drawn at random.
    Faults,
    /// Arrangements and topologies.
    Layout,
    /// Trials to hold a formula against.
    Sampling,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of `seed` for one use.
    pub fn new(seed: u64, purpose: Use) -> Self {
        // `seed_from_u64` mixes the bits of neighbouring seeds.
        Stream(Pcg64Mcg::seed_from_u64(seed.wrapping_mul(8).wrapping_add(purpose as u64)))
    }

    /// Sixty-four random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, or 0 if that is 0. The bias of at most `bound`/2⁶⁴ is below notice.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `min` to `max`, both included.
    #[inline]
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        match max.saturating_sub(min) {
            0 => min,
            u64::MAX => self.bits(),
            width => min + self.below(width + 1),
        }
    }

    /// A number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// True with this probability; draws nothing if there is nothing to decide.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// An exponentially distributed number. `libm` gives the same bits everywhere; the system's `ln` may not.
    #[inline(never)]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// A log-normally distributed number: `sigma` is the deviation of its logarithm.
    #[inline(never)]
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * libm::exp(sigma * self.normal())
    }

    /// A normally distributed number with mean 0 and deviation 1 (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

impl Chooser for Stream {
    fn choose(&mut self, bound: u32) -> u32 {
        self.below(u64::from(bound)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_are_fixed_for_ever() {
        let mut stream = Stream::new(1, Use::Network);
        let drawn = [stream.below(1000), stream.below(1000), stream.below(1000)];
        let mut again = Stream::new(1, Use::Network);
        assert_eq!(drawn, [again.below(1000), again.below(1000), again.below(1000)]);
        assert_ne!(Stream::new(1, Use::Network).bits(), Stream::new(1, Use::Choices).bits());
        assert_ne!(Stream::new(1, Use::Network).bits(), Stream::new(2, Use::Network).bits());
    }

    #[test]
    fn means_come_out() {
        let mut stream = Stream::new(7, Use::Jitter);
        let count = 100_000;
        let exponential = (0..count).map(|_| stream.exponential(5.0)).sum::<f64>() / f64::from(count);
        assert!((exponential - 5.0).abs() < 0.1, "{exponential}");
        let normal = (0..count).map(|_| stream.normal()).sum::<f64>() / f64::from(count);
        assert!(normal.abs() < 0.02, "{normal}");
        let uniform = (0..count).map(|_| stream.between(10, 20)).sum::<u64>() as f64 / f64::from(count);
        assert!((uniform - 15.0).abs() < 0.1, "{uniform}");
    }
}
