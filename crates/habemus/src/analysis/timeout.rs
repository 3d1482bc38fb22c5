//! Which timeout? (S4)
//!
//! S4 asks three questions: what does it cost to wait longer (E), what does a mistake cost (C), how likely is
//! one (p)? And it answers: do not wait longer if C·p < E. With the delay D of an answer and a timeout T:
//!
//! K(T) = C · P(D > T) + E · T
//!
//! A late answer is a mistake and costs C, so that C·p with p = P(D > T) is what mistakes cost on average; E
//! is what each second costs by which the timeout is longer. Waiting a little longer pays as long as it saves
//! more mistakes than it costs, and the best timeout is where K is least.
//!
//! S4's rule by itself stops at the first T with C·p ≤ E·T. As mistakes become rarer with T and waiting
//! dearer, K is there at most twice what it is at best: the rule is a good rule of thumb.
//!
//! If it is known how often the other has really crashed, with probability q when one waits, then only then
//! the whole timeout is waited in vain, and only otherwise there is a mistake to make: C becomes (1−q)·C, and
//! E becomes q·E.

use super::delays::Delays;

/// What mistakes and waiting cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeoutCost {
    /// A late answer, taken for none.
    mistake: f64,
    /// A second of timeout.
    waiting: f64,
}

/// A timeout, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Priced {
    /// The timeout, in seconds.
    pub timeout: f64,
    /// How likely an answer comes later than that.
    pub late: f64,
    /// What mistakes cost on average.
    pub mistakes: f64,
    /// What the timeout costs.
    pub waiting: f64,
    /// Both.
    pub cost: f64,
}

impl TimeoutCost {
    /// A mistake costs `mistake`, and a second of timeout `waiting`; `None` if that is not above zero, or if
    /// one of them is no finite number or nothing beside the other: then no timeout would be best.
    pub fn new(mistake: f64, waiting: f64) -> Option<Self> {
        let sensible =
            mistake >= 0.0 && waiting > 0.0 && waiting.is_finite() && (mistake / waiting).is_finite();
        sensible.then_some(TimeoutCost { mistake, waiting })
    }

    /// The same where the other has crashed with probability `crashed` whenever one waits; `None` unless that
    /// is above 0 and at most 1.
    pub fn weighed(self, crashed: f64) -> Option<Self> {
        if !(crashed > 0.0 && crashed <= 1.0) {
            return None;
        }
        Self::new(self.mistake * (1.0 - crashed), self.waiting * crashed)
    }

    /// What a timeout costs.
    pub fn of(&self, delays: &Delays, timeout: f64) -> Priced {
        let late = delays.late(timeout);
        let (mistakes, waiting) = (self.mistake * late, self.waiting * timeout);
        Priced { timeout, late, mistakes, waiting, cost: mistakes + waiting }
    }

    /// The timeout that costs least; of several the shortest.
    pub fn best(&self, delays: &Delays) -> Priced {
        let mut candidates = delays.candidates(self.mistake, self.waiting);
        candidates.sort_by(f64::total_cmp);
        candidates.dedup();
        let priced = candidates.into_iter().map(|timeout| self.of(delays, timeout));
        priced
            .reduce(|best, next| if next.cost < best.cost { next } else { best })
            .unwrap_or_else(|| self.of(delays, 0.0))
    }

    /// S4's rule: the shortest timeout at which mistakes cost no more than waiting.
    pub fn rule_of_thumb(&self, delays: &Delays) -> Priced {
        let enough = |timeout: f64| self.mistake * delays.late(timeout) <= self.waiting * timeout;
        // By then waiting alone costs as much as a certain mistake.
        let (mut below, mut above) = (0.0, self.mistake / self.waiting);
        if enough(below) {
            return self.of(delays, below);
        }
        for _ in 0..200 {
            let middle = (below + above) / 2.0;
            if enough(middle) {
                above = middle;
            } else {
                below = middle;
            }
        }
        self.of(delays, above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn all() -> Vec<Delays> {
        let measured = Delays::measured([3, 1, 4, 1, 5, 9, 2, 6, 5, 35].map(|n| n * MS), 1);
        vec![
            Delays::constant(5 * MS),
            Delays::uniform(MS, 10 * MS),
            Delays::exponential(5 * MS),
            Delays::log_normal(5 * MS, 0.8),
            Delays::log_normal(5 * MS, 3.0),
            Delays::log_normal(5 * MS, 0.05),
            Delays::exponential(5 * MS).with_loss(0.05),
            measured.expect("some delays"),
        ]
    }

    const COSTS: [(f64, f64); 5] = [(1.0, 1.0), (100.0, 5.0), (1e6, 1.0), (0.001, 100.0), (0.0, 1.0)];

    #[test]
    fn no_timeout_is_cheaper_than_the_best() {
        for delays in all() {
            for (mistake, waiting) in COSTS {
                let cost = TimeoutCost::new(mistake, waiting).expect("sensible costs");
                let best = cost.best(&delays);
                let other = (0..20_000).map(|step| cost.of(&delays, f64::from(step) * 1e-5).cost);
                let min = other.fold(f64::INFINITY, f64::min);
                assert!(best.cost <= min * (1.0 + 1e-9), "{delays:?} {mistake} {waiting}: {best:?} {min}");
                assert_eq!(cost.of(&delays, best.timeout), best);
            }
        }
    }

    /// S4: "C · p < E?" It is never worse than twice the best.
    #[test]
    fn the_rule_of_thumb_costs_at_most_twice_the_least() {
        for delays in all() {
            for (mistake, waiting) in COSTS {
                let cost = TimeoutCost::new(mistake, waiting).expect("sensible costs");
                let (rule, best) = (cost.rule_of_thumb(&delays), cost.best(&delays));
                assert!(rule.mistakes <= rule.waiting * (1.0 + 1e-9), "{delays:?} {rule:?}");
                assert!(rule.cost <= 2.0 * best.cost * (1.0 + 1e-9), "{delays:?} {rule:?} {best:?}");
            }
        }
    }

    #[test]
    fn the_best_timeout_is_where_the_density_has_fallen_to_the_ratio_of_costs() {
        let cost = TimeoutCost::new(100.0, 5.0).expect("sensible costs");
        let best = cost.best(&Delays::exponential(5 * MS));
        // e^(−T/µ)/µ = E/C
        assert!((best.timeout - 0.005 * (100.0_f64 / (5.0 * 0.005)).ln()).abs() < 1e-12, "{best:?}");
        assert!((cost.best(&Delays::constant(7 * MS)).timeout - 0.007).abs() < 1e-15);
        let all_lost = Delays::constant(7 * MS).with_loss(1.0);
        assert_eq!(cost.best(&all_lost).timeout, 0.0);
    }

    #[test]
    fn if_waiting_is_dearer_than_mistakes_one_does_not_wait() {
        let cost = TimeoutCost::new(0.001, 100.0).expect("sensible costs");
        for delays in all() {
            assert_eq!(cost.best(&delays).timeout, 0.0, "{delays:?}");
        }
    }

    #[test]
    fn crashes_weigh_waiting_and_life_weighs_mistakes() {
        let cost = TimeoutCost::new(100.0, 5.0).expect("sensible costs");
        assert_eq!(cost.weighed(0.25), TimeoutCost::new(75.0, 1.25));
        assert_eq!([0.0, -0.1, 1.1, f64::NAN].map(|crashed| cost.weighed(crashed)), [None; 4]);
        for (mistake, waiting) in [(-1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(TimeoutCost::new(mistake, waiting), None);
        }
    }
}
