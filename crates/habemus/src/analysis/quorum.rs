//! How likely coordinators that forget let two participants in (S4, *Quórum*).
//!
//! One participant is inside by the grants of m of n coordinators. Meanwhile each coordinator restarts with
//! probability P, independently, and has then forgotten its grant. A second participant gets in if it finds m
//! coordinators none of which remembers the first. Two quorums share at least 2m − n coordinators, so the
//! answer depends on whom the second one asks:
//!
//! - **everybody**, as S4's participants do: it gets in as soon as any 2m − n of the m that granted have
//!   forgotten, for with the n − m that never granted that makes m. This is S4's P_v = Σ C(m,k) Pᵏ
//!   (1−P)^(m−k) from k = 2m − n on. The notes sum up to n; but C(m,k) is 0 beyond m, so the sum ends there.
//!   It is the case under contention: the first got just m grants. Where nobody else had asked, all n had
//!   granted to it, and m of n must have forgotten.
//! - **one quorum that shares as few as can be**: all of those 2m − n must have forgotten, which has the
//!   probability P^(2m−n) exactly. This is the question that S4 puts before the formula ("que os k processos
//!   na interseção sejam reiniciados"), but not what the formula answers.
//! - **one quorum drawn at random**: it may share more than 2m − n; the sum over what it shares.
//!
//! Each is exact under its assumption, and each is at most the one before it.

use std::fmt;

use super::binomial::{self, Binomial};
use super::log_probability::LogProbability;

/// More coordinators than anybody has; the tables here would become long.
pub const MAX_COORDINATORS: u64 = 10_000;

/// A quorum of coordinators that may forget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForgetfulQuorum {
    coordinators: u64,
    quorum: u64,
    forgets: LogProbability,
}

/// Why there is no such quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoQuorum {
    /// There must be some coordinators, and not too many.
    Coordinators {
        /// How many there should be.
        asked: u64,
    },
    /// A quorum is a majority: otherwise two of them need not share anybody.
    NoMajority {
        /// How many coordinators there are.
        coordinators: u64,
        /// The quorum asked for.
        asked: u64,
    },
}

impl ForgetfulQuorum {
    /// `quorum` of `coordinators`, each of which forgets with probability `forgets` while a participant is
    /// inside.
    ///
    /// # Errors
    /// If the quorum is no majority, or there are too many coordinators.
    pub fn new(coordinators: u64, quorum: u64, forgets: LogProbability) -> Result<Self, NoQuorum> {
        if !majorities(coordinators)?.contains(&quorum) {
            return Err(NoQuorum::NoMajority { coordinators, asked: quorum });
        }
        Ok(ForgetfulQuorum { coordinators, quorum, forgets })
    }

    /// The smallest quorum for which a figure is at most `target`; `None` if none is large enough.
    ///
    /// # Errors
    /// If there are too many coordinators.
    pub fn smallest(
        coordinators: u64,
        forgets: LogProbability,
        target: LogProbability,
        figure: impl Fn(&Self) -> LogProbability,
    ) -> Result<Option<u64>, NoQuorum> {
        let (mut below, mut above) = majorities(coordinators)?.into_inner();
        let fits =
            |quorum: u64| figure(&ForgetfulQuorum { coordinators, quorum, forgets }).ln() <= target.ln();
        if !fits(above) {
            return Ok(None);
        }
        // A larger quorum makes every figure smaller.
        while below < above {
            let middle = below.midpoint(above);
            if fits(middle) {
                above = middle;
            } else {
                below = middle + 1;
            }
        }
        Ok(Some(above))
    }

    /// How many coordinators there are: n.
    pub fn coordinators(&self) -> u64 {
        self.coordinators
    }

    /// How many must grant: m.
    pub fn quorum(&self) -> u64 {
        self.quorum
    }

    /// The probability that a coordinator forgets: P.
    pub fn forgets(&self) -> LogProbability {
        self.forgets
    }

    /// How many coordinators two quorums share at least: 2m − n.
    pub fn shared(&self) -> u64 {
        2 * self.quorum - self.coordinators
    }

    /// The probability that a second participant that asks everybody can get in: S4's P_v.
    pub fn by_asking_all(&self) -> LogProbability {
        Binomial::new(self.quorum, self.forgets).at_least(self.shared())
    }

