//! The tail of the normal distribution on the scale of φ, the same to the last bit on every machine.
//!
//! φ(x) = −log₁₀ Q(x), where Q(x) is the probability that a normally distributed quantity exceeds its mean by
//! more than x standard deviations. Q is approximated after P. O. Börjesson and C.-E. W. Sundberg, *Simple
//! approximations of the error function Q(x) for communications applications*, 1979:
//!
//! Q(x) ≈ e^(−x²/2) / (√2π · ((1−a)·x + a·√(x²+b))), with a = 0.339 and b = 5.51.
//!
//! For x ≥ 0 its relative error is below 0.28 %, so φ is off by less than 0.0012. Its logarithm needs no
//! exponential, and the one logarithm that is left is computed here from +, −, ×, ÷ and √, whose results
//! IEEE 754 fixes; the logarithms of mathematical libraries differ from machine to machine.

use std::f64::consts::{LN_2, LN_10, LOG10_E};

/// φ of a silence that exceeds the mean by so many standard deviations; before the mean it is taken for 0.
pub(super) fn phi(deviations: f64) -> f64 {
    const A: f64 = 0.339;
    const B: f64 = 5.51;
    const ROOT_OF_TAU: f64 = 2.506_628_274_631_000_7;
    if deviations < 0.0 {
        return 0.0;
    }
    let square = deviations * deviations;
    let divisor = (1.0 - A) * deviations + A * (square + B).sqrt();
    square * (LOG10_E / 2.0) + ln(ROOT_OF_TAU * divisor) / LN_10
}

/// By how many standard deviations a silence must exceed the mean for φ to reach `threshold`.
pub(super) fn deviations(threshold: f64) -> f64 {
    // φ(x) ≥ x²·log₁₀(e)/2, so the answer lies below the root of this; halving finds it.
    let (mut below, mut above) = (0.0, (2.0 * threshold / LOG10_E).sqrt());
    for _ in 0..64 {
        let middle = (below + above) / 2.0;
        if phi(middle) < threshold {
            below = middle;
        } else {
            above = middle;
        }
    }
    above
}

/// The natural logarithm of a number that is neither tiny nor huge: 2ᵉ·m with m around 1, and the series of
/// the inverse hyperbolic tangent for m.
fn ln(number: f64) -> f64 {
    let (mut mantissa, mut exponent) = (number, 0.0);
    while mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    while mantissa < std::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    // |ratio| ≤ 0.172: the term after the last one is below 10⁻¹⁶.
    let series = (0..10).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent * LN_2 + 2.0 * ratio * series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard deviations beyond which lie 10⁻¹, 10⁻², … of a normal distribution, from its tables.
    const TABLE: [f64; 8] = [
        1.281_551_565_5,
        2.326_347_874_0,
        3.090_232_306_2,
        3.719_016_485_5,
        4.264_890_793_9,
        4.753_424_308_8,
        5.199_337_582_2,
        5.612_001_244_2,
    ];

    #[test]
    fn phi_agrees_with_the_tables() {
        for (level, deviations) in (1..).zip(TABLE) {
            let error = phi(deviations) - f64::from(level);
            assert!(error.abs() < 0.0012, "φ({deviations}) is off by {error}");
        }
        assert_eq!(phi(-1.0), 0.0);
    }

    #[test]
    fn the_threshold_is_reached_where_the_tables_say() {
        for (level, expected) in (1..).zip(TABLE) {
            let found = deviations(f64::from(level));
            assert!((found - expected).abs() < 0.002, "{found} instead of {expected}");
            assert!(phi(found) >= f64::from(level));
        }
    }

    /// These bits are the same on every machine, or runs could not be repeated elsewhere.
    #[test]
    fn the_results_are_fixed_to_the_last_bit() {
        assert_eq!(phi(3.0).to_bits(), 0x4006_f2c3_0593_ce36);
        assert_eq!(deviations(8.0).to_bits(), 0x4016_72f4_30cf_6739);
    }

    #[test]
    fn the_logarithm_is_one() {
        for number in [0.01, 0.5, 0.9, 1.0, 1.5, 2.0, 10.0, 1234.5] {
            assert!((ln(number) - number.ln()).abs() < 1e-14, "ln {number}");
        }
    }
}
