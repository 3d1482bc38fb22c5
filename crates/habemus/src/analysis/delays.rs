//! How long answers take.

use std::time::Duration;

use super::normal;

/// The distribution of the delay of an answer. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Delays {
    shape: Distribution,
    /// How many answers never come.
    lost: f64,
}

/// What those that do come are like.
#[derive(Clone, Debug, PartialEq)]
enum Distribution {
    Constant(f64),
    Uniform {
        min: f64,
        max: f64,
    },
    Exponential {
        mean: f64,
    },
    LogNormal {
        median: f64,
        sigma: f64,
    },
    /// In order; at least one.
    Measured(Vec<f64>),
}

impl Delays {
    /// Always the same.
    pub fn constant(delay: Duration) -> Self {
        Distribution::Constant(delay.as_secs_f64()).into()
    }

    /// Anything between the two, equally likely.
    pub fn uniform(min: Duration, max: Duration) -> Self {
        let (min, max) = (min.as_secs_f64(), max.as_secs_f64());
        if min < max {
            Distribution::Uniform { min, max }.into()
        } else {
            Distribution::Constant(min.max(max)).into()
        }
    }

    /// Memoryless with this mean.
    pub fn exponential(mean: Duration) -> Self {
        if mean.is_zero() {
            return Self::constant(mean);
        }
        Distribution::Exponential { mean: mean.as_secs_f64() }.into()
    }

    /// With this median, and this standard deviation of the logarithm.
    pub fn log_normal(median: Duration, sigma: f64) -> Self {
        if median.is_zero() || sigma.is_nan() || sigma <= 0.0 {
            return Self::constant(median);
        }
        Distribution::LogNormal { median: median.as_secs_f64(), sigma }.into()
    }

    /// These have been seen, and so many answers never came; `None` if none has been seen.
    pub fn measured(delays: impl IntoIterator<Item = Duration>, lost: u64) -> Option<Self> {
        let mut delays: Vec<f64> = delays.into_iter().map(|delay| delay.as_secs_f64()).collect();
        delays.sort_by(f64::total_cmp);
        let lost = lost as f64 / (lost as f64 + delays.len() as f64);
        (!delays.is_empty()).then_some(Delays { shape: Distribution::Measured(delays), lost })
    }

    /// Of the answers that come, this share is lost on top; it is kept between 0 and 1.
    #[must_use]
    pub fn with_loss(mut self, share: f64) -> Self {
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.lost += (1.0 - self.lost) * share;
        self
    }

    /// The share of answers that never come.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// The probability that an answer has not come after `timeout` seconds: S4's p.
    pub fn late(&self, timeout: f64) -> f64 {
        self.lost + (1.0 - self.lost) * self.shape.late(timeout)
    }

    /// The time within which this share of the answers that are not lost has come.
    pub fn quantile(&self, share: f64) -> f64 {
        // 1 − 0.9 is a little less than 0.1, but one measured delay in ten is late all the same.
        let late = (1.0 - share) * (1.0 + 1e-12);
        let mut above = 1e-9;
        while self.shape.late(above) > late && above < 1e300 {
            above *= 2.0;
        }
        let mut below = 0.0;
        for _ in 0..100 {
            let middle = (below + above) / 2.0;
            if self.shape.late(middle) > late {
                below = middle;
            } else {
                above = middle;
            }
        }
        above
    }

    /// The timeouts among which the one with the least cost is, if a late answer costs `mistake` and a second
    /// of timeout `waiting`: no timeout at all, and wherever waiting longer ceases to pay.
    pub(super) fn candidates(&self, mistake: f64, waiting: f64) -> Vec<f64> {
        // What is lost is late in any case; only the rest can be saved.
        let mistake = mistake * (1.0 - self.lost);
        let mut candidates = vec![0.0];
        match &self.shape {
            Distribution::Constant(delay) => candidates.push(*delay),
            // The cost is a straight line from the least to the most.
            Distribution::Uniform { max, .. } => candidates.push(*max),
            // Where the density has fallen to E/C.
            Distribution::Exponential { mean } => candidates.push(mean * (mistake / (mean * waiting)).ln()),
            Distribution::LogNormal { median, sigma } => {
                let variance = sigma * sigma;
                let level = (median * sigma * std::f64::consts::TAU.sqrt() * waiting / mistake).ln();
                let root = (variance * variance - 2.0 * variance * level).sqrt();
                candidates.push(median * (root - variance).exp());
            }
            Distribution::Measured(delays) => candidates.extend(delays),
        }
        candidates.retain(|candidate| candidate.is_finite() && *candidate >= 0.0);
        candidates
    }
}

