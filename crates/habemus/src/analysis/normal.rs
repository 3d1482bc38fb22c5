//! The tail of the normal distribution, to all digits.

use std::f64::consts::{PI, SQRT_2};

/// The probability that a normally distributed quantity exceeds its mean by more than `x` standard
/// deviations.
pub(super) fn tail(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return 1.0 - tail(-x.min(0.0));
    }
    let density = (-x * x / 2.0).exp() / (SQRT_2 * PI.sqrt());
    if x < 3.0 { 0.5 - density * series(x) } else { density / continued_fraction(x) }
}

/// x + x³/3 + x⁵/15 + x⁷/105 + …: quick near the mean.
fn series(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    sum
}

/// x + 1/(x + 2/(x + 3/(x + …))): quick far from it.
fn continued_fraction(x: f64) -> f64 {
    (1..=200).rev().fold(x, |below, level| x + f64::from(level) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_agrees_with_the_tables() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_05),
            (-1.0, 0.841_344_746_068_542_9),
            (2.0, 0.022_750_131_948_179_21),
            (2.999_999_9, 0.001_349_898_475_000_2),
            (3.0, 0.001_349_898_031_630_094_6),
            (6.0, 9.865_876_450_376_98e-10),
            (10.0, 7.619_853_024_160_526e-24),
        ] {
            assert!((tail(x) - expected).abs() <= 1e-9 * expected, "{x}: {}", tail(x));
        }
        assert_eq!((tail(f64::INFINITY), tail(f64::NEG_INFINITY), tail(40.0)), (0.0, 1.0, 0.0));
    }
}