    /// The probability that a second participant that asks everybody can get in, if nobody else had asked
    /// when the first did: then all coordinators had granted to the first, and a quorum of them must have
    /// forgotten.
    pub fn uncontended(&self) -> LogProbability {
        Binomial::new(self.coordinators, self.forgets).at_least(self.quorum)
    }

    /// The probability that a second participant can get in that asks one quorum, of those that share as few
    /// as can be with the first.
    pub fn by_asking_worst(&self) -> LogProbability {
        self.forgets.power(self.shared())
    }

    /// The probability that a second participant can get in that asks one quorum drawn at random.
    pub fn by_asking_random(&self) -> LogProbability {
        let ForgetfulQuorum { coordinators: n, quorum: m, forgets } = *self;
        let outside = n - m;
        let min = self.shared();
        // Exactly k of the m, and all others of those outside; the fewest shared are all outside and the
        // rest.
        let ways = binomial::ln_choose(m, min) - binomial::ln_choose(n, m);
        let growth = (min..m).map(|k| {
            let (inside, left) =
                ((m - k) as f64 / (k + 1) as f64, (m - k) as f64 / (outside + k + 1 - m) as f64);
            inside * left * forgets.to_f64()
        });
        if forgets == LogProbability::ZERO {
            return LogProbability::ZERO;
        }
        binomial::sum(ways + forgets.power(min).ln(), growth)
    }
}

/// Every quorum that is a majority.
///
/// # Errors
/// If there are no coordinators, or too many.
pub fn majorities(coordinators: u64) -> Result<std::ops::RangeInclusive<u64>, NoQuorum> {
    if coordinators == 0 || coordinators > MAX_COORDINATORS {
        return Err(NoQuorum::Coordinators { asked: coordinators });
    }
    Ok(coordinators / 2 + 1..=coordinators)
}

impl fmt::Display for NoQuorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoQuorum::Coordinators { asked } => {
                write!(f, "there must be from 1 to {MAX_COORDINATORS} coordinators, not {asked}")
            }
            NoQuorum::NoMajority { coordinators, asked } => {
                let min = coordinators / 2 + 1;
                write!(
                    f,
                    "a quorum of {coordinators} coordinators has from {min} to {coordinators}, not {asked}"
                )
            }
        }
    }
}

impl std::error::Error for NoQuorum {}

#[cfg(test)]
mod tests {
    use super::*;

    fn quorum(coordinators: u64, quorum: u64, forgets: f64) -> ForgetfulQuorum {
        let forgets = LogProbability::new(forgets).expect("a probability");
        ForgetfulQuorum::new(coordinators, quorum, forgets).expect("a majority")
    }

    /// S4: "P=0.0001, n = 32, m = 0.75n: P_v < 10⁻⁴⁰".
    #[test]
    fn the_example_of_the_notes_is_below_ten_to_the_minus_forty() {
        let example = quorum(32, 24, 1e-4);
        assert_eq!(example.shared(), 16);
        // C(24,16) = 735,471, and the further terms hardly count.
        assert_eq!(example.by_asking_all().to_string(), "7.35e-59");
        assert_eq!(example.by_asking_worst().to_string(), "1e-64");
        // C(24,16) of the C(32,24) = 10,518,300 quorums share exactly 16.
        assert_eq!(example.by_asking_random().to_string(), "6.99e-66");
    }

    /// S4's run: n = 7, m = 4, and c4 alone is shared.
    #[test]
    fn in_the_run_of_the_notes_one_restart_is_enough() {
        let run = quorum(7, 4, 0.01);
        assert!((run.by_asking_worst().to_f64() - 0.01).abs() < 1e-15);
        assert!((run.by_asking_all().to_f64() - (1.0 - 0.99_f64.powi(4))).abs() < 1e-15);
    }

    #[test]
    fn without_contention_a_quorum_of_all_must_have_forgotten() {
        let run = quorum(3, 2, 0.1);
        // Two of three, or all.
        assert!((run.uncontended().to_f64() - (3.0 * 0.01 * 0.9 + 0.001)).abs() < 1e-12);
        assert!(run.uncontended().ln() < run.by_asking_all().ln());
    }

