//! Randomness of a real run: nobody needs to repeat it, so the system seeds it.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use habemus::{Chooser, Delay};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Debug)]
pub struct Random(Pcg64Mcg);

impl Default for Random {
    fn default() -> Self {
        Random::new()
    }
}

impl Random {
    /// A stream like no other: the standard library draws the keys of its hashers from the system.
    pub fn new() -> Self {
        Random(Pcg64Mcg::seed_from_u64(RandomState::new().hash_one(std::process::id())))
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, or 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A span from `min` to `max`, both included.
    pub fn between(&mut self, min: Duration, max: Duration) -> Duration {
        let width = max.saturating_sub(min).as_nanos().try_into().unwrap_or(u64::MAX - 1);
        min + Duration::from_nanos(self.below(width + 1))
    }

    /// A span for a timer.
    pub fn delay(&mut self, delay: Delay) -> Duration {
        self.between(delay.min, delay.max)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A memoryless span with this mean; at most an hour, however long the tail.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64((-mean.as_secs_f64() * (1.0 - self.unit()).ln()).min(3600.0))
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }
}

/// On real nodes chance chooses.
impl Chooser for Random {
    fn choose(&mut self, bound: u32) -> u32 {
        self.below(u64::from(bound)) as u32
    }
}
