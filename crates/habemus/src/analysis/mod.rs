//! What theory says: costs to hold measurements against, and what to expect of chance.

pub mod binomial;
mod cost;
pub mod delays;
mod log_probability;
mod normal;
pub mod quorum;
pub mod timeout;
pub use cost::{
    Again, Arrange, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, Theory, TheoryAgain,
    held_again, shuffled_ids,
};
pub use log_probability::{LogProbability, NoProbability};

/// The n-th harmonic number, 1 + 1/2 + … + 1/n.
pub fn harmonic(n: u64) -> f64 {
    // Smallest terms first, so that they are not lost beside the large ones.
    (1..=n).rev().map(|k| 1.0 / k as f64).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn harmonic_numbers_are_sums_of_reciprocals() {
        assert!((super::harmonic(4) - 25.0 / 12.0).abs() < 1e-12);
    }
}