    /// Goes through every set that may forget and every quorum that may be asked.
    #[test]
    fn the_formulas_count_what_there_is_to_count() {
        for n in 1..=8_u32 {
            for m in u64::from(n) / 2 + 1..=u64::from(n) {
                let p = 0.3_f64;
                let first = (1_u32 << m) - 1;
                let worst = first << (u64::from(n) - m);
                let quorums: Vec<u32> =
                    (0..1 << n).filter(|set: &u32| u64::from(set.count_ones()) == m).collect();
                let (mut all, mut given, mut random) = (0.0, 0.0, 0.0);
                for forgotten in 0..1_u32 << n {
                    let some = forgotten.count_ones() as i32;
                    let weight = p.powi(some) * (1.0 - p).powi(n as i32 - some);
                    let lets_in = |set: &&u32| **set & first & !forgotten == 0;
                    let willing = quorums.iter().filter(lets_in).count();
                    all += if willing > 0 { weight } else { 0.0 };
                    given += if lets_in(&&worst) { weight } else { 0.0 };
                    random += weight * willing as f64 / quorums.len() as f64;
                }
                let figures = quorum(n.into(), m, p);
                for (formula, counted) in [
                    (figures.by_asking_all(), all),
                    (figures.by_asking_worst(), given),
                    (figures.by_asking_random(), random),
                ] {
                    assert!((formula.to_f64() - counted).abs() < 1e-12, "{n} {m}: {formula} {counted}");
                }
            }
        }
    }

    #[test]
    fn a_larger_quorum_is_safer_and_asking_more_is_more_dangerous() {
        for forgets in [0.0, 1e-9, 0.1, 0.5, 0.99, 1.0] {
            let mut before = [LogProbability::ONE; 3];
            for m in majorities(40).expect("some coordinators") {
                let one = quorum(40, m, forgets);
                let figures = [one.by_asking_all(), one.by_asking_worst(), one.by_asking_random()];
                assert!(figures[0].ln() >= figures[1].ln() - 1e-12, "{m} {forgets}");
                assert!(figures[1].ln() >= figures[2].ln() - 1e-12, "{m} {forgets}");
                assert!(figures.iter().zip(before).all(|(now, before)| now.ln() <= before.ln() + 1e-9));
                before = figures;
            }
        }
    }

    #[test]
    fn the_smallest_quorum_for_a_target_is_found() {
        let forgets = LogProbability::new(1e-4).expect("a probability");
        let target: LogProbability = "1e-12".parse().expect("a probability");
        let figure = ForgetfulQuorum::by_asking_all;
        let found = ForgetfulQuorum::smallest(32, forgets, target, figure).expect("few enough");
        let found = found.expect("some quorum will do");
        let at = |m| quorum(32, m, 1e-4).by_asking_all().ln();
        assert!(at(found) <= target.ln() && at(found - 1) > target.ln(), "{found}");
        let impossible: LogProbability = "1e-200".parse().expect("a probability");
        assert_eq!(ForgetfulQuorum::smallest(32, forgets, impossible, figure), Ok(None));
    }

    #[test]
    fn ten_thousand_coordinators_are_not_too_many() {
        let many = quorum(10_000, 7_500, 1e-4);
        // Of 7,500 that granted at least 5,000 have forgotten.
        assert!(many.by_asking_all().log10() < -17_000.0);
        assert!((many.by_asking_worst().log10() + 20_000.0).abs() < 1e-6);
        assert!(many.by_asking_random().ln() < many.by_asking_worst().ln());
        let near = quorum(10_000, 5_001, 0.9);
        assert!((near.by_asking_all().to_f64() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_quorum_is_refused() {
        let p = LogProbability::ONE;
        for (n, m) in [(0, 0), (0, 1), (10_001, 6_000), (u64::MAX, u64::MAX)] {
            assert_eq!(ForgetfulQuorum::new(n, m, p), Err(NoQuorum::Coordinators { asked: n }));
        }
        for (n, m) in [(4, 2), (4, 5), (1, 0), (7, u64::MAX)] {
            assert_eq!(
                ForgetfulQuorum::new(n, m, p),
                Err(NoQuorum::NoMajority { coordinators: n, asked: m })
            );
        }
    }
}
