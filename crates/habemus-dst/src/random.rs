//! Chance, from one seed.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A source of chance.
pub(crate) struct Random(Pcg32);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Random {
        Random(Pcg32::new(seed, stream))
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// A number from `min` to `max`.
    pub(crate) fn between(&mut self, min: u64, max: u64) -> u64 {
        min + self.below(max - min + 1)
    }

    /// Whether something happens that happens so many times in a thousand.
    pub(crate) fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }
}
