//! The binomial distribution, in logarithms: how many of so many independent trials succeed.

use std::f64::consts::TAU;

use super::log_probability::LogProbability;

/// So many trials, each of which succeeds with the same probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    trials: u64,
    success: LogProbability,
    failure: LogProbability,
}

impl Binomial {
    /// The distribution of the number of successes.
    pub fn new(trials: u64, success: LogProbability) -> Self {
        Binomial { trials, success, failure: success.complement() }
    }

    /// The probability of at least so many successes.
    pub fn at_least(&self, successes: u64) -> LogProbability {
        if successes == 0 {
            return LogProbability::ONE;
        }
        if successes > self.trials {
            return LogProbability::ZERO;
        }
        if successes as f64 > self.mean() {
            self.upper(successes)
        } else {
            self.lower(successes - 1).complement()
        }
    }

    /// The probability of at most so many successes.
    pub fn at_most(&self, successes: u64) -> LogProbability {
        if successes >= self.trials {
            return LogProbability::ONE;
        }
        if (successes as f64) < self.mean() {
            self.lower(successes)
        } else {
            self.upper(successes + 1).complement()
        }
    }

    fn mean(&self) -> f64 {
        self.trials as f64 * self.success.to_f64()
    }

    /// At least so many, where that is the smaller side.
    fn upper(&self, successes: u64) -> LogProbability {
        if self.success == LogProbability::ZERO || self.failure == LogProbability::ZERO {
            return self.success;
        }
        let odds = (self.success.ln() - self.failure.ln()).exp();
        let growth = (successes..self.trials).map(|k| (self.trials - k) as f64 / (k + 1) as f64 * odds);
        sum(self.exactly(successes), growth)
    }

    /// At most so many: as many failures at least.
    fn lower(&self, successes: u64) -> LogProbability {
        let failures = Binomial { success: self.failure, failure: self.success, ..*self };
        failures.upper(self.trials - successes)
    }

    /// The logarithm of the probability of exactly so many; neither success nor failure is certain.
    fn exactly(&self, successes: u64) -> f64 {
        let failures = self.trials - successes;
        ln_choose(self.trials, successes)
            + self.success.power(successes).ln()
            + self.failure.power(failures).ln()
    }
}

/// The probabilities of success that fit `successes` in so many trials: outside them, so many or more, or so
/// few or fewer, would come about with a probability below `doubt`/2 (Clopper and Pearson, 1934: an exact
/// interval, good also for one success in a million).
pub fn confidence_interval(successes: u64, trials: u64, doubt: f64) -> (LogProbability, LogProbability) {
    let successes = successes.min(trials);
    let limit = (doubt / 2.0).ln();
    let low = match successes {
        0 => LogProbability::ZERO,
        _ => boundary(|p| Binomial::new(trials, p).at_least(successes).ln() < limit),
    };
    let high = match successes {
        _ if successes == trials => LogProbability::ONE,
        _ => boundary(|p| Binomial::new(trials, p).at_most(successes).ln() > limit),
    };
    (low, high)
}

/// Where a condition that holds for small probabilities ceases to hold.
fn boundary(holds: impl Fn(LogProbability) -> bool) -> LogProbability {
    // No interval of interest is narrower than a part in 10¹², and none begins below 10⁻¹⁰⁰.
    let (mut below, mut above) = (-230.0_f64, 0.0_f64);
    for _ in 0..56 {
        let middle = (below + above) / 2.0;
        if holds(LogProbability::from_ln(middle)) {
            below = middle;
        } else {
            above = middle;
        }
    }
    LogProbability::from_ln((below + above) / 2.0)
}

/// The sum of terms, of which the first is given by its logarithm and each other by how much it has grown;
/// growth lessens from term to term.
pub(super) fn sum(first: f64, growth: impl Iterator<Item = f64>) -> LogProbability {
    const HUGE: f64 = 1e200;
    let (mut scale, mut term, mut sum) = (first, 1.0, 1.0);
    for growth in growth {
        term *= growth;
        sum += term;
        if sum > HUGE {
            (term, sum) = (term / HUGE, sum / HUGE);
            scale += HUGE.ln();
        }
        // What is left is less than if growth lessened no more.
        if growth < 1.0 && term * growth / (1.0 - growth) < sum * 1e-17 {
            break;
        }
    }
    LogProbability::from_ln(scale + sum.ln())
}