impl From<Distribution> for Delays {
    fn from(shape: Distribution) -> Self {
        Delays { shape, lost: 0.0 }
    }
}

impl Distribution {
    fn late(&self, timeout: f64) -> f64 {
        match self {
            Distribution::Constant(delay) => f64::from(timeout < *delay),
            Distribution::Uniform { min, max } => ((max - timeout) / (max - min)).clamp(0.0, 1.0),
            Distribution::Exponential { mean } => (-timeout.max(0.0) / mean).exp(),
            Distribution::LogNormal { median, sigma } => {
                normal::tail((timeout.max(0.0) / median).ln() / sigma)
            }
            Distribution::Measured(delays) => {
                let in_time = delays.partition_point(|delay| *delay <= timeout);
                (delays.len() - in_time) as f64 / delays.len() as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn late_is_what_has_not_come_yet() {
        assert_eq!(Delays::constant(5 * MS).late(0.004), 1.0);
        assert_eq!(Delays::constant(5 * MS).late(0.005), 0.0);
        assert!((Delays::uniform(MS, 11 * MS).late(0.006) - 0.5).abs() < 1e-12);
        assert!((Delays::exponential(5 * MS).late(0.005) - (-1.0_f64).exp()).abs() < 1e-15);
        assert!((Delays::log_normal(5 * MS, 0.8).late(0.005) - 0.5).abs() < 1e-15);
        let measured = Delays::measured([3 * MS, MS, 2 * MS], 1).expect("three delays");
        assert_eq!([0.0, 0.001, 0.002, 0.003].map(|timeout| measured.late(timeout)), [1.0, 0.75, 0.5, 0.25]);
        assert_eq!(measured.lost(), 0.25);
        assert_eq!(Delays::measured([], 3), None);
    }

    #[test]
    fn loss_comes_on_top() {
        let lossy = Delays::constant(MS).with_loss(0.1);
        assert!((lossy.late(1.0) - 0.1).abs() < 1e-15);
        assert_eq!(Delays::constant(MS).with_loss(f64::NAN).late(1.0), 0.0);
        assert_eq!(Delays::constant(MS).with_loss(7.0).late(1.0), 1.0);
    }

    #[test]
    fn quantiles_undo_lateness() {
        for delays in [
            Delays::uniform(MS, 10 * MS),
            Delays::exponential(5 * MS).with_loss(0.2),
            Delays::log_normal(5 * MS, 0.8),
            Delays::log_normal(5 * MS, 10.0),
        ] {
            for share in [0.5, 0.9, 0.999] {
                let late = delays.clone().shape.late(delays.quantile(share));
                assert!((late - (1.0 - share)).abs() < 1e-9, "{delays:?} {share}: {late}");
            }
        }
        let measured = Delays::measured((1..=100).map(|n| n * MS), 0).expect("some delays");
        assert!((measured.quantile(0.9) - 0.090).abs() < 1e-9);
    }

    #[test]
    fn degenerate_distributions_are_constant() {
        assert_eq!(Delays::log_normal(MS, 0.0), Delays::constant(MS));
        assert_eq!(Delays::log_normal(MS, f64::NAN), Delays::constant(MS));
        assert_eq!(Delays::exponential(Duration::ZERO), Delays::constant(Duration::ZERO));
        assert_eq!(Delays::uniform(MS, MS), Delays::constant(MS));
    }
}
