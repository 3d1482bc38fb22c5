//! Faults that a node plays on what it sends, when whoever supervises it says so.
//!
//! They make a cut or a slow link on loopback possible without any privilege, and let a scenario that ran in
//! the simulator run here over the network that it describes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use habemus::Address;
use habemus_scenario::Latency;

use habemus_machine::Random;

/// What is wrong with the ways to the others.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) cut: BTreeSet<Address>,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    pub(crate) slow: Duration,
    /// Latency to everybody, and to some in particular.
    pub(crate) latency: Option<Latency>,
    pub(crate) latency_to: BTreeMap<Address, Latency>,
    pub(crate) latency_limit: Option<Duration>,
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives after being held back so long.
    Arrives(Duration),
    /// It arrives twice.
    Twice(Duration, Duration),
    /// Its link is cut.
    Cut,
    /// It is lost by chance.
    Lost,
}

impl Faults {
    pub(crate) fn fate(&self, to: Address, random: &mut Random) -> Fate {
        if self.cut.contains(&to) {
            return Fate::Cut;
        }
        if random.happens(self.loss) {
            return Fate::Lost;
        }
        let first = self.hold(to, random);
        if random.happens(self.duplication) {
            Fate::Twice(first, self.hold(to, random))
        } else {
            Fate::Arrives(first)
        }
    }

    fn hold(&self, to: Address, random: &mut Random) -> Duration {
        let latency = self.latency_to.get(&to).or(self.latency.as_ref());
        let drawn = latency.map_or(Duration::ZERO, |latency| draw(latency, random));
        self.slow + self.latency_limit.map_or(drawn, |limit| drawn.min(limit))
    }
}

/// How long one message takes; at most an hour, however long the tail.
fn draw(latency: &Latency, random: &mut Random) -> Duration {
    const LONGEST: f64 = 3600.0;
    match latency {
        Latency::Constant(time) => *time,
        Latency::Uniform { min, max } => random.between(*min, *max),
        Latency::Exponential { mean } => random.exponential(*mean),
        Latency::LogNormal { median, sigma } => {
            // Box and Muller's transformation.
            let normal =
                (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
            Duration::from_secs_f64((median.as_secs_f64() * (sigma * normal).exp()).min(LONGEST))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_one_way_and_a_latency_is_within_its_bounds() {
        let mut random = Random::new();
        let (min, max) = (Duration::from_millis(2), Duration::from_millis(4));
        let mut faults = Faults { latency: Some(Latency::Uniform { min, max }), ..Faults::default() };
        faults.cut.insert(Address(1));
        assert_eq!(faults.fate(Address(1), &mut random), Fate::Cut);
        for _ in 0..100 {
            let Fate::Arrives(hold) = faults.fate(Address(2), &mut random) else {
                panic!("the link is sound")
            };
            assert!((min..=max).contains(&hold), "{hold:?}");
        }
        faults.latency_to.insert(Address(2), Latency::Constant(Duration::from_millis(9)));
        faults.slow = Duration::from_millis(1);
        assert_eq!(faults.fate(Address(2), &mut random), Fate::Arrives(Duration::from_millis(10)));
        faults.loss = 1.0;
        assert_eq!(faults.fate(Address(2), &mut random), Fate::Lost);
        (faults.loss, faults.duplication) = (0.0, 1.0);
        assert!(matches!(faults.fate(Address(2), &mut random), Fate::Twice(..)));
    }
}