/// The logarithm of the number of ways to choose `k` of `n`; −∞ if there are not so many.
pub(super) fn ln_choose(n: u64, k: u64) -> f64 {
    if k > n { f64::NEG_INFINITY } else { ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) }
}

/// ln(1 · 2 · … · n): exact products while they fit, then Stirling's series, good to 10⁻¹⁵ of the result.
fn ln_factorial(n: u64) -> f64 {
    if n <= 20 {
        return ((1..=n).product::<u64>() as f64).ln();
    }
    let n = n as f64;
    let inverse = 1.0 / (n * n);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / n;
    n * n.ln() - n + (TAU * n).ln() / 2.0 + series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(share: f64) -> LogProbability {
        LogProbability::new(share).expect("a share")
    }

    #[test]
    fn factorials_and_choices_are_right() {
        let mut product = 0.0;
        for n in 1..=200_u64 {
            product += (n as f64).ln();
            assert!((ln_factorial(n) - product).abs() < 1e-12 * product.max(1.0), "{n}!");
        }
        assert!((ln_choose(24, 16) - 735_471_f64.ln()).abs() < 1e-13);
        assert_eq!(ln_choose(3, 4), f64::NEG_INFINITY);
    }

    /// Adds up all the terms, without any of the shortcuts.
    fn slowly(trials: u64, p: f64, from: u64) -> f64 {
        let term = |k: u64| {
            let ways = ln_choose(trials, k).exp();
            ways * p.powi(k as i32) * (1.0 - p).powi((trials - k) as i32)
        };
        (from..=trials).map(term).sum()
    }

    #[test]
    fn tails_are_sums_of_their_terms() {
        for trials in [1, 2, 7, 30, 60] {
            for p in [0.001, 0.2, 0.5, 0.9, 0.999] {
                for k in 0..=trials {
                    let (fast, slow) =
                        (Binomial::new(trials, share(p)).at_least(k).to_f64(), slowly(trials, p, k));
                    assert!((fast - slow).abs() <= 1e-11 * slow, "{trials} {p} {k}: {fast} {slow}");
                    let rest = Binomial::new(trials, share(p)).at_most(k).to_f64();
                    let expected = 1.0 - slowly(trials, p, k + 1);
                    assert!((rest - expected).abs() <= 1e-11, "{trials} {p} {k}: {rest} {expected}");
                }
            }
        }
    }

    #[test]
    fn certainty_and_impossibility_are_no_special_case_to_the_user() {
        for (p, expected) in [(0.0, LogProbability::ZERO), (1.0, LogProbability::ONE)] {
            for k in 1..=5 {
                assert_eq!(Binomial::new(5, share(p)).at_least(k), expected);
            }
            assert_eq!(Binomial::new(5, share(p)).at_least(6), LogProbability::ZERO);
            assert_eq!(Binomial::new(5, share(p)).at_least(0), LogProbability::ONE);
        }
        assert_eq!(Binomial::new(5, share(1.0)).at_most(4), LogProbability::ZERO);
        assert_eq!(Binomial::new(5, share(0.0)).at_most(0), LogProbability::ONE);
    }

    #[test]
    fn large_numbers_stay_exact_and_their_two_sides_fit() {
        let binomial = Binomial::new(1_000_000, share(0.3));
        for k in [250_000, 299_000, 299_999, 300_000, 300_001, 301_000, 350_000] {
            let both = binomial.at_least(k).to_f64() + binomial.at_most(k - 1).to_f64();
            assert!((both - 1.0).abs() < 1e-9, "{k}: {both}");
        }
        assert!(binomial.at_least(350_000).log10() < -2000.0);
    }

    /// For no success in n trials the upper end is 1 − (α/2)^(1/n); textbooks have 10 of 100 at 95 %: 0.0490
    /// to 0.1762.
    #[test]
    fn intervals_are_those_of_clopper_and_pearson() {
        let (low, high) = confidence_interval(0, 1000, 0.05);
        assert_eq!(low, LogProbability::ZERO);
        assert!((high.to_f64() - (1.0 - 0.025_f64.powf(0.001))).abs() < 1e-9);
        let (low, high) = confidence_interval(10, 100, 0.05);
        assert!((low.to_f64() - 0.0490).abs() < 1e-4 && (high.to_f64() - 0.1762).abs() < 1e-4);
        let (low, high) = confidence_interval(100, 100, 0.05);
        assert!((low.to_f64() - 0.025_f64.powf(0.01)).abs() < 1e-9);
        assert_eq!(high, LogProbability::ONE);
    }
}
